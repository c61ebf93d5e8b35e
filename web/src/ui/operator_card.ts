// SPDX-License-Identifier: MIT

// What an operator may do in the room.

import type { Operator, Vec3 } from '../live/operator.js';
import { button, element, section, select, toggle } from './dom.js';

const SPEEDS = [['100', '×0.1'], ['250', '×0.25'], ['1000', '×1'], ['2000', '×2'], ['4000', '×4']] as const;
const HALF: Vec3 = [0.4, 0.4, 0.4]; // m
const RADIUS = 0.4;
const ABOVE = 3; // m, over what is looked at

export class OperatorCard {
    readonly root: HTMLElement;
    private readonly drag: HTMLButtonElement;
    private readonly pause: HTMLButtonElement;
    private readonly words = element('p', { role: 'status' });

    // `target`: what is looked at; `selected`: the body that was clicked; `tick`: of the picture.
    constructor(private readonly operator: Operator, target: () => Vec3, selected: () => number, tick: () => number) {
        this.pause = button('pause', 'Pause or resume the room', () => operator.ask(operator.paused ? 'resume' : 'pause'));
        const rate = select('Speed of the room', SPEEDS, '1000', (value) => operator.ask('rate', { number: Number(value) }));
        const to = element('input', { type: 'text', inputmode: 'numeric', hint: 'tick', 'aria-label': 'Tick to seek', size: '8' });
        const name = element('input', { type: 'text', hint: 'name', 'aria-label': 'Name of the new room', size: '8' });
        this.drag = toggle('drag', 'While this is pressed, a finger or the pointer moves bodies, without Alt', false, () => {});
        const above = (): Vec3 => { const [x, y, z] = target(); return [x, Math.max(y, 0) + ABOVE, z]; };
        this.root = section('Operator', element('div', { class: 'row' }, this.pause, button('step', 'One tick, while it is paused', () => operator.ask('step', { number: 1 })),
            button('step 60', 'Sixty ticks, while it is paused', () => operator.ask('step', { number: 60 })), rate),
        element('div', { class: 'row' }, to, button('seek', 'Go back to a tick that the room still holds; empty: ten seconds back',
            () => operator.ask('seek', { number: to.value === '' ? Math.max(0, Math.floor(tick()) - 600) : Number(to.value) })),
        button('reset', 'Begin the scene again', () => operator.ask('reset'))),
        element('div', { class: 'row' }, name, button('fork', 'A new room that begins as this one is', () => operator.ask('fork', { name: name.value }))),
        element('div', { class: 'row' }, button('spawn box', 'A box over what is looked at', () => operator.ask('spawn-box', { a: above(), b: HALF })),
            button('spawn ball', 'A ball over what is looked at', () => operator.ask('spawn-sphere', { a: above(), number: RADIUS })),
            button('delete', 'The body that was clicked', () => operator.ask('delete', { body: selected() })), this.drag),
        this.words, element('p', {}, 'Alt-drag moves a body; so does a finger, while "drag" is pressed.'));
    }

    get drags(): boolean { return this.operator.allowed && this.drag.getAttribute('aria-pressed') === 'true'; }

    // Once a frame.
    update(): void {
        const { operator } = this, text = operator.paused ? 'resume' : 'pause';
        this.root.hidden = !operator.allowed;
        if (this.pause.textContent !== text) {
            this.pause.textContent = text;
        }
        if (this.words.textContent !== operator.words) {
            this.words.textContent = operator.words;
        }
        this.words.classList.toggle('bad', operator.failed);
    }
}
