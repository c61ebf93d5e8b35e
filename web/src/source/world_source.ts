// SPDX-License-Identifier: MIT

// A source that steps one world of this page, at its own pace: what scenes, recordings and broadcasts have in common.

import type { World } from '../cairn/index.js';
import { Fact, Mark, Picture, Playback, Source } from './source.js';
import { readBodies, ShownHash, WorldShapes } from './world_picture.js';

const PASSED_MAX_MS = 500;

export abstract class WorldSource implements Source, Playback {
    readonly label = '';
    readonly beside = null;
    readonly picture = new Picture();
    readonly shapes = new WorldShapes();
    readonly playback: Playback = this;
    readonly player = 0;
    playing = true;
    speed = 1;
    stepTime = 0;
    protected readonly shownHash = new ShownHash();
    private due = 0; // ticks, with a fraction
    private before = 0;

    // A machine that is too slow for so many ticks shows a slower world.
    constructor(private readonly ticksPerFrameMax: number) {}

    abstract get title(): string;
    abstract get first(): number;
    abstract get last(): number;
    abstract world(): World;
    abstract seek(tick: number): void;
    abstract marks(): Mark[];
    abstract facts(): Fact[];
    abstract dispose(): void;
    protected abstract ticksPerSecond(): number;
    protected abstract stepOne(): boolean; // false: nothing is there to be stepped
    protected ranOut(): void { this.playing = false; }
    protected readHash(): boolean { return this.shownHash.update(this.world(), !this.playing); } // true: of a tick that it was not read of

    get hash(): string {
        this.readHash();
        return this.shownHash.text;
    }

    get hashes(): readonly { tick: number; hash: string }[] { return this.shownHash.last; }

    advance(now: number): void {
        const passed = Math.min(now - this.before, PASSED_MAX_MS);
        this.before = now;
        if (!this.playing) {
            this.stepTime = 0;
            return;
        }
        this.due = Math.min(this.due + passed * this.ticksPerSecond() * this.speed / 1000, this.ticksPerFrameMax);
        const ticks = Math.floor(this.due);
        this.due -= ticks;
        this.step(ticks);
    }

    step(ticks: number): void {
        if (ticks < 0) {
            this.seek(Math.max(this.first, this.picture.tick + ticks));
            return;
        }
        const begin = performance.now();
        let done = 0;
        while (done < ticks && this.stepOne()) {
            ++done;
            if (!this.playing) {
                this.readHash(); // of each tick that a person steps, also where two fall into one frame
            }
        }
        if (done < ticks) {
            this.ranOut();
        }
        if (done > 0) {
            this.stepTime = (performance.now() - begin) / done;
            this.look();
        }
    }

    // Shows what the world is now.
    protected look(): void {
        readBodies(this.world(), this.picture);
        this.shapes.update(this.world());
    }
}
