// SPDX-License-Identifier: MIT

// The states of a world's last ticks, for rollback: functions of <cairn/history.h>, which says what
// they do. Ticks share what did not change, so a save costs what changed and a restore what differs.

import type { HistoryStatistics } from './generated.js';
import { layouts, Status } from './generated.js';
import { CairnError, Memory, Runtime } from './memory.js';
import type { World } from './world.js';

export type Tick = bigint | number;

const ANY = 0xffffffffffffffffn;

export interface HistoryOptions {
    ticks: number; // states held at most
    bytes: number; // of memory, which the module takes at once; older states go when it is full
}

export class History {
    private readonly memory: Memory;
    private handle: number;

    constructor(readonly world: World, options: HistoryOptions) {
        this.memory = world.memory;
        this.handle = this.memory.with(4, (out) => {
            this.memory.check('history', this.f.cairn_history_create(world.address, options.ticks, options.bytes, out));
            return this.memory.data.getUint32(out, true);
        });
    }

    private get f(): Runtime { return this.memory.functions; }

    get address(): number {
        if (this.handle === 0) {
            throw new CairnError(Status.WRONG_STATE, 'the history was destroyed');
        }
        return this.handle;
    }

    destroy(): void {
        this.f.cairn_history_destroy(this.handle);
        this.handle = 0;
    }

    // Saves the state of the world under its tick. None of a tick from `keepFrom` on is dropped to
    // make room.
    save(keepFrom: Tick = ANY): void {
        this.memory.check('save', this.f.cairn_history_save(this.address, BigInt(keepFrom)));
    }

    restore(tick: Tick): void {
        this.memory.check(`restore of tick ${tick}`, this.f.cairn_history_restore(this.address, BigInt(tick)));
    }

    // Puts a state into another world with the same settings.
    load(tick: Tick, into: World): void {
        this.memory.check(`load of tick ${tick}`, this.f.cairn_history_load(this.address, BigInt(tick), into.address));
    }

    // As World.hash gave it at that tick.
    hash(tick: Tick): string {
        const { size, fields } = layouts.cairn_world_hash;
        return this.memory.with(size, (out) => {
            this.memory.check(`hash of tick ${tick}`, this.f.cairn_history_hash(this.address, BigInt(tick), out));
            return this.memory.hash(out + fields.find((field) => field[0] === 'full')![2]);
        });
    }

    holds(tick: Tick): boolean { return Boolean(this.f.cairn_history_holds(this.address, BigInt(tick))); }
    dropFrom(tick: Tick): void { this.f.cairn_history_drop_from(this.address, BigInt(tick)); }
    dropBefore(tick: Tick): void { this.f.cairn_history_drop_before(this.address, BigInt(tick)); }

    get statistics(): HistoryStatistics {
        return this.memory.with(layouts.cairn_history_statistics.size, (out) => {
            this.f.cairn_history_statistics_read(out, this.address);
            return this.memory.read('cairn_history_statistics', out);
        });
    }
}
