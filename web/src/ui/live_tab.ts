// SPDX-License-Identifier: MIT

// The tab of rooms: which one, as what, in which mode.

import type { LiveMode } from '../source/live.js';
import { Room } from '../live/tokens.js';
import { button, element, section, select, toggle } from './dom.js';

export interface Choice { room: string; spectator: boolean; mode: LiveMode; token: string; operator: boolean }

// What a newcomer understands, and the client's mode for it.
const WAYS: Record<string, { text: string; mode: LiveMode; spectator: boolean }> = {
    watch: { text: 'watch (snapshots)', mode: 'INTERPOLATE', spectator: true },
    follow: { text: 'watch as a peer (lockstep)', mode: 'HEAL', spectator: true },
    play: { text: 'play (predicted)', mode: 'PREDICT', spectator: false },
    lockstep: { text: 'play (lockstep)', mode: 'LOCKSTEP', spectator: false },
    heal: { text: 'play (healed lockstep)', mode: 'HEAL', spectator: false },
};

const ROOM_LABEL = 'Room';

// Puts newer rooms into the list that is shown.
export function renewRooms(panel: HTMLElement, rooms: Room[]): void {
    const list = panel.querySelector<HTMLSelectElement>(`select[aria-label=${ROOM_LABEL}]`);
    if (list !== null && list !== document.activeElement) {
        const chosen = list.value;
        list.replaceChildren(...rooms.map(({ name, words }) => element('option', { value: name }, name + words)));
        list.value = rooms.some(({ name }) => name === chosen) ? chosen : rooms[0]?.name ?? '';
    }
}

export function liveTab(rooms: Room[] | null, chosen: Partial<Choice>, join: (choice: Choice) => void, leave: (() => void) | null): HTMLElement {
    if (rooms === null) {
        return section('Room', element('p', {}, 'No server answers here. Start one with'),
            element('p', { class: 'mono' }, 'cairnd --dev --web 127.0.0.1:8080'), element('p', {}, 'and open its address.'));
    }
    const room = select(ROOM_LABEL, rooms.map(({ name, words }) => [name, name + words] as const), chosen.room || (rooms[0]?.name ?? ''), () => {});
    const first = Object.keys(WAYS).find((key) => WAYS[key].mode === chosen.mode && WAYS[key].spectator === chosen.spectator) ?? 'play';
    const way = select('As', Object.entries(WAYS).map(([key, { text }]) => [key, text] as const), first, () => {});
    const token = element('input', { type: 'text', hint: 'token (base64), if the server issues none', 'aria-label': 'Token', value: chosen.token ?? '' });
    const operator = toggle('operator', 'Ask the server for the operator\'s right', chosen.operator ?? false, () => {});
    const go = button(leave === null ? 'join' : 'join again', 'Join the room',
        () => join({ room: room.value, spectator: WAYS[way.value].spectator, mode: WAYS[way.value].mode, token: token.value,
            operator: operator.getAttribute('aria-pressed') === 'true' }));
    go.classList.add('primary');
    token.style.width = '100%';
    return section('Room', element('div', { class: 'row' }, room), element('div', { class: 'row' }, way, operator, go,
        ...(leave === null ? [] : [button('leave', 'Leave the room', leave)])), element('div', { class: 'row' }, token),
        element('p', {}, 'W A S D move, space jumps, E pushes, F throws, Q spawns; drag turns. A gamepad works, too.'));
}
