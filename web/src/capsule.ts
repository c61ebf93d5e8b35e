// SPDX-License-Identifier: MIT

// A desync capsule (npm/capsule.c): the state on which a client and its server agreed, the step that
// this page makes of it, and the state that the client reached.

import { Cairn, CairnError, Status, World } from './cairn/index.js';

const TEXT_SIZE = 512;
const Side = { BEFORE: 0, SERVER: 1, CLIENT: 2, AGAIN: 3 } as const; // as in npm/capsule.c

interface Reader {
    cairn_npm_capsule_is(bytes: number, size: number): number;
    cairn_npm_capsule_open(bytes: number, size: number, out: number, text: number): number;
    cairn_npm_capsule_close(capsule: number): void;
    cairn_npm_capsule_world(capsule: number, side: number): number;
    cairn_npm_capsule_hash(capsule: number, side: number): number;
    cairn_npm_capsule_build(capsule: number, side: number): number;
    cairn_npm_capsule_words(capsule: number, counts: number): number;
}

// A word in which the client's state differs from the server's.
export interface DifferentWord { section: string; field: string; element: number; bodies: number[]; server: string; client: string }

// '': the file does not say.
export interface CapsuleHashes { before: string; server: string; client: string; again: string; stepped: string }

export class Capsule {
    readonly before: World;
    readonly server: World;        // as this page steps it
    readonly client: World | null; // null: the file does not hold it
    readonly hashes: CapsuleHashes;
    readonly builds: { server: string; client: string };
    readonly words: DifferentWord[];
    readonly total: number; // words that differ, at least those in `words`
    private readonly bytes: number;
    private readonly f: Reader;
    private handle = 0;

    constructor(private readonly cairn: Cairn, file: Uint8Array) {
        const { memory } = cairn;
        this.f = readerOf(cairn);
        this.bytes = memory.allocate(file.length);
        memory.bytes.set(file, this.bytes);
        memory.with(16 + TEXT_SIZE, (out) => {
            const status = this.f.cairn_npm_capsule_open(this.bytes, file.length, out, out + 16);
            if (status !== Status.OK) {
                memory.functions.free(this.bytes);
                throw new CairnError(status, memory.text(out + 16));
            }
            this.handle = memory.data.getUint32(out, true);
        });
        const worldOf = (side: number) => this.f.cairn_npm_capsule_world(this.handle, side);
        const hashOf = (side: number) => memory.hash(this.f.cairn_npm_capsule_hash(this.handle, side)).replace(/^0+$/, '');
        this.before = new World(memory, worldOf(Side.BEFORE));
        this.server = new World(memory, worldOf(Side.SERVER));
        this.client = worldOf(Side.CLIENT) === 0 ? null : new World(memory, worldOf(Side.CLIENT));
        this.hashes = { before: hashOf(Side.BEFORE), server: hashOf(Side.SERVER), client: hashOf(Side.CLIENT), again: hashOf(Side.AGAIN),
            stepped: this.server.hash() };
        const buildOf = (side: number) => memory.text(this.f.cairn_npm_capsule_build(this.handle, side));
        this.builds = { server: buildOf(Side.SERVER), client: buildOf(Side.CLIENT) };
        [this.words, this.total] = this.readWords();
    }

    close(): void {
        this.before.release();
        this.server.release();
        this.client?.release();
        this.f.cairn_npm_capsule_close(this.handle);
        this.cairn.functions.free(this.bytes);
    }

    private readWords(): [DifferentWord[], number] {
        const { memory } = this.cairn;
        return memory.with(8, (counts) => {
            const at = this.f.cairn_npm_capsule_words(this.handle, counts);
            const [held, total] = [memory.data.getUint32(counts, true), memory.data.getUint32(counts + 4, true)];
            const raw = new Uint32Array(memory.functions.memory.buffer, at, 8 * held);
            return [Array.from({ length: held }, (_, i): DifferentWord => {
                const [section, field, element, first, second, isFloat, server, client] = raw.subarray(8 * i, 8 * i + 8);
                return { section: memory.text(section), field: memory.text(field), element, bodies: [first, second].filter((body) => body !== 0),
                    server: wordText(server, isFloat !== 0), client: wordText(client, isFloat !== 0) };
            }), total];
        });
    }
}

export function isCapsule(cairn: Cairn, file: Uint8Array): boolean {
    const { memory } = cairn, bytes = memory.allocate(file.length);
    memory.bytes.set(file, bytes);
    const found = readerOf(cairn).cairn_npm_capsule_is(bytes, file.length) !== 0;
    memory.functions.free(bytes);
    return found;
}

function readerOf(cairn: Cairn): Reader { return cairn.functions as unknown as Reader; }

function wordText(bits: number, isFloat: boolean): string {
    const hexadecimal = `0x${bits.toString(16).padStart(8, '0')}`;
    const float = new Float32Array(Uint32Array.of(bits).buffer)[0];
    return isFloat ? `${Number(float.toPrecision(9))} (${hexadecimal})` : hexadecimal;
}
