// SPDX-License-Identifier: MIT

// Lines over the picture: contacts with their impulses, joints, boxes, frames, islands, as
// <cairn/debug_draw.h> makes them from a world, how far a predicted picture is from its world, and where bodies were that a server sends no more.

import * as THREE from 'three';

import { DebugPart, layouts, World } from '../cairn/index.js';
import type { Picture, Sent } from '../source/source.js';

export const OVERLAYS = ['contacts', 'joints', 'joint impulses', 'boxes', 'frames', 'islands', 'sleep', 'prediction', 'interest'] as const;
export type Overlay = typeof OVERLAYS[number];

const PARTS: Partial<Record<Overlay, number>> = {
    contacts: DebugPart.CONTACTS, joints: DebugPart.JOINTS, 'joint impulses': DebugPart.REACTIONS, boxes: DebugPart.BOXES, frames: DebugPart.FRAMES,
};
const LINE = layouts.cairn_debug_line;
const COLOUR_AT = LINE.fields.find((field) => field[0] === 'colour')![2];
const BODY_AT = LINE.fields.find((field) => field[0] === 'body')![2];
const ERROR_COLOUR = new THREE.Color(0xff2d20);
const LEFT_COLOUR = new THREE.Color(0x5a6f96);
const LEFT_REACH = 0.4; // m

export class OverlayLines {
    readonly root: THREE.LineSegments;
    islands: Map<number, number> | null = null;
    count = 0; // lines shown
    private points = new Float32Array(0);
    private colours = new Float32Array(0);

    constructor() {
        const material = new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true });
        this.root = new THREE.LineSegments(new THREE.BufferGeometry(), material);
        this.root.frustumCulled = false;
        this.root.renderOrder = 1;
    }

    update(world: World | null, picture: Picture, on: ReadonlySet<Overlay>, sent?: Sent): void {
        const parts = OVERLAYS.reduce((bits, overlay) => on.has(overlay) ? bits | (PARTS[overlay] ?? 0) : bits, 0);
        this.count = 0;
        this.islands = null;
        if (world !== null) {
            if (parts !== 0) {
                this.readLines(world, parts);
            }
            if (on.has('islands')) {
                this.islands = islandColours(world);
            }
            if (on.has('prediction')) {
                this.errorLines(world, picture);
            }
        }
        if (on.has('interest') && sent !== undefined) {
            this.crosses(sent);
        }
        this.show();
    }

    private readLines(world: World, parts: number): void {
        withLines(world, parts, (buffer, at, count) => {
            this.reserve(count);
            const data = new DataView(buffer, at, count * LINE.size);
            const colour = new THREE.Color();
            for (let i = 0; i < count; ++i) {
                for (let j = 0; j < 6; ++j) {
                    this.points[6 * i + j] = data.getFloat32(i * LINE.size + 4 * j, true);
                }
                colour.setHex(data.getUint32(i * LINE.size + COLOUR_AT, true));
                colour.toArray(this.colours, 6 * i);
                colour.toArray(this.colours, 6 * i + 3);
            }
            this.count = count;
        });
    }

    // From where a body is shown to where this peer's newest world has it.
    private errorLines(world: World, picture: Picture): void {
        const bodies = world.bodies();
        const rowOf = new Map<number, number>();
        for (let i = 0; i < bodies.count; ++i) {
            rowOf.set(bodies.id(i), i);
        }
        this.reserve(this.count + picture.count);
        for (let i = 0; i < picture.count; ++i) {
            const row = rowOf.get(picture.id[i]);
            if (row !== undefined) {
                this.add(picture.pose.subarray(7 * i, 7 * i + 3), bodies.position(row), ERROR_COLOUR);
            }
        }
    }

    // Where bodies were that the server sends no more.
    private crosses(sent: Sent): void {
        this.reserve(this.count + 3 * sent.left.size);
        for (const place of sent.left.values()) {
            for (let axis = 0; axis < 3; ++axis) {
                const [from, to] = [-LEFT_REACH, LEFT_REACH].map((reach) => place.map((at, i) => i === axis ? at + reach : at));
                this.add(from, to, LEFT_COLOUR);
            }
        }
    }

    private add(from: ArrayLike<number>, to: ArrayLike<number>, colour: THREE.Color): void {
        this.points.set(from, 6 * this.count);
        this.points.set(to, 6 * this.count + 3);
        colour.toArray(this.colours, 6 * this.count);
        colour.toArray(this.colours, 6 * this.count + 3);
        this.count += 1;
    }

    private reserve(lines: number): void {
        if (6 * lines > this.points.length) {
            const points = new Float32Array(12 * lines), colours = new Float32Array(12 * lines);
            points.set(this.points);
            colours.set(this.colours);
            this.points = points;
            this.colours = colours;
            this.root.geometry.dispose();
            this.root.geometry = new THREE.BufferGeometry();
            this.root.geometry.setAttribute('position', new THREE.BufferAttribute(points, 3));
            this.root.geometry.setAttribute('color', new THREE.BufferAttribute(colours, 3));
        }
    }

    private show(): void {
        const { geometry } = this.root;
        this.root.visible = this.count > 0;
        if (this.count > 0) {
            geometry.setDrawRange(0, 2 * this.count);
            geometry.attributes.position.needsUpdate = true;
            geometry.attributes.color.needsUpdate = true;
        }
    }
}

function withLines(world: World, parts: number, use: (buffer: ArrayBuffer, at: number, count: number) => void): void {
    const { memory, address } = world;
    const count = memory.functions.cairn_world_debug_lines(address, parts, 0, 0);
    memory.with(count * LINE.size, (out) => {
        memory.functions.cairn_world_debug_lines(address, parts, out, count);
        use(memory.functions.memory.buffer as ArrayBuffer, out, count);
    });
}

// The colour of each body's island.
function islandColours(world: World): Map<number, number> {
    const colours = new Map<number, number>();
    withLines(world, DebugPart.SHAPES | DebugPart.ISLANDS, (buffer, at, count) => {
        const data = new DataView(buffer, at, count * LINE.size);
        for (let i = 0; i < count; ++i) {
            const body = data.getUint32(i * LINE.size + BODY_AT, true);
            if (!colours.has(body)) {
                colours.set(body, data.getUint32(i * LINE.size + COLOUR_AT, true));
            }
        }
    });
    return colours;
}
