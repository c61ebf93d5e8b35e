// SPDX-License-Identifier: MIT

// A world of a scene file, stepped by this page alone: no server.

import type { Cairn, World } from '../cairn/index.js';
import type { Fact } from './source.js';
import { WorldSource } from './world_source.js';

const TICKS_PER_FRAME_MAX = 8;

export class LocalWorld extends WorldSource {
    readonly first = 0;
    readonly last = 0;
    readonly rate: number;
    private own: World;

    constructor(readonly title: string, cairn: Cairn, scene: string) {
        super(TICKS_PER_FRAME_MAX);
        this.own = cairn.createWorldFromScene(scene);
        this.rate = tickRate(this.own);
        this.look();
    }

    world(): World { return this.own; }
    seek(): void {}
    marks(): [] { return []; }

    // The operator's hand: a change from outside between two steps.
    push(body: number, impulse: [number, number, number], point: [number, number, number]): void {
        this.own.applyImpulse(body, impulse, point);
        this.shownHash.tick = -1;
    }

    throwAt(body: number, velocity: [number, number, number]): void {
        this.own.setVelocity(body, velocity, [0, 0, 0]);
        this.shownHash.tick = -1;
    }

    facts(): Fact[] { return worldFacts(this.own, this.rate); }

    dispose(): void { this.own.destroy(); }

    protected ticksPerSecond(): number { return this.rate; }
    protected stepOne(): boolean {
        this.own.step();
        return true;
    }
}

export function tickRate(world: World): number {
    const { memory } = world;
    return memory.read('cairn_world_def', memory.functions.cairn_world_settings(world.address)).tick_rate_hz;
}

export function worldFacts(world: World, rate: number): Fact[] {
    const { bodies, bodies_awake, shapes, joints, contacts, contact_points } = world.counts;
    return [
        { name: 'ticks a second', value: String(rate) },
        { name: 'bodies', value: String(bodies) },
        { name: 'awake', value: String(bodies_awake) },
        { name: 'shapes', value: String(shapes) },
        { name: 'joints', value: String(joints) },
        { name: 'contacts', value: `${contacts}, ${contact_points} points` },
    ];
}
