// SPDX-License-Identifier: MIT

// What the server sends to this page's client: how old each body's last sample is, and which bodies it sends no more, because they left the
// client's view or the world.

import type { Client } from '../cairn/index.js';
import type { Picture } from '../source/source.js';

const LEFT_MS = 10000;     // for so long a body that is not sent any more is shown where it was
const LEFT_MAX = 4096;
const ROW = 8;             // bytes, as in npm/interest.c

interface Runtime {
    cairn_npm_interest_is_partial(client: number): number;
    cairn_npm_interest_read(client: number, out: number, capacity: number): number;
}
type Place = [number, number, number];

export class Interest {
    partial = false;                            // false: the whole room is sent
    readonly left = new Map<number, Place>();   // by id
    private readonly leftAt = new Map<number, number>();
    private ages = new Map<number, number>();   // ticks, by id
    private places = new Map<number, Place>();  // in the last picture

    constructor(private readonly client: Client) {}

    // Ticks since the body's last sample; a body at rest needs none.
    ageOf(body: number): number { return this.partial ? this.ages.get(body) ?? 0 : 0; }

    // How many bodies the newest snapshot has samples of.
    get fresh(): number {
        let count = 0;
        this.ages.forEach((age) => { count += age === 0 ? 1 : 0; });
        return count;
    }

    // Once a frame.
    update(picture: Picture, now: number): void {
        const { memory, address } = this.client, functions = memory.functions as unknown as Runtime;
        this.partial = functions.cairn_npm_interest_is_partial(address) !== 0;
        if (!this.partial) {
            return;
        }
        const count = functions.cairn_npm_interest_read(address, 0, 0), ages = new Map<number, number>();
        memory.with(ROW * count, (out) => {
            functions.cairn_npm_interest_read(address, out, count);
            for (let i = 0; i < count; ++i) {
                ages.set(memory.data.getUint32(out + ROW * i, true), memory.data.getUint32(out + ROW * i + 4, true));
            }
        });
        this.ages = ages;
        this.notice(picture, now);
    }

    private notice(picture: Picture, now: number): void {
        const places = new Map<number, Place>();
        for (let i = 0; i < picture.count; ++i) {
            places.set(picture.id[i], [picture.pose[7 * i], picture.pose[7 * i + 1], picture.pose[7 * i + 2]]);
            this.left.delete(picture.id[i]);
        }
        this.places.forEach((place, id) => {
            if (!places.has(id) && this.left.size < LEFT_MAX) {
                this.left.set(id, place);
                this.leftAt.set(id, now);
            }
        });
        this.places = places;
        this.leftAt.forEach((at, id) => {
            if (now - at > LEFT_MS || !this.left.has(id)) {
                this.left.delete(id);
                this.leftAt.delete(id);
            }
        });
    }
}
