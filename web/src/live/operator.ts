// SPDX-License-Identifier: MIT

// An operator's requests, over the connection of this page's client: its token must have the right, and its server --control.

import type { Client } from '../cairn/index.js';

const REQUEST_SIZE = 48, ANSWER_SIZE = 32; // as in npm/control.c
const STATE_EVERY_MS = 1000;

interface Runtime {
    cairn_npm_is_operator(client: number): number;
    cairn_npm_ask(client: number, request: number): number;
    cairn_npm_answer_take(client: number, out: number): number;
}

export type Verb = 'state' | 'pause' | 'resume' | 'reset' | 'step' | 'rate' | 'seek' | 'fork' | 'spawn-box' | 'spawn-sphere' | 'delete' |
    'set-velocity' | 'impulse';
export type Vec3 = [number, number, number];
// What a verb needs of it: ticks, a tick, a speed in thousandths or a radius; a position, an impulse or a velocity; half extents.
export interface Details { name?: string; body?: number; number?: number; a?: Vec3; b?: Vec3 }

export class Operator {
    paused = false;
    speed = 1;
    words = '';    // of the last answer but those of states
    failed = false;
    answered = 0;  // answers and failures so far, without those of states
    onFork: (name: string) => void = () => {};
    private stateAt = 0;
    private forks = new Map<number, string>();

    constructor(private readonly client: Client) {}

    private get f(): Runtime { return this.client.memory.functions as unknown as Runtime; }
    get allowed(): boolean { return this.f.cairn_npm_is_operator(this.client.address) !== 0; }

    ask(verb: Verb, { name = '', body = 0, number = 0, a = [0, 0, 0], b = [0, 0, 0] }: Details = {}): void {
        const { memory } = this.client, texts = [verb, name].map((text) => new TextEncoder().encode(`${text}\0`));
        const sent = memory.with(REQUEST_SIZE + texts[0].length + texts[1].length, (at) => {
            const verbAt = at + REQUEST_SIZE, nameAt = verbAt + texts[0].length;
            memory.bytes.set(texts[0], verbAt);
            memory.bytes.set(texts[1], nameAt);
            [verbAt, nameAt, body, 0].forEach((word, i) => memory.data.setUint32(at + 4 * i, word, true));
            memory.data.setFloat64(at + 16, number, true);
            [...a, ...b].forEach((value, i) => memory.data.setFloat32(at + 24 + 4 * i, value, true));
            return this.f.cairn_npm_ask(this.client.address, at);
        });
        if (sent === 0) {
            this.answered += 1;
            this.tell(`${verb}: could not be sent`, true);
        } else if (verb === 'fork') {
            this.forks.set(sent, name);
        }
    }

    // Takes the answers, and asks for the state now and then.
    pump(now: number): void {
        const { memory } = this.client;
        memory.with(ANSWER_SIZE, (out) => {
            while (this.f.cairn_npm_answer_take(this.client.address, out) !== 0) {
                this.take(out);
            }
        });
        if (now >= this.stateAt + STATE_EVERY_MS && this.client.playing && this.allowed) {
            this.stateAt = now;
            this.ask('state');
        }
    }

    private take(out: number): void {
        const { data, text } = { data: this.client.memory.data, text: (at: number) => this.client.memory.text(at) };
        const word = (i: number) => data.getUint32(out + 4 * i, true);
        const [number, refusal, verb, reason] = [word(0), word(1), text(word(2)), text(word(3))];
        if (verb === 'state' && refusal === 0) {
            [this.paused, this.speed] = [word(4) !== 0, word(5) / 1000];
            return;
        }
        this.answered += 1;
        this.stateAt = 0; // what changed is asked soon
        this.tell(refusal === 0 ? `${verb}: done, tick ${data.getBigUint64(out + 24, true)}` : `${verb}: ${reason}`, refusal !== 0);
        const fork = this.forks.get(number);
        this.forks.delete(number);
        if (fork !== undefined && refusal === 0) {
            this.onFork(fork);
        }
    }

    private tell(words: string, failed: boolean): void {
        [this.words, this.failed] = [words, failed];
    }
}
