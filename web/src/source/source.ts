// SPDX-License-Identifier: MIT

// What a view shows: the bodies of one moment and their shapes, from a world in this page, a room of a
// server, or a recording.

import type { World } from '../cairn/index.js';

export const SLOT_NONE = 0xffff;

// One number of an instrument; `state` colours it, `whole` keeps it on one line.
export interface Fact { name: string; value: string; state?: 'good' | 'bad'; whole?: boolean }

// The bodies to show. The arrays keep their room from frame to frame.
export class Picture {
    count = 0;
    tick = 0; // with a fraction
    id = new Uint32Array(64);
    pose = new Float32Array(7 * 64); // x y z, and a rotation x y z w
    awake = new Uint8Array(64);
    kind = new Uint8Array(64);       // BodyKind; DYNAMIC where it is not known
    hidden = new Uint8Array(64);
    owner = new Uint32Array(64);

    reserve(count: number): void {
        this.count = count;
        if (count > this.id.length) {
            const room = 2 * count;
            this.id = new Uint32Array(room);
            this.pose = new Float32Array(7 * room);
            this.awake = new Uint8Array(room);
            this.kind = new Uint8Array(room);
            this.hidden = new Uint8Array(room);
            this.owner = new Uint32Array(room);
        }
    }
}

// A surface of triangles, or the corners of a hull, in the frame of the shape.
export interface Surface { points: Float32Array; indices: Uint32Array | null }

export interface Shape {
    body: number;
    kind: number;           // ShapeKind
    half: [number, number, number];
    radius: number;
    halfHeight: number;
    position: [number, number, number]; // in the body's frame
    rotation: [number, number, number, number];
    sensor: boolean;
    surface: Surface | null; // of a hull, mesh or height field
    form: string;            // shapes of one form share a geometry
}

// The shapes of all bodies; `revision` changes when they do.
export interface ShapeTable { revision: number; list: Shape[] }

// What the bar at the bottom can do; a room has none of it.
export interface Playback {
    playing: boolean;
    speed: number;
    step(ticks: number): void; // negative: back, if it can
    readonly first: number;
    readonly last: number;     // equal to `first`: no timeline
    seek(tick: number): void;
    marks(): Mark[];
}
export const MARK_RANKS = ['differs', 'join', 'leave', 'operator'] as const; // the first hides the others at its place
export interface Mark { tick: number; kind: typeof MARK_RANKS[number]; words: string }

// What a server sends to this page of a room that it does not send whole.
export interface Sent {
    readonly partial: boolean;
    readonly left: ReadonlyMap<number, readonly [number, number, number]>; // where bodies were that it sends no more
    ageOf(body: number): number; // ticks since the body's last sample
}

// A world that is shown: alone, or beside another one.
export interface Side {
    readonly label: string;            // over it, if there are two
    readonly picture: Picture;
    readonly shapes: ShapeTable;
    world(): World | null;             // to be read until the next call
    readonly interest?: Sent;          // of a room
}

export interface Source extends Side {
    readonly title: string;
    readonly beside: Side | null;      // a second world, at the right
    readonly playback: Playback | null;
    readonly player: number;           // id of the body that the camera follows; 0: none
    readonly hash: string;             // of the newest tick; '' if this peer has no world
    readonly hashes?: readonly { tick: number; hash: string }[]; // of the last ticks, the newest first
    readonly stepTime: number;         // ms that the steps of the last frame took
    advance(now: number): void;        // ms of performance.now(), once a frame
    facts(): Fact[];
    dispose(): void;
}
