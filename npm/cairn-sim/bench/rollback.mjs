// SPDX-License-Identifier: MIT
// usage: node npm/cairn-sim/bench/rollback.mjs [PACKAGE]
// Microseconds of a save plus a restore of 800 awake boxes: after a step, so that all of them differ,
// and without one; by whole copies, and by a history. Then of a history with one awake box.
import { pathToFileURL } from 'node:url';

const folder = process.argv[2] ?? 'build/npm/cairn-sim';
const { BodyKind, History, load, ShapeKind } = await import(pathToFileURL(`${folder}/dist/index.js`));
const cairn = await load();
const world = cairn.createWorld();
world.createShape(world.createBody({ kind: BodyKind.STATIC }), { kind: ShapeKind.HALF_SPACE });
for (let i = 0; i < 800; ++i) {
    const position = [1.1 * (i % 20), 1 + 1.2 * Math.floor(i / 400), 1.1 * (Math.floor(i / 20) % 20)];
    world.createShape(world.createBody({ position }));
}
for (let i = 0; i < 30; ++i) {
    world.step();
}

function measure(name, prepare, timed) {
    const times = [];
    for (let i = 0; i < 400; ++i) {
        prepare();
        const start = performance.now();
        timed();
        times.push(1000 * (performance.now() - start));
    }
    times.sort((a, b) => a - b);
    console.log(`${name}: ${times[0].toFixed(1)} us at best, ${times[200].toFixed(1)} us median`);
}

function measureCopies(name, steps) {
    const before = world.save();
    const after = world.save();
    measure(name, () => steps(world), () => {
        world.save(after);
        world.restore(before);
    });
    before.free();
    after.free();
}

function measureHistory(name, steps) {
    const history = new History(world, { ticks: 8, bytes: 64e6 });
    history.save();
    const first = world.tick;
    measure(name, () => steps(world), () => {
        history.save(first);
        history.restore(first);
    });
    history.destroy();
}

console.log(`${cairn.build}, ${world.counts.bodies_awake} bodies awake, ${world.save().size} bytes`);
measureCopies('copy: save + restore after a step', () => world.step());
measureCopies('copy: save + restore of the same state', () => {});
measureHistory('history: save + restore after a step', () => world.step());
for (let i = 0; i < 600; ++i) {
    world.step();
}
const push = () => {
    world.applyImpulseAtCentre(2, [0, 300, 0]);
    world.step();
};
push();
console.log(`${world.counts.bodies_awake} bodies awake`);
measureCopies('copy: save + restore after a step', push);
measureHistory('history: save + restore after a step', push);
