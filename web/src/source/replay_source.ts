// SPDX-License-Identifier: MIT

// A recording as a source: played, scrubbed, stepped in both directions.

import type { Cairn, World } from '../cairn/index.js';
import { Replay } from '../replay.js';
import { tickRate, worldFacts } from './local.js';
import { Fact, Mark, Picture, Playback, Source } from './source.js';
import { readBodies, ShownHash, WorldShapes } from './world_picture.js';

const STEPS_PER_FRAME_MAX = 16;

export class ReplaySource implements Source, Playback {
    readonly label = '';
    readonly beside = null;
    readonly picture = new Picture();
    readonly shapes = new WorldShapes();
    readonly playback: Playback = this;
    readonly player = 0;
    readonly first: number;
    readonly last: number;
    playing = true;
    speed = 1;
    stepTime = 0;
    differs: Mark | null = null;
    private readonly replay: Replay;
    private readonly events: Mark[];
    private readonly rate: number;
    private due = 0;
    private before = 0;
    private recorded = ''; // of the tick of the shown hash
    private readonly shownHash = new ShownHash();

    constructor(readonly title: string, cairn: Cairn, readonly file: Uint8Array) {
        this.replay = new Replay(cairn, file);
        this.first = this.replay.first;
        this.last = this.replay.last;
        this.events = this.replay.marks();
        this.rate = tickRate(this.world());
        this.look();
    }

    world(): World { return this.replay.world(); }
    get hash(): string {
        if (this.shownHash.update(this.world(), !this.playing)) {
            this.recorded = this.picture.tick > this.first ? this.replay.recordedHash() : '';
        }
        return this.shownHash.text;
    }

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
        }
        if (ticks > 0) {
            this.stepTime = (performance.now() - begin) / ticks;
            this.look();
        }
    }

    seek(tick: number): void {
        this.replay.seek(tick);
        this.shapes.forget();
        this.shownHash.tick = -1; // a keyframe may differ from what was stepped
        this.look();
    }

    facts(): Fact[] {
        const { hash } = this, agrees = this.recorded === '' || /^0+$/.test(this.recorded) || this.recorded === hash;
        return [{ name: 'recorded hash', value: agrees ? 'agrees' : 'differs', state: agrees ? 'good' : 'bad' },
            { name: 'seconds', value: ((this.last - this.first) / this.rate).toFixed(1) },
            ...worldFacts(this.world(), this.rate)];
    }

    dispose(): void { this.replay.close(); }

    private look(): void {
        readBodies(this.world(), this.picture);
        this.shapes.update(this.world());
    }
}
