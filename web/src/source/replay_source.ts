// SPDX-License-Identifier: MIT

// A recording as a source: played, scrubbed, stepped in both directions.

import type { Cairn, World } from '../cairn/index.js';
import { Replay } from '../replay.js';
import { tickRate, worldFacts } from './local.js';
import type { Fact, Mark } from './source.js';
import { WorldSource } from './world_source.js';

const TICKS_PER_FRAME_MAX = 16;

export class ReplaySource extends WorldSource {
    readonly first: number;
    readonly last: number;
    differs: Mark | null = null;
    private readonly replay: Replay;
    private readonly events: Mark[];
    private readonly rate: number;
    private recorded = ''; // of the tick of the shown hash

    constructor(readonly title: string, cairn: Cairn, readonly file: Uint8Array) {
        super(TICKS_PER_FRAME_MAX);
        this.replay = new Replay(cairn, file);
        this.first = this.replay.first;
        this.last = this.replay.last;
        this.events = this.replay.marks();
        this.rate = tickRate(this.world());
        this.look();
    }

    world(): World { return this.replay.world(); }

    marks(): Mark[] { return this.differs === null ? this.events : [...this.events, this.differs]; }

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

    protected ticksPerSecond(): number { return this.rate; }
    protected readHash(): boolean {
        const read = super.readHash();
        if (read) {
            this.recorded = this.shownHash.tick > this.first ? this.replay.recordedHash() : '';
        }
        return read;
    }
    protected stepOne(): boolean { return Number(this.world().tick) < this.last && this.replay.next(); }
}
