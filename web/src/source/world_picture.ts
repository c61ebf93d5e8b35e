// SPDX-License-Identifier: MIT

// The picture and the shapes of a world that this page holds.

import { Bodies, MeshKind, ShapeKind, SHAPE_SENSOR, World } from '../cairn/index.js';
import type { Picture, Shape, ShapeTable, Surface } from './source.js';

export function readBodies(world: World, out: Picture): void {
    const bodies = world.bodies();
    const { floats, words, count } = bodies;
    out.reserve(count);
    out.tick = Number(world.tick);
    for (let i = 0; i < count; ++i) {
        const at = i * Bodies.STRIDE;
        out.id[i] = words[at + Bodies.ID];
        out.kind[i] = words[at + Bodies.KIND];
        out.awake[i] = words[at + Bodies.AWAKE];
        out.hidden[i] = words[at + Bodies.ENABLED] === 0 ? 1 : 0;
        out.owner[i] = words[at + Bodies.OWNER];
        for (let j = 0; j < 3; ++j) {
            out.pose[7 * i + j] = floats[at + Bodies.POSITION + j];
        }
        for (let j = 0; j < 4; ++j) {
            out.pose[7 * i + 3 + j] = floats[at + Bodies.ROTATION + j];
        }
    }
}

// The hash to show. Hashing a large world takes as long as a step of it, so while it runs a few times a second are enough for eyes.
const HASHES_KEPT = 8;
const QUICK_MS = 0.4; // such a hash is read of every tick

export class ShownHash {
    text = '';
    tick = -1;
    readonly last: { tick: number; hash: string }[] = []; // the newest first
    private cost = 1; // ms, smoothed

    // True: it was read again, for the world's tick. `exact`: not that of some ticks ago.
    update(world: World, exact: boolean): boolean {
        const tick = Number(world.tick), due = tick < this.tick || tick >= this.tick + (exact || this.cost < QUICK_MS ? 1 : 6);
        if (due) {
            const begin = performance.now();
            this.tick = tick;
            this.text = world.hash();
            this.cost += 0.2 * (performance.now() - begin - this.cost);
            this.last.unshift({ tick, hash: this.text });
            this.last.length = Math.min(this.last.length, HASHES_KEPT);
        }
        return due;
    }
}

// Reads the shapes that are new since the last call. Ids of shapes are never used again for another
// shape of the same world; forget() is for another world.
export class WorldShapes implements ShapeTable {
    revision = 1;
    list: Shape[] = [];
    private ids: Uint32Array = new Uint32Array(0);
    private known = new Map<number, Shape>();

    forget(): void {
        this.known.clear();
        this.ids = new Uint32Array(0);
    }

    update(world: World): void {
        const ids = shapeIds(world);
        if (ids.length === this.ids.length && ids.every((id, i) => id === this.ids[i])) {
            return;
        }
        const known = new Map<number, Shape>();
        for (const id of ids) {
            known.set(id, this.known.get(id) ?? readShape(world, id));
        }
        this.ids = ids;
        this.known = known;
        this.list = [...known.values()];
        this.revision += 1;
    }
}

function shapeIds(world: World): Uint32Array {
    const { memory, address } = world;
    const count = memory.functions.cairn_world_shapes(address, 0, 0);
    return memory.with(4 * count, (out) => {
        memory.functions.cairn_world_shapes(address, out, count);
        return new Uint32Array(memory.functions.memory.buffer, out, count).slice();
    });
}

function readShape(world: World, id: number): Shape {
    const def = world.shapeDef(id);
    const { position: p, rotation: r } = def.pose;
    const shape: Shape = { body: def.body, kind: def.kind, half: [def.half_extents.x, def.half_extents.y, def.half_extents.z],
        radius: def.radius, halfHeight: def.half_height, position: [p.x, p.y, p.z], rotation: [r.x, r.y, r.z, r.w],
        sensor: (def.flags & SHAPE_SENSOR) !== 0, surface: null, form: '' };
    if (def.kind === ShapeKind.HULL) {
        shape.surface = { points: hullPoints(world, def.hull), indices: null };
    } else if (def.kind === ShapeKind.MESH || def.kind === ShapeKind.HEIGHT_FIELD) {
        shape.surface = meshSurface(world, def.mesh);
    }
    shape.form = formOf(shape, def.kind === ShapeKind.HULL ? def.hull : def.mesh);
    return shape;
}

export function formOf(shape: Shape, surface: number | string): string {
    switch (shape.kind) {
    case ShapeKind.SPHERE: return 'sphere';
    case ShapeKind.BOX: return 'box';
    case ShapeKind.CYLINDER: return 'cylinder';
    case ShapeKind.CONE: return 'cone';
    case ShapeKind.CAPSULE: return `capsule ${(shape.halfHeight / shape.radius).toFixed(4)}`;
    case ShapeKind.HALF_SPACE: return 'plane';
    default: return `surface ${shape.kind} ${surface}`;
    }
}

const HULL_VERTICES_ROOM = 256;

function hullPoints(world: World, hull: number): Float32Array {
    const { memory, address } = world;
    return memory.with(12 * HULL_VERTICES_ROOM + 4, (out) => {
        const countAt = out + 12 * HULL_VERTICES_ROOM;
        memory.functions.cairn_hull_read(address, hull, out, countAt);
        const count = memory.data.getUint32(countAt, true);
        return new Float32Array(memory.functions.memory.buffer, out, 3 * count).slice();
    });
}

function meshSurface(world: World, mesh: number): Surface {
    const { memory, address } = world;
    const info = memory.with(128, (out) => {
        memory.functions.cairn_mesh_info_read(address, mesh, out);
        return memory.read('cairn_mesh_info', out);
    });
    if (info.kind !== MeshKind.TRIANGLES) {
        return memory.with(4 * info.columns * info.rows, (out) => {
            memory.functions.cairn_height_field_read(address, mesh, out);
            return fieldSurface(new Float32Array(memory.functions.memory.buffer, out, info.columns * info.rows).slice(),
                info.columns, info.rows, info.spacing_x, info.spacing_z);
        });
    }
    const points = 12 * info.vertex_count;
    return memory.with(points + 12 * info.triangle_count, (out) => {
        memory.functions.cairn_mesh_read(address, mesh, out, out + points);
        const { buffer } = memory.functions.memory;
        return { points: new Float32Array(buffer, out, 3 * info.vertex_count).slice(),
            indices: new Uint32Array(buffer, out + points, 3 * info.triangle_count).slice() };
    });
}

// Triangles of a height field: each cell is divided from its first sample to its last. A cell with a
// hole at a corner is left out.
export function fieldSurface(heights: Float32Array, columns: number, rows: number, spacingX: number, spacingZ: number): Surface {
    const points = new Float32Array(3 * columns * rows);
    const hole = (sample: number) => !(Math.abs(heights[sample]) <= 1e4);
    for (let i = 0; i < columns * rows; ++i) {
        points.set([(i % columns) * spacingX, hole(i) ? 0 : heights[i], Math.floor(i / columns) * spacingZ], 3 * i);
    }
    const indices: number[] = [];
    for (let row = 0; row + 1 < rows; ++row) {
        for (let column = 0; column + 1 < columns; ++column) {
            const a = row * columns + column, b = a + 1, c = a + columns, d = c + 1;
            if (!hole(a) && !hole(d)) {
                indices.push(...(hole(c) ? [] : [a, c, d]), ...(hole(b) ? [] : [a, d, b]));
            }
        }
    }
    return { points, indices: Uint32Array.from(indices) };
}
