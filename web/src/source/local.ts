// SPDX-License-Identifier: MIT

// A world of a scene file, stepped by this page alone: no server.

import type { Cairn, World } from '../cairn/index.js';
import { Picture, Fact, Playback, Source } from './source.js';
import { readBodies, ShownHash, WorldShapes } from './world_picture.js';

const STEPS_PER_FRAME_MAX = 8; // a slow machine shows a slower world

export class LocalWorld implements Source, Playback {
    readonly label = '';
    readonly beside = null;
    readonly picture = new Picture();
    readonly shapes = new WorldShapes();
    readonly playback: Playback = this;
    readonly player = 0;
    readonly first = 0;
    readonly last = 0;
    playing = true;
    speed = 1;
    stepTime = 0;
    readonly rate: number;
    private own: World;
    private due = 0; // ticks, with a fraction
    private before = 0;
    private readonly shownHash = new ShownHash();

    constructor(readonly title: string, cairn: Cairn, scene: string) {
        this.own = cairn.createWorldFromScene(scene);
        this.rate = tickRate(this.own);
        this.look();
    }

    world(): World { return this.own; }

    get hash(): string {
        this.shownHash.update(this.own, !this.playing);
        return this.shownHash.text;
    }

    advance(now: number): void {
        const passed = Math.min(now - this.before, 250);
        this.before = now;
        if (this.playing) {
            this.due = Math.min(this.due + passed * this.rate * this.speed / 1000, STEPS_PER_FRAME_MAX);
            const ticks = Math.floor(this.due);
            this.due -= ticks;
            this.step(ticks);
        }
    }

    step(ticks: number): void {
        if (ticks <= 0) {
            this.stepTime = 0;
            return;
        }
        const begin = performance.now();
        for (let i = 0; i < ticks; ++i) {
            this.own.step();
        }
        this.stepTime = (performance.now() - begin) / ticks;
        this.look();
    }

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

    private look(): void {
        readBodies(this.own, this.picture);
        this.shapes.update(this.own);
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
