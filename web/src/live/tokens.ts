// SPDX-License-Identifier: MIT

// What a server offers over HTTP: its rooms, and, to developers, tokens to join them.

import { CONNECT_TOKEN_SIZE } from '../cairn/index.js';

export interface Room { name: string; words: string }

// GET /rooms: [ { "name": ..., "bodies": ..., "players": ..., "clients": ... } ]. Null: no server of cairn's
// answers here.
export async function rooms(): Promise<Room[] | null> {
    try {
        const answer = await fetch('rooms');
        if (!answer.ok || !(answer.headers.get('content-type') ?? '').includes('json')) {
            return null;
        }
        return (await answer.json() as any[]).map((room) => ({ name: String(room.name ?? ''), words: describe(room) }));
    } catch {
        return null;
    }
}

function describe(room: any): string {
    const parts = ['bodies', 'players'].filter((key) => typeof room[key] === 'number')
        .map((key) => `${room[key]} ${key}`);
    return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

export async function issueToken(room: string, mode: 'player' | 'spectator', operator: boolean): Promise<Uint8Array> {
    const answer = await fetch(`token?mode=${mode}${operator ? '&right=operator' : ''}${room === '' ? '' : `&room=${encodeURIComponent(room)}`}`);
    if (!answer.ok) {
        throw new Error(`the server issues no token: ${(await answer.text()).trim().slice(0, 200) || answer.status}`);
    }
    return checked(new Uint8Array(await answer.arrayBuffer()));
}

// A token from a game's backend: 2048 bytes in base64, pasted or after "#token=" in the address.
export function parseToken(text: string): Uint8Array {
    const plain = text.trim().replaceAll('-', '+').replaceAll('_', '/');
    try {
        return checked(Uint8Array.from(atob(plain), (letter) => letter.charCodeAt(0)));
    } catch (error) {
        throw new Error(error instanceof RangeError ? error.message : 'the token is not base64');
    }
}

function checked(bytes: Uint8Array): Uint8Array {
    if (bytes.length !== CONNECT_TOKEN_SIZE) {
        throw new RangeError(`a token has ${CONNECT_TOKEN_SIZE} bytes, not ${bytes.length}`);
    }
    return bytes;
}
