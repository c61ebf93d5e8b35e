// SPDX-License-Identifier: MIT

// A recording, played by the reader of cairn's programs (npm/replay.c).

import { Cairn, CairnError, CommandKind, RECORDING_KEY_SIZE, SealVerdict, Status, World } from './cairn/index.js';
import type { Mark } from './source/source.js';

const TEXT_SIZE = 512;

// What a slice of a verification found; npm/replay.c has the same numbers.
export const Verified = { MORE: 0, END: 1, ROOT: 2, KEYFRAME: 3, DAMAGED: 4 } as const;

interface Reader {
    cairn_npm_replay_open(bytes: number, size: number, out: number, text: number): number;
    cairn_npm_replay_close(replay: number): void;
    cairn_npm_replay_range(replay: number, ticks: number): void;
    cairn_npm_replay_marks(replay: number, count: number): number;
    cairn_npm_replay_player(replay: number): number;
    cairn_npm_replay_seek(replay: number, tick: bigint, text: number): number;
    cairn_npm_replay_verify(replay: number, ticks: number): number;
    cairn_npm_replay_recorded(replay: number): number;
}

export class Replay {
    readonly first: number;
    readonly last: number;
    private handle = 0;
    private readonly bytes: number;
    private readonly size: number;
    private readonly f: Reader;
    private shown: World | null = null;

    constructor(private readonly cairn: Cairn, file: Uint8Array) {
        const { memory } = cairn;
        this.f = cairn.functions as unknown as Reader;
        this.size = file.length;
        this.bytes = memory.allocate(file.length);
        memory.bytes.set(file, this.bytes);
        memory.with(16 + TEXT_SIZE, (out) => {
            const status = this.f.cairn_npm_replay_open(this.bytes, file.length, out, out + 16);
            if (status !== Status.OK) {
                memory.functions.free(this.bytes);
                throw new CairnError(status, memory.text(out + 16));
            }
            this.handle = memory.data.getUint32(out, true);
        });
        [this.first, this.last] = memory.with(16, (out) => {
            this.f.cairn_npm_replay_range(this.handle, out);
            return [0, 8].map((at) => Number(memory.readOne('u64', out + at)));
        });
    }

    // The world of the player, to be read until the next call.
    world(): World {
        const address = this.cairn.functions.cairn_player_world(this.player);
        if (this.shown?.address !== address) {
            this.shown?.release();
            this.shown = new World(this.cairn.memory, address);
        }
        return this.shown;
    }

    // Plays to the next tick; false at the end of the recording or at damage.
    next(): boolean {
        for (;;) {
            const event = this.cairn.functions.cairn_player_next(this.player);
            if (event !== 2 && event !== 3) { // a keyframe, a replaced world: read on
                return event === 1;
            }
        }
    }

    seek(tick: number): void {
        const { memory } = this.cairn;
        memory.with(TEXT_SIZE, (text) => {
            if (this.f.cairn_npm_replay_seek(this.handle, BigInt(tick), text) === 0) {
                throw new CairnError(Status.NOT_FOUND, memory.text(text));
            }
        });
    }

    // The hash that was recorded for the last tick played.
    recordedHash(): string {
        const { memory, functions } = this.cairn;
        return memory.with(56, (at) => {
            functions.cairn_player_recorded_hash(at, this.player);
            return memory.text(functions.cairn_hash_print(at, at + 16));
        });
    }

    endText(): string {
        const { memory, functions } = this.cairn;
        return memory.with(TEXT_SIZE, (text) => {
            functions.cairn_player_end_text(this.player, text);
            return memory.text(text);
        });
    }

    // `key`: hexadecimal, of the one that signed it; '' if it is not signed.
    checkSeal(): { seal: number; words: string; key: string } {
        const { memory, functions } = this.cairn;
        return memory.with(RECORDING_KEY_SIZE, (out) => {
            const seal = functions.cairn_recording_check_seal(this.bytes, this.size, out);
            const key = Array.from(memory.bytes.subarray(out, out + RECORDING_KEY_SIZE), (byte) => byte.toString(16).padStart(2, '0')).join('');
            return { seal, words: memory.text(functions.cairn_seal_text(seal)), key: seal === SealVerdict.SIGNED ? key : '' };
        });
    }

    verify(ticks: number): number { return this.f.cairn_npm_replay_verify(this.handle, ticks); }

    // After Verified.KEYFRAME: the world that was recorded.
    recordedWorld(): World {
        return new World(this.cairn.memory, this.f.cairn_npm_replay_recorded(this.handle));
    }

    marks(): Mark[] {
        const { memory } = this.cairn;
        return memory.with(4, (countAt) => {
            const at = this.f.cairn_npm_replay_marks(this.handle, countAt);
            const words = new Uint32Array(memory.functions.memory.buffer, at, 3 * memory.data.getUint32(countAt, true));
            return Array.from({ length: words.length / 3 }, (_, i) => markOf(words[3 * i], words[3 * i + 1], words[3 * i + 2]));
        });
    }

    close(): void {
        this.shown?.release();
        this.f.cairn_npm_replay_close(this.handle);
        this.cairn.functions.free(this.bytes);
    }

    private get player(): number { return this.f.cairn_npm_replay_player(this.handle); }
}

function markOf(tick: number, kind: number, slot: number): Mark {
    if (kind === CommandKind.JOIN) {
        return { tick, kind: 'join', words: `player ${slot} joined` };
    }
    if (kind === CommandKind.LEAVE) {
        return { tick, kind: 'leave', words: `player ${slot} left` };
    }
    const name = Object.entries(CommandKind).find(([, value]) => value === kind)?.[0] ?? 'REPLACED';
    return { tick, kind: 'operator', words: `operator: ${name.toLowerCase().replaceAll('_', ' ')}` };
}
