// SPDX-License-Identifier: MIT

// A broadcast (docs/PROTOCOL.md): a room's segments in a folder of any HTTP server. Each segment is a recording: its seal is
// checked, each of its ticks is stepped and compared, and it must begin with the state that the one before ended with.

import { Cairn, SealVerdict, World } from '../cairn/index.js';
import { Replay, Verified } from '../replay.js';
import { tickRate, worldFacts } from './local.js';
import type { Fact, Mark } from './source.js';
import { WorldSource } from './world_source.js';

const POLL_MS = 1000;
const AHEAD = 4;             // segments that are fetched before they are needed
const KEPT = 64;             // segments that are held, for going back
const SEGMENT_S = 2;
const DELAY_S = 2;           // of ticks besides, so that a late segment is not noticed
const BEHIND_MAX_S = 20;     // of ticks that have arrived; more are left out
const TICKS_PER_FRAME_MAX = 32;
const SEGMENT_SIZE_MAX = 1 << 28;
const MISSED_MAX = 3;        // then it is left out
const MARKS_MAX = 4096;

interface Segment { number: number; first: number; ticks: number; bytes: number }
interface Index { room: string; live: boolean; oldest: number; rate: number; segments: Segment[] }

export class BroadcastSource extends WorldSource {
    title = '';
    verified = 0;    // ticks that were stepped and agreed
    differed = 0;    // ticks and keyframes that did not
    segments = 0;    // that were played to their end
    breaks = 0;      // segments that do not continue the one before
    refused = '';    // why the last segment that was refused is not played
    waiting = false; // for a segment
    private index!: Index;
    private readonly known = new Map<number, Segment>();
    private readonly files = new Map<number, Uint8Array>();
    private readonly fetching = new Set<number>();
    private number = -1; // of the segment that is played
    private replay!: Replay;
    private signer = '';
    private end: { tick: number; hash: string } | null = null; // of the segment before
    private wanted = -1; // a tick to seek in the next segment that is opened; -1: its first
    private events: Mark[] = [];
    private timer = 0;
    private trouble = '';
    private missed = 0; // times in a row that a listed segment was not there
    private disposed = false;

    private constructor(private readonly cairn: Cairn, private readonly folder: URL, private readonly key: string) {
        super(TICKS_PER_FRAME_MAX);
    }

    // `address` is that of the folder or of its index; `key`: hexadecimal, of the signer that is expected, or ''.
    static async open(cairn: Cairn, address: string, key: string): Promise<BroadcastSource> {
        const source = new BroadcastSource(cairn, new URL('.', new URL(address, document.baseURI)), key.toLowerCase());
        await source.readIndex();
        source.number = (source.index.live ? source.liveNumber() : source.index.segments[0].number) - 1;
        await source.fetchSegment(source.number + 1);
        source.openNext();
        if (source.replay === undefined) {
            throw new Error(source.refused || 'the broadcast has no segment yet');
        }
        source.timer = window.setInterval(() => void source.poll(), POLL_MS);
        return source;
    }

    // ---- what the page shows

    get first(): number { return Math.min(...[...this.known.values()].map((each) => each.first)); }
    get last(): number { return Math.max(...[...this.known.values()].map((each) => each.first + each.ticks)); }

    world(): World { return this.replay.world(); }
    marks(): Mark[] { return this.events; }

    facts(): Fact[] {
        const bad = (count: number) => count === 0 ? 'good' : 'bad';
        return [{ name: 'broadcast', value: this.trouble || (!this.index.live ? 'has ended' : this.waiting ? 'waits for a segment' : 'live'),
            state: this.trouble === '' ? undefined : 'bad' },
        { name: 'behind, s', value: ((this.last - this.picture.tick) / this.index.rate).toFixed(1) },
        { name: 'signed by', value: this.signer === '' ? 'nobody' : this.signer.slice(0, 16) + '…', state: this.signer === '' ? undefined : 'good' },
        { name: 'ticks verified', value: String(this.verified), state: 'good' },
        { name: 'that differed', value: String(this.differed), state: bad(this.differed) },
        { name: 'breaks between segments', value: String(this.breaks), state: bad(this.breaks) },
        ...(this.refused === '' ? [] : [{ name: 'refused', value: this.refused, state: 'bad' as const }]),
        ...worldFacts(this.world(), tickRate(this.world()))];
    }

    override advance(now: number): void {
        if (this.playing && this.follows && this.index.live && this.last - this.picture.tick > BEHIND_MAX_S * this.index.rate) {
            this.goLive(); // a machine that is too slow
        }
        super.advance(now);
    }

    override step(ticks: number): void {
        this.waiting = false;
        super.step(ticks);
    }

    protected override ranOut(): void {
        this.waiting = true;
        if (!this.index.live && !this.known.has(this.number + 1)) {
            this.playing = false;
        }
    }

    protected ticksPerSecond(): number { return this.index.rate * this.pace(); }

    seek(tick: number): void {
        this.follows = false;
        const found = [...this.known.values()].find(({ first, ticks }) => tick >= first && tick < first + ticks) ?? this.known.get(this.liveNumber());
        if (found === undefined) {
            return;
        }
        this.wanted = Math.min(tick, found.first + found.ticks);
        this.end = null;
        this.number = found.number - 1;
        this.openNext();
        void this.attempt(() => this.fetchAhead());
    }

    goLive(): void {
        this.seek(this.known.get(this.liveNumber())!.first);
        this.playing = this.follows = true;
    }

    dispose(): void {
        this.disposed = true;
        clearInterval(this.timer);
        this.replay.close();
    }

    // ---- playing

    protected stepOne(): boolean {
        if (this.wanted >= 0) { // a seek waits for its segment
            this.openNext();
            return false;
        }
        for (;;) {
            const found = this.replay.verify(1);
            if (found === Verified.MORE) {
                this.verified += 1;
                return true;
            }
            if (found === Verified.ROOT || found === Verified.KEYFRAME) {
                this.differs(`tick ${this.world().tick} differs from what was recorded`);
                if (found === Verified.ROOT) {
                    return true;
                }
            } else {
                if (found === Verified.DAMAGED) {
                    this.refused = `segment ${this.number}: ${this.replay.endText()}`;
                }
                if (!this.openNext()) {
                    return false;
                }
            }
        }
    }

    private differs(words: string): void {
        this.differed += 1;
        this.mark({ tick: Number(this.world().tick), kind: 'differs', words });
    }

    private mark(mark: Mark): void {
        if (this.events.length < MARKS_MAX && !this.events.some((each) => each.tick === mark.tick && each.words === mark.words)) {
            this.events = [...this.events, mark];
        }
    }

    // Opens the segment after the one that is played. False: it has not arrived, or is refused.
    private openNext(): boolean {
        const number = this.number + 1, file = this.files.get(number);
        if (file === undefined) {
            return false;
        }
        let next: Replay;
        try {
            next = new Replay(this.cairn, file);
        } catch (error) {
            return this.refuse(number, String((error as Error).message));
        }
        const { seal, words, key } = next.checkSeal();
        const good = seal === SealVerdict.SIGNED || (seal === SealVerdict.UNSIGNED && this.key === '' && this.signer === '');
        const wrongKey = seal === SealVerdict.SIGNED && key !== (this.key || this.signer || key);
        if (!good || wrongKey) {
            next.close();
            return this.refuse(number, wrongKey ? `signed by another key, ${key}` : words);
        }
        this.signer = seal === SealVerdict.SIGNED ? key : '';
        this.take(number, next);
        return true;
    }

    private take(number: number, next: Replay): void {
        const played = this.replay as Replay | undefined;
        if (played !== undefined && this.wanted < 0) {
            this.end = { tick: Number(played.world().tick), hash: played.world().hash() };
            this.segments += 1;
        }
        const begin = next.world();
        if (this.end !== null && (Number(begin.tick) !== this.end.tick || begin.hash() !== this.end.hash)) {
            this.breaks += 1;
            this.shapes.forget();
            this.mark({ tick: Number(begin.tick), kind: 'differs', words: `segment ${number} does not continue the one before` });
        }
        next.marks().forEach((mark) => this.mark(mark));
        if (this.wanted >= 0) {
            next.seek(Math.max(this.wanted, next.first));
            this.shapes.forget();
            this.wanted = -1;
        }
        this.number = number;
        this.replay = next;
        played?.close();
        this.shownHash.tick = -1;
        this.look();
    }

    private refuse(number: number, why: string): false {
        this.refused = `segment ${number}: ${why}`;
        this.files.delete(number);
        this.known.delete(number);
        this.number = number; // the next one may be good; that it does not continue is seen
        return false;
    }

    // A little faster if much waits, a little slower if little does. The viewer follows what is live, unless it was sent back.
    private pace(): number {
        const behind = (this.last - this.picture.tick) / this.index.rate - SEGMENT_S;
        return this.index.live && this.follows ? 1 + Math.min(Math.max((behind - DELAY_S) / 20, -0.1), 0.25) : 1;
    }
    private follows = true;

    // ---- fetching

    // The segment with which a viewer of what is live begins: what follows it lasts until the next one is there.
    private liveNumber(): number {
        const { segments } = this.index;
        return segments[Math.max(0, segments.length - 2)].number;
    }

    private async poll(): Promise<void> {
        if (!this.polling) {
            this.polling = true;
            await this.attempt(async () => {
                await this.readIndex();
                await this.fetchAhead();
            });
            this.polling = false;
        }
    }
    private polling = false;

    // A server that does not answer is asked again.
    private async attempt(action: () => Promise<void>): Promise<void> {
        try {
            await action();
            this.trouble = '';
        } catch (error) {
            this.trouble = String((error as Error).message);
        }
    }

    private async readIndex(): Promise<void> {
        const answer = await fetch(new URL('index.json', this.folder), { cache: 'no-cache' });
        if (!answer.ok) {
            throw new Error(`index.json: ${answer.status} ${answer.statusText}`);
        }
        this.index = parseIndex(await answer.json());
        this.title = this.index.room;
        for (const segment of this.index.segments) {
            this.known.set(segment.number, segment);
        }
        for (const number of [...this.known.keys()].sort((a, b) => a - b).slice(0, -KEPT)) {
            this.known.delete(number);
            this.files.delete(number);
        }
    }

    private async fetchAhead(): Promise<void> {
        const next = this.number + 1;
        if (next < this.index.oldest && !this.files.has(next)) {
            this.goLive(); // what would follow was deleted
        }
        for (let number = this.number + 1; number <= this.number + AHEAD && this.known.has(number); ++number) {
            await this.fetchSegment(number);
        }
    }

    private async fetchSegment(number: number): Promise<void> {
        if (this.files.has(number) || this.fetching.has(number)) {
            return;
        }
        this.fetching.add(number);
        try {
            const name = `${String(number).padStart(8, '0')}.cairn`, answer = await fetch(new URL(name, this.folder));
            if (!answer.ok) {
                const why = `${answer.status} ${answer.statusText}`;
                this.missed += 1;
                if (this.missed >= MISSED_MAX && number === this.number + 1) {
                    this.refuse(number, why);
                }
                throw new Error(`${name}: ${why}`);
            }
            this.missed = 0;
            this.files.set(number, new Uint8Array(await answer.arrayBuffer()));
            if (this.wanted >= 0 && !this.disposed) {
                this.openNext(); // also while it is paused
            }
        } finally {
            this.fetching.delete(number);
        }
    }
}

function parseIndex(json: any): Index {
    const whole = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
    const segments = Array.isArray(json?.segments) ? json.segments : [];
    if (json?.format !== 1 || !whole(json.tick_rate_hz) || json.tick_rate_hz < 1 || !whole(json.oldest) || segments.length === 0 ||
        !segments.every((each: any) => whole(each.number) && whole(each.first_tick) && whole(each.ticks) && whole(each.bytes) &&
            each.bytes <= SEGMENT_SIZE_MAX)) {
        throw new Error('index.json is not that of a broadcast with segments');
    }
    return { room: String(json.room), live: json.live === true, oldest: json.oldest, rate: json.tick_rate_hz,
        segments: segments.map((each: any) => ({ number: each.number, first: each.first_tick, ticks: each.ticks, bytes: each.bytes })) };
}
