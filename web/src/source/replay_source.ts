// SPDX-License-Identifier: MIT

// A recording as a source: played, scrubbed, stepped in both directions.

import type { Cairn, World } from '../cairn/index.js';
import { Replay } from '../replay.js';
import { tickRate, worldFacts } from './local.js';
import { Fact, Mark, Picture, Playback, Source } from './source.js';
import { readBodies, WorldShapes } from './world_picture.js';

const STEPS_PER_FRAME_MAX = 16;

export class ReplaySource implements Source, Playback {
    readonly picture = new Picture();
    readonly shapes = new WorldShapes();
    readonly playback: Playback = this;
    readonly player = 0;
    readonly first: number;
    readonly last: number;
    playing = true;
    speed = 1;
    hash = '';
    stepTime = 0;
    differs: Mark | null = null;
    private readonly replay: Replay;
    private readonly events: Mark[];
    private readonly rate: number;
    private due = 0;
    private before = 0;
    private recorded = '';

    constructor(readonly title: string, cairn: Cairn, readonly file: Uint8Array) {
        this.replay = new Replay(cairn, file);
        this.first = this.replay.first;
        this.last = this.replay.last;
        this.events = this.replay.marks();
        this.rate = tickRate(this.world());
        this.look();
    }

    world(): World { return this.replay.world(); }
    marks(): Mark[] { return this.differs === null ? this.events : [...this.events, this.differs]; }

    advance(now: number): void {
        const passed = Math.min(now - this.before, 250);
        this.before = now;
        if (!this.playing) {
            this.stepTime = 0;
            return;
        }
        this.due = Math.min(this.due + passed * this.rate * this.speed / 1000, STEPS_PER_FRAME_MAX);
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
        for (let i = 0; i < ticks; ++i) {
            if (this.picture.tick + i >= this.last || !this.replay.next()) {
                this.playing = false;
                break;
            }
            this.recorded = this.replay.recordedHash();
        }
        if (ticks > 0) {
            this.stepTime = (performance.now() - begin) / ticks;
            this.look();
        }
    }

    seek(tick: number): void {
        this.replay.seek(tick);
        this.recorded = tick > this.first ? this.replay.recordedHash() : '';
        this.shapes.forget();
        this.look();
    }

    facts(): Fact[] {
        const agrees = this.recorded === '' || /^0+$/.test(this.recorded) || this.recorded === this.hash;
        return [{ name: 'recorded hash', value: agrees ? 'agrees' : 'differs', state: agrees ? 'good' : 'bad' },
            { name: 'seconds', value: ((this.last - this.first) / this.rate).toFixed(1) },
            ...worldFacts(this.world(), this.rate)];
    }

    dispose(): void { this.replay.close(); }

    private look(): void {
        readBodies(this.world(), this.picture);
        this.shapes.update(this.world());
        this.hash = this.world().hash();
    }
}
