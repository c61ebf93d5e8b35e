// SPDX-License-Identifier: MIT

// Verifies a recording: steps it again and compares every state hash and keyframe.

import type { Cairn, World } from './cairn/index.js';
import { Replay, Verified } from './replay.js';
import { tickRate } from './source/local.js';

export interface Progress { ticks: number; of: number; seconds: number; rate: number } // rate: times real time
export interface Verdict extends Progress {
    good: boolean;
    words: string;
    tick: number;   // the first that differs; -1: none
    body: number;   // of the largest difference in the next keyframe; 0: not known
}
export interface VerifyRequest { module: WebAssembly.Module; file: Uint8Array }
export type VerifyMessage = { progress: Progress } | { verdict: Verdict };

const SLICE = 120; // ticks between two reports

export function verify(cairn: Cairn, file: Uint8Array, report: (progress: Progress) => void): Verdict {
    const replay = new Replay(cairn, file);
    const begin = performance.now();
    const rate = tickRate(replay.world());
    const first = Number(replay.world().tick);
    const progress = (): Progress => {
        const ticks = Number(replay.world().tick) - first, seconds = (performance.now() - begin) / 1000;
        return { ticks, of: replay.last - first, seconds, rate: ticks / rate / Math.max(seconds, 1e-6) };
    };
    let found: number = Verified.MORE;
    while (found === Verified.MORE) {
        report(progress());
        found = replay.verify(SLICE);
    }
    const result = { ...progress(), good: found === Verified.END, words: '', tick: -1, body: 0 };
    if (found === Verified.END) {
        result.words = `every state hash agrees; ${replay.endText()}`;
    } else if (found === Verified.DAMAGED) {
        result.words = replay.endText();
    } else {
        Object.assign(result, difference(replay, found));
    }
    replay.close();
    return result;
}

// Where the recording begins to differ, and in which body.
function difference(replay: Replay, found: number): { tick: number; body: number; words: string } {
    const tick = Number(replay.world().tick);
    while (found === Verified.ROOT || found === Verified.MORE) {
        found = replay.verify(1);
    }
    if (found !== Verified.KEYFRAME) {
        return { tick, body: 0, words: `differs since tick ${tick}; no keyframe follows that would name a body` };
    }
    const recorded = replay.recordedWorld(), stepped = replay.world();
    const [{ section, field }] = recorded.differences(stepped, 1);
    const body = largestDifference(recorded, stepped);
    const words = `differs since tick ${tick}; in the keyframe of tick ${stepped.tick}: ${section}, ${field}` +
        (body !== 0 ? `; most in body ${body}` : '');
    recorded.release();
    return { tick, body, words };
}

// The body that is farthest from where it was recorded.
function largestDifference(recorded: World, stepped: World): number {
    const a = recorded.bodies(), b = stepped.bodies();
    let body = 0, most = 0;
    for (let i = 0; i < Math.min(a.count, b.count); ++i) {
        const p = a.position(i), q = b.position(i), v = a.linearVelocity(i), w = b.linearVelocity(i);
        const distance = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) + Math.hypot(v[0] - w[0], v[1] - w[1], v[2] - w[2]);
        if (distance > most) {
            most = distance;
            body = a.id(i);
        }
    }
    return body;
}
