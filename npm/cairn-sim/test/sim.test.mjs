// SPDX-License-Identifier: MIT
// The package as a host uses it: the same bits as a native build, states, queries, events, joints,
// and what it refuses. CAIRN_PACKAGE: its folder. CAIRN_SCENES: the folder of scenes. CAIRN_WORLDS:
// what tests/npm/worlds.c wrote in a native build; without it those comparisons are skipped.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const folder = process.env.CAIRN_PACKAGE;
const index = await import(pathToFileURL(`${folder}/dist/index.js`));
const { Bodies, BodyKind, CairnError, COMMANDS_PER_TICK_MAX, CommandKind, ContactEventKind, JointKind, load, SHAPE_SENSOR, ShapeKind, Status } = index;
const simd = existsSync(`${folder}/cairn_sim_simd.wasm`);
const cairn = await load({ simd });
const scenes = new Map([process.env.CAIRN_SCENES, `${process.env.CAIRN_SCENES}/../tests/npm`].flatMap((folder) =>
    readdirSync(folder).filter((file) => file.endsWith('.json')).map((file) => [file.replace('.json', ''), `${folder}/${file}`])));
const scene = (name) => readFileSync(scenes.get(name), 'utf8');
const native = process.env.CAIRN_WORLDS ?? '';
const hasNative = existsSync(`${native}/scenes.txt`);

// The inputs of tests/npm/worlds.c.
function commandsAt(tick) {
    if (tick < 10) {
        return [];
    }
    return tick === 10 ? [{ kind: CommandKind.JOIN }]
        : [{ kind: CommandKind.INPUT, buttons: tick % 30 === 0 ? 1 : 0, move: [1, 0, -0.5] }];
}

function stepTo(world, end, played = false) {
    while (world.tick < BigInt(end)) {
        world.step(played ? commandsAt(Number(world.tick)) : []);
    }
}

// A plane and a column of `count` boxes, each half a metre above the one below.
function column(count) {
    const world = cairn.createWorld();
    const ground = world.createBody({ kind: BodyKind.STATIC });
    world.createShape(ground, { kind: ShapeKind.HALF_SPACE });
    const boxes = Array.from({ length: count }, (_, i) => world.createBody({ position: [0, 1 + 1.5 * i, 0] }));
    boxes.forEach((box) => world.createShape(box));
    return { world, ground, boxes };
}

test('scenes have the hashes of a native build', { skip: !hasNative }, () => {
    const lines = readFileSync(`${native}/scenes.txt`, 'utf8').trim().split('\n').map((line) => line.split(' '));
    const names = [...new Set(lines.map((line) => line[0]))];
    assert.deepEqual(names.sort(), [...scenes.keys()].sort());
    for (const name of names) {
        const world = cairn.createWorldFromScene(scene(name));
        const played = (index.parseScene(scene(name)).rules ?? '') !== '';
        for (const [, tick, hash] of lines.filter((line) => line[0] === name)) {
            stepTo(world, Number(tick), played);
            assert.equal(world.hash(), hash, `${name} at tick ${tick}`);
        }
        world.destroy();
    }
});

test('a world of a native build goes on here with the same bits', { skip: !hasNative }, () => {
    for (const [name, tick, hash] of readFileSync(`${native}/scenes.txt`, 'utf8').trim().split('\n').map((l) => l.split(' '))) {
        const bytes = readFileSync(`${native}/${name}.encoding`);
        const world = cairn.createWorldFromEncoding(bytes);
        assert.deepEqual(Buffer.from(world.encode()), bytes);
        if (BigInt(tick) >= world.tick) {
            stepTo(world, Number(tick), (index.parseScene(scene(name)).rules ?? '') !== '');
            assert.equal(world.hash(), hash, `${name} at tick ${tick}`);
        }
        world.destroy();
    }
});

test('a restored world repeats its ticks', () => {
    const { world, boxes } = column(5);
    stepTo(world, 20);
    const save = world.save();
    const hash = world.hash();
    world.applyImpulseAtCentre(boxes[2], [300, 0, 0]);
    stepTo(world, 60);
    const later = world.hash();
    world.restore(save);
    assert.equal(world.hash(), hash);
    world.applyImpulseAtCentre(boxes[2], [300, 0, 0]);
    stepTo(world, 60);
    assert.equal(world.hash(), later);
    world.save(save);
    assert.equal(world.save(save), save);
    save.free();
    const fork = world.fork();
    assert.deepEqual(world.differences(fork), []);
    fork.setUser(boxes[0], 7);
    const [difference] = world.differences(fork);
    assert.equal(`${difference.section} ${difference.field}`, 'bodies user');
    world.copyFrom(fork);
    assert.equal(world.hash(), fork.hash());
    assert.deepEqual(Object.keys(world.hashes().sections).length, index.Section.COUNT ?? 9);
    fork.destroy();
    world.destroy();
});

test('the states of bodies are views of the memory of the module', () => {
    const { world, boxes } = column(3);
    stepTo(world, 10);
    const bodies = world.bodies();
    assert.equal(bodies.count, 4);
    assert.equal(bodies.floats.buffer, cairn.functions.memory.buffer);
    assert.deepEqual(boxes.map((_, i) => bodies.id(i + 1)), boxes);
    const { position, rotation } = world.bodyState(boxes[1]);
    const again = world.bodies();
    assert.deepEqual([...again.position(2)], [position.x, position.y, position.z]);
    assert.deepEqual([...again.rotation(2)], [rotation.x, rotation.y, rotation.z, rotation.w]);
    assert.equal(again.words[2 * Bodies.STRIDE + Bodies.AWAKE], 1);
    assert.ok(again.linearVelocity(2)[1] < 0);
    world.destroy();
});

test('rays, casts, overlaps and nearest points', () => {
    const { world, ground, boxes } = column(2);
    const hit = world.rayClosest([0, 10, 0], [0, -20, 0]);
    assert.equal(hit.body, boxes[1]);
    assert.ok(Math.abs(hit.point.y - 3) < 1e-5 && hit.normal.y === 1);
    assert.deepEqual(world.rayAll([0, 10, 0], [0, -20, 0]).map((h) => h.body), [boxes[1], boxes[0], ground]);
    assert.equal(world.rayClosest([5, 10, 0], [0, 1, 0]), null);
    assert.equal(world.rayAny([0, 10, 0], [0, -2, 0]), false);
    assert.equal(world.rayClosest([0, 10, 0], [0, -20, 0], { ignored: boxes[1] }).body, boxes[0]);
    assert.equal(world.shapeCast({ kind: ShapeKind.SPHERE, radius: 0.25 }, { position: [0, 10, 0] }, [0, -20, 0]).body, boxes[1]);
    assert.equal(world.overlapShape({}, { position: [0, 1.2, 0] }).length, 1);
    assert.ok(Math.abs(world.closestToPoint([0, 4, 0], 10).distance - 1) < 1e-5);
    assert.equal(world.closestToPoint([0, 40, 0], 10), null);
    world.destroy();
});

test('events of contacts, bodies, sensors and joints', () => {
    const { world, ground, boxes: [box] } = column(1);
    const sensor = world.createShape(ground, { kind: ShapeKind.BOX, flags: SHAPE_SENSOR, pose: { position: [0, 0.6, 0] } });
    const kinds = new Set();
    for (let i = 0; i < 60; ++i) {
        world.step();
        world.contactEvents().forEach((event) => kinds.add(event.kind));
    }
    assert.ok(kinds.has(ContactEventKind.CONTACT_BEGIN ?? 1) && kinds.has(ContactEventKind.SENSOR_BEGIN ?? 4));
    assert.equal(world.sensorOverlaps(sensor).length, 1);
    assert.equal(world.contacts(box)[0].body_b, box);
    const other = world.createBody({ position: [3, 1, 0] });
    world.createShape(other);
    const joint = world.createJoint({ kind: JointKind.DISTANCE, body_a: box, body_b: other, length: 3,
        breakable: true, break_force: 10, break_torque: 10 });
    assert.equal(world.jointDef(joint).length, 3);
    assert.ok(Math.abs(world.jointTravel(joint).position - 3) < 0.1);
    world.setVelocity(other, [50, 0, 0], [0, 0, 0]);
    world.step();
    assert.deepEqual(world.jointEvents().map((event) => event.joint), [joint]);
    assert.deepEqual(world.joints(), []);
    world.destroy();
});

test('joints with motors and springs', () => {
    const world = cairn.createWorld({ gravity: [0, 0, 0] });
    const base = world.createBody({ kind: BodyKind.STATIC });
    const wheel = world.createBody();
    world.createShape(wheel, { kind: ShapeKind.SPHERE });
    const hinge = world.createJoint({ kind: JointKind.HINGE, body_a: base, body_b: wheel });
    world.setMotor(hinge, 2, 1e5);
    stepTo(world, 30);
    assert.ok(Math.abs(world.jointTravel(hinge).velocity - 2) < 1e-3);
    assert.ok(Math.abs(world.jointReaction(hinge).force.x) < 1);
    world.setJoint(hinge, { limited: true, lower: -0.5, upper: 1 });
    assert.equal(world.jointDef(hinge).motor_speed, 2);
    stepTo(world, 120);
    assert.ok(world.jointTravel(hinge).position < 1.05);
    world.destroy();
});

test('steps of another length', () => {
    const world = cairn.createWorld();
    const ball = world.createBody();
    world.createShape(ball, { kind: ShapeKind.SPHERE });
    assert.equal(world.stepRate, 60);
    world.stepRate = 600;
    stepTo(world, 60);
    assert.ok(Math.abs(world.bodyState(ball).linear_velocity.y + 0.981) < 1e-4);
    assert.throws(() => { world.stepRate = 9; });
    assert.equal(world.stepRate, 600);
    world.destroy();
});

test('the forces that hold a column, without a step', () => {
    const { world, boxes } = column(2);
    world.setPose(boxes[0], { position: [0, 0.5, 0] });
    world.setPose(boxes[1], { position: [0, 1.5, 0] });
    stepTo(world, 60);
    const hash = world.hash();
    const { solved, bodies, residual, of: rows } = world.forces();
    assert.deepEqual([solved, bodies, rows.map((row) => row.body)], [1, 2, boxes]);
    assert.ok(residual < 1e-6);
    for (const { body, force, linear } of rows) {
        const { mass } = world.bodyMass(body); // each is carried by what it touches, and stays
        assert.ok(Math.abs(force[1] - 9.81 * mass) < 1e-3 * mass && Math.abs(force[0]) + Math.abs(force[2]) < 1e-3 * mass, String(force));
        assert.ok(Math.max(...linear.map(Math.abs)) < 1e-3);
    }
    assert.equal(world.hash(), hash);
    world.destroyBody(boxes[0]);
    const [falls] = world.forces().of;
    assert.ok(Math.abs(falls.linear[1] + 9.81) < 1e-3 && Math.abs(falls.force[1]) < 1e-6);
    world.destroyBody(boxes[1]);
    assert.deepEqual(world.forces().of, []);
    world.destroy();
});

test('a body breaks into pieces that have its mass and momentum', () => {
    const broken = (def) => {
        const world = cairn.createWorld();
        const wall = world.createBody({ position: [1, 20, -2], linear_velocity: [3, -1, 2], angular_velocity: [0.5, 2, -1], user: 7 });
        world.createShape(wall, { half_extents: [2, 1.5, 0.25] });
        const { mass } = world.bodyMass(wall);
        return { world, wall, mass, pieces: world.fracture(wall, { point: [1, 20, -2], ...def }) };
    };
    const { world, wall, mass, pieces } = broken({ pieces: 20, seed: 5n });
    assert.ok(pieces.length >= 2 && pieces.length <= 20);
    assert.ok(!world.bodyExists(wall) && world.counts.bodies === pieces.length && world.counts.hulls === pieces.length);
    const sum = { mass: 0, place: [0, 0, 0], momentum: [0, 0, 0] };
    for (const piece of pieces) {
        const state = world.bodyState(piece), own = world.bodyMass(piece).mass;
        const { position: p, linear_velocity: v, angular_velocity: w } = state;
        assert.deepEqual([w.x, w.y, w.z, state.user], [0.5, 2, -1, 7]);
        const r = [p.x - 1, p.y - 20, p.z + 2]; // v + w x r
        const moves = [3 + 2 * r[2] + r[1], -1 - r[0] - 0.5 * r[2], 2 + 0.5 * r[1] - 2 * r[0]];
        assert.ok(Math.hypot(v.x - moves[0], v.y - moves[1], v.z - moves[2]) < 1e-4);
        sum.mass += own;
        [p.x, p.y, p.z].forEach((x, i) => { sum.place[i] += own * x / mass; });
        [v.x, v.y, v.z].forEach((x, i) => { sum.momentum[i] += own * x / mass; });
    }
    assert.ok(Math.abs(sum.mass / mass - 1) < 1e-5);
    assert.ok(Math.hypot(sum.place[0] - 1, sum.place[1] - 20, sum.place[2] + 2) < 1e-4);
    assert.ok(Math.hypot(sum.momentum[0] - 3, sum.momentum[1] + 1, sum.momentum[2] - 2) < 1e-4);
    world.destroyBody(pieces[0]);
    assert.equal(world.counts.hulls, pieces.length - 1);
    world.destroy();
    const hashes = [{}, { pieces: 12, crowding: 0.5, seed: 0 }, { seed: 1 }].map((def) => {
        const made = broken(def);
        stepTo(made.world, 10);
        const hash = made.world.hash();
        made.world.destroy();
        return hash;
    });
    assert.ok(hashes[0] === hashes[1] && hashes[0] !== hashes[2]);
});

test('what does not break is refused by name', () => {
    const { world, ground, boxes: [box] } = column(1);
    const ball = world.createBody({ position: [0, 9, 0] });
    world.createShape(ball, { kind: ShapeKind.SPHERE });
    const hash = world.hash();
    assert.throws(() => world.fracture(ground, {}), /^CairnError: fracture: the body is not dynamic/);
    assert.throws(() => world.fracture(ball, { point: [0, 9, 0] }), /fracture: the shape is neither box, hull, cylinder nor cone/);
    assert.throws(() => world.fracture(box, { point: [0, 1, 0], pieces: 1 }), /fewer than two pieces/);
    assert.throws(() => world.fracture(box, { point: [0, 99, 0] }), /the point is too far from the body/);
    assert.throws(() => world.fracture(box, { piont: [0, 1, 0] }), /fracture_def: has no field 'piont'/);
    assert.throws(() => world.fracture(99999, {}), (error) => error.status === Status.NOT_FOUND);
    assert.equal(world.hash(), hash);
    world.destroy();
    const small = cairn.createWorld({ body_capacity: 8 });
    const only = small.createBody();
    small.createShape(only);
    assert.throws(() => small.fracture(only, { pieces: 8, thickness_min: 0 }), (error) => error.status === Status.CAPACITY);
    assert.equal(small.fracture(only, { pieces: 7, thickness_min: 0 }).length, 7);
    small.destroy();
});

test('hulls, meshes and height fields', () => {
    const world = cairn.createWorld();
    const cube = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].flatMap((z) => [x / 2, y / 2, z / 2])));
    const hull = world.createHull(cube);
    const field = world.createHeightField(new Float32Array(16), 4, 2, 2);
    const mesh = world.createMesh([0, 0, 0, 0, 0, 1, 1, 0, 0], [0, 1, 2]);
    const ground = world.createBody({ kind: BodyKind.STATIC, position: [-3, 0, -3] });
    world.createShape(ground, { kind: ShapeKind.HEIGHT_FIELD, mesh: field });
    world.createShape(ground, { kind: ShapeKind.MESH, mesh });
    const body = world.createBody({ position: [0, 2, 0] });
    world.createShape(body, { kind: ShapeKind.HULL, hull });
    stepTo(world, 120);
    assert.ok(Math.abs(world.bodyState(body).position.y - 0.5) < 0.01);
    assert.throws(() => world.createHull([0, 0, 0, 1, 0, 0]), /createHull: .*(few|points)/);
    assert.throws(() => world.createMesh([0, 0, 0], [0, 1, 2]), CairnError);
    world.destroy();
});

test('the memory may grow while worlds exist', () => {
    const { world } = column(3);
    const before = world.hash();
    const large = cairn.createWorld({ body_capacity: 50000, shape_capacity: 50000, contact_capacity: 200000 });
    assert.equal(world.hash(), before);
    assert.equal(world.bodies().count, 4);
    large.destroy();
    world.destroy();
});

test('what is wrong is refused by name, and the world stays as it was', () => {
    const { world, boxes } = column(1);
    const hash = world.hash();
    const status = (call) => { try { call(); return 'none'; } catch (error) { return error.status; } };
    assert.equal(status(() => world.createBody({ position: [NaN, 0, 0] })), Status.NON_FINITE);
    assert.equal(status(() => world.destroyBody(99999)), Status.NOT_FOUND);
    assert.throws(() => world.createBody({ posiiton: [0, 0, 0] }), /body_def: has no field 'posiiton'/);
    assert.throws(() => world.createBody({ kind: -1 }), RangeError);
    assert.throws(() => world.createBody({ position: [0, 0] }), /has 3 numbers, not 2/);
    assert.throws(() => world.step([{ kind: 77 }]), /commands\[0\]/);
    assert.throws(() => world.step(Array.from({ length: COMMANDS_PER_TICK_MAX + 1 }, () => ({ kind: 3 }))), /more than \d+ commands/);
    assert.throws(() => world.decode(new Uint8Array(10)), /^CairnError: decode: /);
    assert.throws(() => cairn.createWorldFromEncoding(new Uint8Array(10)), CairnError);
    assert.throws(() => cairn.createWorld({ substeps: 1000 }), CairnError);
    assert.equal(world.hash(), hash);
    const damaged = world.encode();
    damaged[damaged.length >> 1] ^= 0x80;
    try { world.decode(damaged); } catch (error) { assert.equal(world.hash(), hash); }
    world.destroy();
    assert.throws(() => world.step(), /was destroyed/);
    assert.equal(boxes.length, 1);
});

test('scenes with mistakes are refused with their place', () => {
    const make = (text) => () => cairn.createWorldFromScene(text);
    assert.throws(make('{ "name": "a", "bodeis": [] }'), /line 1, column 16: bodeis: .*did you mean bodies\?/);
    assert.throws(make('{ "name": "a", "bodies": [ { "shapes": [ { "raduis": 1 } ] } ] }'), /bodies\[0\]\.shapes\[0\]\.raduis: a shape has no such field/);
    assert.throws(make('{ "name": "a", "bodies": [ { "kind": "dynamik" } ] }'), /bodies\[0\]\.kind: must be one of "static", "kinematic", "dynamic"/);
    assert.throws(make('{ "name": "a", "bodies": [ { "shapes": [ { "kind": "sphere", "radius": -1 } ] } ] }'), /bodies\[0\]\.shapes\[0\]\.radius: must be/);
    assert.throws(make('{ "name": "a", "joints": [ { "body_a": 4 } ] }'), /joints\[0\]/);
    assert.throws(make('{ "name": "a", "solver": 1, "bodies": {} }'), (error) => error.message.split('\n').length === 2);
    assert.throws(make('{ "name": "a", "rules": "arena" }'), /no rules are named 'arena'/);
    const world = cairn.createWorldFromScene('{ /* a */ "name": "// not a comment", // b\n "bodies": [ {} ] }');
    assert.equal(world.counts.bodies, 1);
    world.destroy();
});

test('a failed assertion of the module says which', () => {
    assert.throws(() => cairn.functions.cairn_world_set_lanes(0, 4), /assertion failed|unreachable|memory/);
});
