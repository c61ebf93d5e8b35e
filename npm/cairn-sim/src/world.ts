// SPDX-License-Identifier: MIT

// A world: rigid bodies advanced in fixed ticks. The methods are the functions of <cairn/sim.h>,
// <cairn/joint.h>, <cairn/fracture.h> and <cairn/measure.h>, which say what they do; a refusal throws
// a CairnError.

import type { BodyDef, BodyForces, BodyState, BodyEvent, Closest, Command, ContactData, ContactEvent, Explosion, Forces, FractureDef,
    JointDef, JointEvent, JointReaction, JointTravel, MassProperties, Material, Pose, QueryFilter, Quat, RayHit, ShapeDef, WorldCounters,
    WorldCounts } from './generated.js';
import { COMMANDS_PER_TICK_MAX, FRACTURE_PIECES_MAX, layouts, Status } from './generated.js';
import { CairnError, In, Memory, Runtime, sizeOf, Vec3In } from './memory.js';

export type BodyId = number;
export type ShapeId = number;
export type JointId = number;
export type HullId = number;
export type MeshId = number;
type QuatIn = In<Quat>;
type PoseIn = { position?: Vec3In; rotation?: QuatIn };

const WORD_OF = (name: string) => layouts.cairn_body_state.fields.find((field) => field[0] === name)![2] / 4;

// The states of all bodies in order of id, as they lie in the memory of the module. The views are
// valid until the next call of anything: read them, or copy them.
export class Bodies {
    static readonly STRIDE = layouts.cairn_body_state.size / 4; // words of one body
    static readonly ID = WORD_OF('id');
    static readonly KIND = WORD_OF('kind');
    static readonly POSITION = WORD_OF('position'); // x y z
    static readonly ROTATION = WORD_OF('rotation'); // x y z w
    static readonly LINEAR_VELOCITY = WORD_OF('linear_velocity');
    static readonly ANGULAR_VELOCITY = WORD_OF('angular_velocity');
    static readonly AWAKE = WORD_OF('awake');
    static readonly USER = WORD_OF('user');
    static readonly ENABLED = WORD_OF('enabled');
    static readonly OWNER = WORD_OF('owner');
    readonly floats: Float32Array;
    readonly words: Uint32Array;

    constructor(buffer: ArrayBuffer, address: number, readonly count: number) {
        this.floats = new Float32Array(buffer, address, count * Bodies.STRIDE);
        this.words = new Uint32Array(buffer, address, count * Bodies.STRIDE);
    }

    id(i: number): BodyId { return this.words[i * Bodies.STRIDE + Bodies.ID]; }
    kind(i: number): number { return this.words[i * Bodies.STRIDE + Bodies.KIND]; }
    position(i: number): Float32Array { return this.part(i, Bodies.POSITION, 3); }
    rotation(i: number): Float32Array { return this.part(i, Bodies.ROTATION, 4); }
    linearVelocity(i: number): Float32Array { return this.part(i, Bodies.LINEAR_VELOCITY, 3); }
    angularVelocity(i: number): Float32Array { return this.part(i, Bodies.ANGULAR_VELOCITY, 3); }
    awake(i: number): boolean { return this.words[i * Bodies.STRIDE + Bodies.AWAKE] !== 0; }

    private part(i: number, word: number, count: number): Float32Array {
        const at = i * Bodies.STRIDE + word;
        return this.floats.subarray(at, at + count);
    }
}

// A saved state, in the memory of the module. World.save fills it again without allocating.
export class Save {
    address = 0;
    size = 0;
    private capacity = 0;

    constructor(private readonly memory: Memory) {}

    reserve(size: number): void {
        if (size > this.capacity) {
            this.free();
            this.capacity = size + (size >> 2);
            this.address = this.memory.allocate(this.capacity);
        }
    }

    free(): void {
        this.memory.functions.free(this.address);
        this.address = this.size = this.capacity = 0;
    }
}

export interface Hashes { visible: string; full: string; sections: Record<string, string> }
export interface Difference { section: string; element: number; field: string; is_float: number; bits_a: number; bits_b: number }

export class World {
    private bodyStates = 0;
    private bodyCapacity = 0;

    // A host calls Cairn.createWorld.
    constructor(readonly memory: Memory, private handle: number) {}

    private get f(): Runtime { return this.memory.functions; }

    // The world in calls of the module's own functions (Cairn.functions).
    get address(): number {
        if (this.handle === 0) {
            throw new CairnError(Status.WRONG_STATE, 'the world was destroyed');
        }
        return this.handle;
    }

    destroy(): void {
        this.f.cairn_world_destroy(this.handle);
        this.release();
    }

    // Forgets a world that another owner destroys: returns what reading it took.
    release(): void {
        this.f.free(this.bodyStates);
        this.handle = this.bodyStates = this.bodyCapacity = 0;
    }

    fork(): World {
        return this.memory.with(4, (out) => {
            this.check('fork', this.f.cairn_world_fork(this.address, out));
            return new World(this.memory, this.memory.data.getUint32(out, true));
        });
    }

    copyFrom(other: World): void {
        this.check('copyFrom', this.f.cairn_world_copy(this.address, other.address));
    }

    get tick(): bigint { return BigInt.asUintN(64, this.f.cairn_world_tick(this.address)); }

    // Advances one tick. The commands are checked and sorted here.
    step(commands: readonly In<Command>[] = []): void {
        const size = sizeOf('cairn_command');
        if (commands.length > COMMANDS_PER_TICK_MAX) {
            throw new CairnError(Status.CAPACITY, `step: more than ${COMMANDS_PER_TICK_MAX} commands`);
        }
        this.memory.with(size * commands.length, (at) => {
            this.memory.bytes.fill(0, at, at + size * commands.length);
            commands.forEach((command, i) => {
                this.memory.write('cairn_command', at + i * size, command, `commands[${i}]`);
                this.check(`commands[${i}]`, this.f.cairn_command_check(at + i * size));
            });
            this.f.cairn_commands_sort(at, commands.length);
            this.f.cairn_world_step(this.address, at, commands.length);
        });
    }

    // ---- state

    // Saves into `into`, or into a new Save that its owner frees.
    save(into: Save = new Save(this.memory)): Save {
        into.reserve(this.f.cairn_world_save_size(this.address));
        into.size = this.f.cairn_world_save(this.address, into.address, this.f.cairn_world_save_size(this.address));
        return into;
    }

    restore(save: Save): void {
        this.check('restore', this.f.cairn_world_load(this.address, save.address, save.size));
    }

    // The canonical form, which travels between machines; a copy.
    encode(): Uint8Array {
        const size = this.f.cairn_world_encode_size(this.address);
        return this.memory.with(size, (at) => {
            const written = this.f.cairn_world_encode(this.address, at, size);
            return this.memory.bytes.slice(at, at + written);
        });
    }

    // Takes hostile bytes: what is wrong is refused, and the world stays as it was.
    decode(bytes: Uint8Array): void {
        this.memory.with(bytes.length + 16, (at) => {
            this.memory.bytes.set(bytes, at + 16);
            const status = this.f.cairn_world_decode(this.address, at + 16, bytes.length, at);
            if (status !== Status.OK) {
                throw new CairnError(status, `decode: ${this.memory.text(this.memory.data.getUint32(at, true))}`);
            }
        });
    }

    // The 32 hexadecimal digits by which two peers find out whether their worlds are equal.
    hash(): string { return this.hashes().full; }

    hashes(): Hashes {
        const { size, fields } = layouts.cairn_world_hash;
        return this.memory.with(size, (out) => {
            this.f.cairn_world_hash_read(out, this.address);
            const [visible, full, sections] = fields.map((field) => out + field[2]);
            const named: Record<string, string> = {};
            for (let i = 0; i < fields[2][3]; ++i) {
                named[this.memory.text(this.f.cairn_section_name(i))] = this.memory.hash(sections + 16 * i);
            }
            return { visible: this.memory.hash(visible), full: this.memory.hash(full), sections: named };
        });
    }

    differences(other: World, capacity = 64): Difference[] {
        const size = sizeOf('cairn_difference');
        return this.memory.with(size * capacity, (out) => {
            const count = this.f.cairn_world_diff(this.address, other.address, out, capacity);
            return Array.from({ length: Math.min(count, capacity) }, (_, i) => {
                const raw = this.memory.read('cairn_difference', out + i * size);
                return { ...raw, section: this.memory.text(this.f.cairn_section_name(raw.section)),
                    field: this.memory.text(raw.field) };
            });
        });
    }

    get counts(): WorldCounts { return this.returned('cairn_world_counts', (out) => this.f.cairn_world_counts_read(out, this.address)); }
    get counters(): WorldCounters { return this.returned('cairn_world_counters', (out) => this.f.cairn_world_counters_read(out, this.address)); }

    // What holds the world at this instant, without a step, and in `of` for each dynamic body how it
    // accelerates and the force and torque of its contacts and joints, in newtons.
    forces(): Forces & { of: BodyForces[] } {
        const head = (sizeOf('cairn_forces') + 15) & ~15, size = sizeOf('cairn_body_forces'), capacity = this.counts.bodies;
        return this.memory.with(head + size * capacity, (out) => {
            this.check('forces', this.f.cairn_world_forces_read(this.address, capacity, out + head, out));
            const found = this.memory.read('cairn_forces', out);
            const of = Array.from({ length: found.bodies }, (_, i) => this.memory.read('cairn_body_forces', out + head + i * size));
            return { ...found, of };
        });
    }

    get gravity(): [number, number, number] {
        const { x, y, z } = this.returned('cairn_vec3', (out) => this.f.cairn_world_gravity(out, this.address));
        return [x, y, z];
    }
    set gravity(value: Vec3In) {
        this.vectors('gravity', [value], (at) => this.f.cairn_world_set_gravity(this.address, at));
    }

    /** Steps in a second of the world's time: from the next step on each takes it 1 / value seconds further. */
    get stepRate(): number { return this.f.cairn_world_step_rate(this.address); }
    set stepRate(value: number) { this.check('stepRate', this.f.cairn_world_set_step_rate(this.address, value)); }

    // ---- bodies

    createBody(def: In<BodyDef> = {}): BodyId {
        return this.create('cairn_body_def', def, (at, out) => this.f.cairn_body_create(this.address, at, out));
    }
    destroyBody(body: BodyId): void { this.check('destroyBody', this.f.cairn_body_destroy(this.address, body)); }
    bodyExists(body: BodyId): boolean { return this.f.cairn_body_exists(this.address, body) !== 0; }
    bodyState(body: BodyId): BodyState { return this.out('bodyState', 'cairn_body_state', (out) => this.f.cairn_body_read(this.address, body, out)); }
    bodyDef(body: BodyId): BodyDef { return this.out('bodyDef', 'cairn_body_def', (out) => this.f.cairn_body_read_def(this.address, body, out)); }
    bodyMass(body: BodyId): MassProperties { return this.out('bodyMass', 'cairn_mass_properties', (out) => this.f.cairn_body_read_mass(this.address, body, out)); }
    // Breaks a body of one box, hull, cylinder or cone, hit at `def.point`, into convex pieces that have
    // its mass and momentum. Returns their ids; the body is gone.
    fracture(body: BodyId, def: In<FractureDef>): BodyId[] {
        return this.withDef('cairn_fracture_def', def, (at) => this.memory.with(16 + 4 * FRACTURE_PIECES_MAX, (out) => {
            const status = this.f.cairn_body_fracture(this.address, body, at, out + 16, FRACTURE_PIECES_MAX, out);
            this.check('fracture', status, status === Status.OK ? 0 : this.f.cairn_body_fracture_refusal(this.address, body, at));
            return Array.from({ length: this.memory.data.getUint32(out, true) },
                (_, i) => this.memory.data.getUint32(out + 16 + 4 * i, true));
        }));
    }
    setMass(body: BodyId, mass: number): void { this.check('setMass', this.f.cairn_body_set_mass(this.address, body, mass)); }

    // The states of all bodies, without a copy into objects of JavaScript.
    bodies(): Bodies {
        let count = this.f.cairn_world_bodies(this.address, this.bodyStates, this.bodyCapacity);
        if (count > this.bodyCapacity) {
            this.f.free(this.bodyStates);
            this.bodyStates = 0;
            this.bodyStates = this.memory.allocate(count * sizeOf('cairn_body_state'));
            this.bodyCapacity = count;
            count = this.f.cairn_world_bodies(this.address, this.bodyStates, count);
        }
        return new Bodies(this.f.memory.buffer, this.bodyStates, count);
    }

    setPose(body: BodyId, pose: PoseIn): void {
        this.pose('setPose', pose, (at) => this.f.cairn_body_set_pose(this.address, body, at));
    }
    setTarget(body: BodyId, pose: PoseIn): void {
        this.pose('setTarget', pose, (at) => this.f.cairn_body_set_target(this.address, body, at));
    }
    setVelocity(body: BodyId, linear: Vec3In, angular: Vec3In): void {
        this.vectors('setVelocity', [linear, angular], (a, b) => this.f.cairn_body_set_velocity(this.address, body, a, b));
    }
    applyImpulse(body: BodyId, impulse: Vec3In, point: Vec3In): void {
        this.vectors('applyImpulse', [impulse, point], (a, b) => this.f.cairn_body_apply_impulse(this.address, body, a, b));
    }
    applyImpulseAtCentre(body: BodyId, impulse: Vec3In): void {
        this.vectors('applyImpulseAtCentre', [impulse], (a) => this.f.cairn_body_apply_impulse_at_centre(this.address, body, a));
    }
    applyAngularImpulse(body: BodyId, impulse: Vec3In): void {
        this.vectors('applyAngularImpulse', [impulse], (a) => this.f.cairn_body_apply_angular_impulse(this.address, body, a));
    }
    applyForce(body: BodyId, force: Vec3In, torque: Vec3In = [0, 0, 0]): void {
        this.vectors('applyForce', [force, torque], (a, b) => this.f.cairn_body_apply_force(this.address, body, a, b));
    }
    applyForceAt(body: BodyId, force: Vec3In, point: Vec3In): void {
        this.vectors('applyForceAt', [force, point], (a, b) => this.f.cairn_body_apply_force_at(this.address, body, a, b));
    }
    setKind(body: BodyId, kind: number): void { this.check('setKind', this.f.cairn_body_set_kind(this.address, body, kind)); }
    setDamping(body: BodyId, linear: number, angular: number): void { this.check('setDamping', this.f.cairn_body_set_damping(this.address, body, linear, angular)); }
    setGravityScale(body: BodyId, scale: number): void { this.check('setGravityScale', this.f.cairn_body_set_gravity_scale(this.address, body, scale)); }
    setLocks(body: BodyId, locks: number): void { this.check('setLocks', this.f.cairn_body_set_locks(this.address, body, locks)); }
    setUser(body: BodyId, user: number): void { this.check('setUser', this.f.cairn_body_set_user(this.address, body, user)); }
    setAwake(body: BodyId, awake: boolean): void { this.check('setAwake', this.f.cairn_body_set_awake(this.address, body, Number(awake))); }
    setEnabled(body: BodyId, enabled: boolean): void { this.check('setEnabled', this.f.cairn_body_set_enabled(this.address, body, Number(enabled))); }

    // ---- shapes, hulls, meshes

    createShape(body: BodyId, def: In<ShapeDef> = {}): ShapeId {
        return this.create('cairn_shape_def', def, (at, out) => this.f.cairn_shape_create(this.address, body, at, out));
    }
    destroyShape(shape: ShapeId): void { this.check('destroyShape', this.f.cairn_shape_destroy(this.address, shape)); }
    shapes(body?: BodyId): ShapeId[] {
        return this.ids((out, capacity) => body === undefined ? this.f.cairn_world_shapes(this.address, out, capacity)
            : this.f.cairn_body_shapes(this.address, body, out, capacity));
    }
    shapeDef(shape: ShapeId): ShapeDef & { body: BodyId } {
        const size = sizeOf('cairn_shape_def');
        return this.memory.with(size + 4, (out) => {
            this.check('shapeDef', this.f.cairn_shape_read(this.address, shape, out, out + size));
            return { ...this.memory.read('cairn_shape_def', out), body: this.memory.data.getUint32(out + size, true) };
        });
    }
    setFilter(shape: ShapeId, category: number, mask: number): void {
        this.check('setFilter', this.f.cairn_shape_set_filter(this.address, shape, category, mask));
    }
    setMaterial(shape: ShapeId, material: In<Material>): void {
        this.memory.with(sizeOf('cairn_material'), (at) => {
            this.check('setMaterial', this.f.cairn_shape_read_material(this.address, shape, at));
            this.memory.write('cairn_material', at, material, 'material');
            this.check('setMaterial', this.f.cairn_shape_set_material(this.address, shape, at));
        });
    }

    // Points as x y z, x y z, ...
    createHull(points: ArrayLike<number>): HullId {
        return this.memory.with(4 * points.length + 16, (at) => {
            new Float32Array(this.f.memory.buffer, at + 16, points.length).set(points);
            const status = this.f.cairn_hull_create(this.address, at + 16, Math.floor(points.length / 3), at);
            const refusal = status === Status.OK ? 0 : this.f.cairn_hull_refusal(at + 16, Math.floor(points.length / 3));
            this.check('createHull', status, refusal);
            return this.memory.data.getUint32(at, true);
        });
    }
    destroyHull(hull: HullId): void { this.check('destroyHull', this.f.cairn_hull_destroy(this.address, hull)); }

    createMesh(vertices: ArrayLike<number>, indices: ArrayLike<number>): MeshId {
        const points = 32, triangles = points + 4 * vertices.length;
        return this.memory.with(triangles + 4 * indices.length, (at) => {
            new Float32Array(this.f.memory.buffer, at + points, vertices.length).set(vertices);
            new Uint32Array(this.f.memory.buffer, at + triangles, indices.length).set(indices);
            this.memory.write('cairn_mesh_def', at + 8, { vertices: at + points, indices: at + triangles,
                vertex_count: Math.floor(vertices.length / 3), triangle_count: Math.floor(indices.length / 3) });
            const status = this.f.cairn_mesh_create(this.address, at + 8, at);
            this.check('createMesh', status, status === Status.OK ? 0 : this.f.cairn_mesh_refusal(at + 8));
            return this.memory.data.getUint32(at, true);
        });
    }

    // Rows of `columns` heights along x; HEIGHT_HOLE is a hole.
    createHeightField(heights: ArrayLike<number>, columns: number, spacing_x = 1, spacing_z = 1): MeshId {
        return this.memory.with(32 + 4 * heights.length, (at) => {
            new Float32Array(this.f.memory.buffer, at + 32, heights.length).set(heights);
            this.memory.write('cairn_height_field_def', at + 8,
                { heights: at + 32, columns, rows: Math.floor(heights.length / columns), spacing_x, spacing_z });
            const status = this.f.cairn_height_field_create(this.address, at + 8, at);
            this.check('createHeightField', status, status === Status.OK ? 0 : this.f.cairn_height_field_refusal(at + 8));
            return this.memory.data.getUint32(at, true);
        });
    }
    destroyMesh(mesh: MeshId): void { this.check('destroyMesh', this.f.cairn_mesh_destroy(this.address, mesh)); }

    // ---- joints

    createJoint(def: In<JointDef>): JointId {
        return this.create('cairn_joint_def', def, (at, out) => this.f.cairn_joint_create(this.address, at, out));
    }
    destroyJoint(joint: JointId): void { this.check('destroyJoint', this.f.cairn_joint_destroy(this.address, joint)); }
    joints(body?: BodyId): JointId[] {
        return this.ids((out, capacity) => body === undefined ? this.f.cairn_world_joints(this.address, out, capacity)
            : this.f.cairn_body_joints(this.address, body, out, capacity));
    }
    jointDef(joint: JointId): JointDef { return this.out('jointDef', 'cairn_joint_def', (out) => this.f.cairn_joint_read(this.address, joint, out)); }
    jointTravel(joint: JointId): JointTravel { return this.out('jointTravel', 'cairn_joint_travel', (out) => this.f.cairn_joint_travel_read(this.address, joint, out)); }
    jointReaction(joint: JointId): JointReaction { return this.out('jointReaction', 'cairn_joint_reaction', (out) => this.f.cairn_joint_reaction_read(this.address, joint, out)); }
    // Changes what `def` names and leaves the rest as it is.
    setJoint(joint: JointId, def: In<JointDef>): void {
        this.memory.with(sizeOf('cairn_joint_def'), (at) => {
            this.check('setJoint', this.f.cairn_joint_read(this.address, joint, at));
            this.memory.write('cairn_joint_def', at, def, 'joint');
            this.check('setJoint', this.f.cairn_joint_set(this.address, joint, at));
        });
    }
    setMotor(joint: JointId, speed: number, force: number): void { this.check('setMotor', this.f.cairn_joint_set_motor(this.address, joint, speed, force)); }
    setLimits(joint: JointId, lower: number, upper: number): void { this.check('setLimits', this.f.cairn_joint_set_limits(this.address, joint, lower, upper)); }
    setSpring(joint: JointId, hertz: number, damping: number): void { this.check('setSpring', this.f.cairn_joint_set_spring(this.address, joint, hertz, damping)); }
    setJointTarget(joint: JointId, target: number): void { this.check('setJointTarget', this.f.cairn_joint_set_target(this.address, joint, target)); }
    setSteering(joint: JointId, target: number): void { this.check('setSteering', this.f.cairn_joint_set_steering(this.address, joint, target)); }
    setJointEnabled(joint: JointId, enabled: boolean): void { this.check('setJointEnabled', this.f.cairn_joint_set_enabled(this.address, joint, Number(enabled))); }

    // ---- events of the last step

    contactEvents(): ContactEvent[] { return this.events('cairn_contact_event', (count) => this.f.cairn_world_contact_events(this.address, count)); }
    bodyEvents(): BodyEvent[] { return this.events('cairn_body_event', (count) => this.f.cairn_world_body_events(this.address, count)); }
    jointEvents(): JointEvent[] { return this.events('cairn_joint_event', (count) => this.f.cairn_world_joint_events(this.address, count)); }
    contacts(body: BodyId): ContactData[] {
        return this.list('cairn_contact_data', (out, capacity) => this.f.cairn_body_contacts(this.address, body, out, capacity));
    }
    sensorOverlaps(sensor: ShapeId): ShapeId[] {
        return this.ids((out, capacity) => this.f.cairn_sensor_overlaps(this.address, sensor, out, capacity));
    }

    // ---- queries

    // The nearest hit from `origin` within `translation`, or null.
    rayClosest(origin: Vec3In, translation: Vec3In, filter: In<QueryFilter> = {}): RayHit | null {
        return this.query([origin, translation], filter, 'cairn_ray_hit', (at, filterAt, out) =>
            this.f.cairn_world_ray_closest(this.address, at[0], at[1], filterAt, out));
    }
    // All hits in order of (fraction, shape index).
    rayAll(origin: Vec3In, translation: Vec3In, filter: In<QueryFilter> = {}, capacity = 64): RayHit[] {
        return this.withVectors([origin, translation], filter, (at, filterAt) => this.list('cairn_ray_hit', (out, room) =>
            this.f.cairn_world_ray_all(this.address, at[0], at[1], filterAt, out, room), capacity));
    }
    rayAny(origin: Vec3In, translation: Vec3In, filter: In<QueryFilter> = {}): boolean {
        return this.withVectors([origin, translation], filter, (at, filterAt) =>
            this.f.cairn_world_ray_any(this.address, at[0], at[1], filterAt) !== 0);
    }
    shapeCast(shape: In<ShapeDef>, pose: PoseIn, translation: Vec3In, filter: In<QueryFilter> = {}): RayHit | null {
        return this.withShape(shape, pose, (shapeAt, poseAt) =>
            this.query([translation], filter, 'cairn_ray_hit', (at, filterAt, out) =>
                this.f.cairn_world_shape_cast(this.address, shapeAt, poseAt, at[0], filterAt, out)));
    }
    overlapShape(shape: In<ShapeDef>, pose: PoseIn, filter: In<QueryFilter> = {}): ShapeId[] {
        return this.withShape(shape, pose, (shapeAt, poseAt) => this.withVectors([], filter, (_, filterAt) =>
            this.ids((out, capacity) => this.f.cairn_world_overlap_shape(this.address, shapeAt, poseAt, filterAt, out, capacity))));
    }
    closestToPoint(point: Vec3In, distanceMax: number, filter: In<QueryFilter> = {}): Closest | null {
        return this.query([point], filter, 'cairn_closest', (at, filterAt, out) =>
            this.f.cairn_world_closest_to_point(this.address, at[0], distanceMax, filterAt, out));
    }
    // How many shapes it pushed.
    explode(explosion: In<Explosion>): number {
        return this.create('cairn_explosion', explosion, (at, out) => this.f.cairn_world_explode(this.address, at, out));
    }

    // ---- how the calls are made

    private check(what: string, status: number, refusal = 0): void { this.memory.check(what, status, refusal); }

    private returned(struct: string, call: (out: number) => void): any {
        return this.memory.with(sizeOf(struct), (out) => {
            call(out);
            return this.memory.read(struct, out);
        });
    }

    private out(what: string, struct: string, call: (out: number) => number): any {
        return this.returned(struct, (out) => this.check(what, call(out)));
    }

    // Writes `def` over the default of its struct.
    private withDef<T>(struct: string, def: object, use: (at: number) => T): T {
        return this.memory.with(sizeOf(struct), (at) => {
            (this.f as any)[`${struct}_default`](at);
            this.memory.write(struct, at, def, struct.replace(/^cairn_/, ''));
            return use(at);
        });
    }

    private create(struct: string, def: object, call: (at: number, out: number) => number): number {
        return this.withDef(struct, def, (at) => this.memory.with(4, (out) => {
            this.check(struct.replace(/^cairn_/, ''), call(at, out));
            return this.memory.data.getUint32(out, true);
        }));
    }

    private list(struct: string, call: (out: number, capacity: number) => number, first = 64): any[] {
        const size = sizeOf(struct);
        const attempt = (capacity: number): any[] => this.memory.with(size * capacity, (out) => {
            const count = call(out, capacity);
            return count > capacity && first === 64 ? attempt(count)
                : Array.from({ length: Math.min(count, capacity) }, (_, i) => this.memory.readOne(struct, out + i * size));
        });
        return attempt(first);
    }

    private ids(call: (out: number, capacity: number) => number): number[] { return this.list('u32', call); }

    private events(struct: string, call: (count: number) => number): any[] {
        return this.memory.with(4, (countAt) => {
            const at = call(countAt);
            return Array.from({ length: this.memory.data.getUint32(countAt, true) },
                (_, i) => this.memory.read(struct, at + i * sizeOf(struct)));
        });
    }

    private vectors(what: string, values: readonly Vec3In[], call: (...at: number[]) => number): void {
        this.memory.with(16 * values.length, (base) => {
            const at = values.map((value, i) => {
                this.memory.write('cairn_vec3', base + 16 * i, value, what);
                return base + 16 * i;
            });
            this.check(what, call(...at));
        });
    }

    private pose(what: string, pose: PoseIn, call: (at: number) => number): void {
        this.withPose(pose, (at) => this.check(what, call(at)));
    }

    private withPose<T>(pose: PoseIn, use: (at: number) => T): T {
        return this.memory.with(sizeOf('cairn_pose'), (at) => {
            const whole: In<Pose> = { position: [0, 0, 0], rotation: [0, 0, 0, 1] };
            this.memory.write('cairn_pose', at, { ...whole, ...pose }, 'pose');
            return use(at);
        });
    }

    private withShape<T>(shape: In<ShapeDef>, pose: PoseIn, use: (shapeAt: number, poseAt: number) => T): T {
        return this.withDef('cairn_shape_def', shape, (shapeAt) => this.withPose(pose, (poseAt) => use(shapeAt, poseAt)));
    }

    private withVectors<T>(values: readonly Vec3In[], filter: In<QueryFilter>, use: (at: number[], filterAt: number) => T): T {
        return this.withDef('cairn_query_filter', filter, (filterAt) => this.memory.with(16 * values.length, (base) =>
            use(values.map((value, i) => {
                this.memory.write('cairn_vec3', base + 16 * i, value, 'query');
                return base + 16 * i;
            }), filterAt)));
    }

    private query(values: readonly Vec3In[], filter: In<QueryFilter>, struct: string,
        call: (at: number[], filterAt: number, out: number) => number): any {
        return this.withVectors(values, filter, (at, filterAt) => this.memory.with(sizeOf(struct), (out) => {
            const status = call(at, filterAt, out);
            if (status === Status.NOT_FOUND) {
                return null;
            }
            this.check('query', status);
            return this.memory.read(struct, out);
        }));
    }
}
