// SPDX-License-Identifier: MIT

// Scenes: worlds as people write them in JSON. docs/SCENES.md describes the format; prefabs and copies on lines and circles are not read; here the
// fields of bodies, shapes and joints are those of their defs, by the layouts of the headers. Bodies
// are created in the order of bridge/scene_world.c, so ids and bits are those of every other host.

import { BodyKind, Combine, FrictionModel, JointKind, layouts, SHAPE_CONTACT_EVENTS, SHAPE_HIT_EVENTS, SHAPE_SENSOR,
    ShapeKind, Solver } from './generated.js';
import { CairnError } from './memory.js';
import type { World } from './world.js';

export type Scene = { name: string; [field: string]: unknown };
type Fields = Record<string, any>;

const BODY_ONLY = ['grid_count', 'grid_spacing', 'shapes', 'mass'];
const SHAPE_ONLY: Fields = { position: 1, rotation: 1, sensor: SHAPE_SENSOR, hit_events: SHAPE_HIT_EVENTS, contact_events: SHAPE_CONTACT_EVENTS };
const SCENE_ONLY = ['name', 'rules', 'bodies', 'joints', 'hulls', 'meshes', 'height_fields'];
const ENUMS: Record<string, Record<string, Record<string, number>>> = {
    body: { kind: BodyKind },
    shape: { kind: ShapeKind, friction_combine: Combine, restitution_combine: Combine },
    joint: { kind: JointKind },
    scene: { solver: Solver, friction_model: FrictionModel },
};

function refuse(path: string, why: string): never {
    throw new TypeError(`${path}: ${why}`);
}

// JSON with comments, as scenes may have.
export function parseScene(json: string): Scene {
    const bare = json.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) => part[0] === '"' ? part : ' ');
    return JSON.parse(bare);
}

function enumerated(kind: string, field: string, value: any, path: string): any {
    const names = ENUMS[kind][field];
    if (names === undefined || typeof value !== 'string') {
        return value;
    }
    return names[value.toUpperCase()] ??
        refuse(`${path}.${field}`, `'${value}' is none of ${Object.keys(names).join(', ').toLowerCase()}`);
}

// The fields of `from` that the struct has; `only` lists the fields that a scene has besides.
function take(struct: string, kind: string, from: Fields, only: readonly string[], path: string): Fields {
    const known = layouts[struct].fields.map((field) => field[0]);
    const out: Fields = {};
    for (const [name, value] of Object.entries(from)) {
        if (only.includes(name)) {
            continue;
        }
        if (!known.includes(name)) {
            refuse(path, `has no field '${name}'`);
        }
        out[name] = enumerated(kind, name, value, path);
    }
    return out;
}

function shapeDef(from: Fields, hulls: readonly number[], meshes: readonly number[], fields: readonly number[], path: string): Fields {
    const def = take('cairn_shape_def', 'shape', from, Object.keys(SHAPE_ONLY), path);
    def.pose = { position: from.position ?? [0, 0, 0], rotation: from.rotation ?? [0, 0, 0, 1] };
    def.flags = 0;
    for (const name of ['sensor', 'hit_events', 'contact_events']) {
        def.flags |= from[name] === true ? SHAPE_ONLY[name] : 0;
    }
    const named = (list: readonly number[], i: number) =>
        list[i] ?? refuse(path, `names number ${i} of a list of ${list.length}`);
    def.hull = def.kind === ShapeKind.HULL ? named(hulls, from.hull ?? 0) : 0;
    def.mesh = def.kind === ShapeKind.MESH ? named(meshes, from.mesh ?? 0)
        : def.kind === ShapeKind.HEIGHT_FIELD ? named(fields, from.mesh ?? 0) : 0;
    return def;
}

function jointDef(from: Fields, bodies: readonly number[], path: string): Fields {
    const rows = Object.keys(from).filter((name) => name.startsWith('row_'));
    const def = take('cairn_joint_def', 'joint', from, rows, path);
    const body = (name: string) => bodies[from[name] ?? 0] ?? refuse(`${path}.${name}`, 'names a body past the last');
    def.body_a = body('body_a');
    def.body_b = body('body_b');
    def.target_rotation = from.target_rotation ?? [0, 0, 0, 1];
    def.row = Object.fromEntries(rows.map((name) => [name.slice(4), from[name]]));
    const never = Math.fround(1e12);
    def.breakable = [from.break_force, from.break_torque].some((limit) => limit !== undefined && Math.fround(limit) !== never);
    return def;
}

// The settings of a scene as fields of a world def.
export function sceneSettings(scene: Scene): Fields {
    return take('cairn_world_def', 'scene', scene, SCENE_ONLY, 'scene');
}

function list(from: Fields, name: string, path: string): Fields[] {
    const value = from[name] ?? [];
    return Array.isArray(value) ? value : refuse(`${path}.${name}`, 'must be a list');
}

// Adds to an error what part of the scene it is about.
function at<T>(path: string, make: () => T): T {
    try {
        return make();
    } catch (error) {
        if (error instanceof CairnError) {
            throw new CairnError(error.status, `${path}: ${error.message}`);
        }
        throw error;
    }
}

function components(value: any, otherwise: readonly number[]): number[] {
    return value === undefined ? [...otherwise] : Array.isArray(value) ? value : [value.x, value.y, value.z];
}

// Creates what the scene names, in a world that is empty. Returns the ids of its bodies.
export function fillWorld(world: World, scene: Scene): number[] {
    const hulls = list(scene, 'hulls', 'scene').map((hull, i) =>
        at(`hulls[${i}]`, () => world.createHull(hull.points.flatMap((p: any) => components(p, [])))));
    const meshes = list(scene, 'meshes', 'scene').map((mesh, i) =>
        at(`meshes[${i}]`, () => world.createMesh(mesh.vertices.flatMap((p: any) => components(p, [])), mesh.indices)));
    const fields = list(scene, 'height_fields', 'scene').map((field, i) => at(`height_fields[${i}]`, () =>
        world.createHeightField(field.heights, field.columns, field.spacing_x ?? 1, field.spacing_z ?? 1)));
    const bodies: number[] = [];
    list(scene, 'bodies', 'scene').forEach((body, i) => {
        const path = `bodies[${i}]`;
        const def = take('cairn_body_def', 'body', body, BODY_ONLY, path);
        const shapes = list(body, 'shapes', path).map((shape, k) => shapeDef(shape, hulls, meshes, fields, `${path}.shapes[${k}]`));
        const count = components(body.grid_count, [1, 1, 1]);
        const spacing = components(body.grid_spacing, [0, 0, 0]);
        const corner = components(body.position, [0, 0, 0]);
        const copies = count[0] * count[1] * count[2];
        for (let k = 0; k < copies; ++k) {
            const cell = [k % count[0], Math.floor(k / count[0]) % count[1], Math.floor(k / count[0] / count[1])];
            def.position = corner.map((value, axis) =>
                Math.fround(Math.fround(value) + Math.fround(cell[axis] * Math.fround(spacing[axis]))));
            at(path, () => {
                const id = world.createBody(def);
                shapes.forEach((shape) => world.createShape(id, shape));
                if (body.mass) {
                    world.setMass(id, body.mass);
                }
                bodies.push(id);
            });
        }
    });
    list(scene, 'joints', 'scene').forEach((joint, i) =>
        at(`joints[${i}]`, () => world.createJoint(jointDef(joint, bodies, `joints[${i}]`))));
    return bodies;
}
