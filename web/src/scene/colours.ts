// SPDX-License-Identifier: MIT

// The colours of bodies: stones by their id, players by their slot, and what an overlay says instead.

import { BodyKind } from '../cairn/index.js';
import { Picture, SLOT_NONE } from '../source/source.js';

const STONES = [0xc98b5b, 0x8fa08a, 0xd9b26f, 0x7d8fa3, 0xb9735a, 0xa79a86, 0x6f8d8c];
const PLAYERS = [0x2b74d9, 0x2f9e58, 0xe0a100, 0x8a4fd1, 0x12a5b8, 0xe0559a, 0x6b5b4b, 0x7a9a1f];
const STATIC = 0x9a9fa5;
const KINEMATIC = 0x4f83c9;
const AWAKE = 0xe58a2e;
const ASLEEP = 0x64707c;
const SELECTED = 0xffe14d;
const DIFFERS = 0xff2d20;
const SENT = [[2, 0x2fae5a], [30, 0xd9b82f], [Infinity, 0x5a6f96]] as const; // up to so many ticks ago

export interface Marking {
    sleep: boolean;
    islands: Map<number, number> | null; // body -> colour
    selected: number;                    // id of a body; 0: none
    differs: Set<number>;
    ageOf: ((body: number) => number) | null; // ticks since the server sent it
}

export function colourOf(picture: Picture, i: number, marking: Marking): number {
    const id = picture.id[i];
    if (marking.differs.has(id)) {
        return DIFFERS;
    }
    if (id === marking.selected) {
        return SELECTED;
    }
    if (picture.kind[i] === BodyKind.STATIC) {
        return STATIC;
    }
    if (marking.ageOf !== null) {
        const age = marking.ageOf(id);
        return SENT.find(([ticks]) => age <= ticks)![1];
    }
    if (marking.islands !== null) {
        return marking.islands.get(id) ?? ASLEEP;
    }
    if (marking.sleep) {
        return picture.awake[i] !== 0 ? AWAKE : ASLEEP;
    }
    if (picture.owner[i] !== SLOT_NONE) {
        return PLAYERS[picture.owner[i] % PLAYERS.length];
    }
    return picture.kind[i] === BodyKind.KINEMATIC ? KINEMATIC : STONES[(id & 0xfffff) * 7 % 31 % STONES.length];
}
