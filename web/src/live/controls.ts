// SPDX-License-Identifier: MIT

// What a player does: keyboard, mouse, touch and gamepad as one input of the sandbox rules.

import { type Stage } from '../scene/stage.js';

export const ACTIONS = ['jump', 'push', 'throw', 'spawn'] as const; // bit 0, 1, 2, 3 of the buttons
type Action = typeof ACTIONS[number];

const KEYS: Record<string, Action> = { Space: 'jump', KeyE: 'push', KeyF: 'throw', KeyQ: 'spawn' };
const MOVES: Record<string, [number, number]> = { KeyW: [0, 1], KeyS: [0, -1], KeyA: [-1, 0], KeyD: [1, 0] };
const PAD: Action[] = ['jump', 'throw', 'push', 'spawn']; // of the four face buttons
const STICK_DEAD = 0.15;
const CAMERA_SPEED = 2.4; // rad/s at a full stick

export interface PlayerInput { buttons: number; move: [number, number, number]; aim: [number, number, number] }

export class Controls {
    private held = new Set<string>();  // codes of keys
    private touched = new Set<Action>();
    private stick: [number, number] = [0, 0];
    private readonly stop = new AbortController();

    constructor(private readonly stage: Stage, private readonly touch: HTMLElement) {
        const { signal } = this.stop;
        addEventListener('keydown', (event) => this.key(event, true), { signal });
        addEventListener('keyup', (event) => this.key(event, false), { signal });
        addEventListener('blur', () => this.held.clear(), { signal });
        touch.hidden = !matchMedia('(pointer: coarse)').matches;
        this.buildTouch();
    }

    // In the frame of the world: `move` is relative to where the camera looks, `aim` is where it looks.
    read(seconds: number): PlayerInput {
        const pad = navigator.getGamepads?.().find((each) => each?.mapping === 'standard') ?? null;
        let [x, z] = this.stick, buttons = 0;
        for (const code of this.held) {
            x += MOVES[code]?.[0] ?? 0;
            z += MOVES[code]?.[1] ?? 0;
            buttons |= bit(KEYS[code]);
        }
        this.touched.forEach((action) => { buttons |= bit(action); });
        if (pad !== null) {
            x += dead(pad.axes[0]);
            z -= dead(pad.axes[1]);
            PAD.forEach((action, i) => { buttons |= pad.buttons[i]?.pressed ? bit(action) : 0; });
            this.stage.turn(-dead(pad.axes[2]) * CAMERA_SPEED * seconds, dead(pad.axes[3]) * CAMERA_SPEED * seconds);
        }
        const length = Math.max(1, Math.hypot(x, z));
        const { position } = this.stage.camera, { target } = this.stage.orbit;
        let fx = target.x - position.x, fz = target.z - position.z;
        const flat = Math.hypot(fx, fz) || 1;
        fx /= flat;
        fz /= flat;
        const side = x / length, ahead = z / length;
        return { buttons, move: [clamp(fx * ahead - fz * side), 0, clamp(fz * ahead + fx * side)], aim: [clamp(fx), -0.1, clamp(fz)] };
    }

    dispose(): void {
        this.stop.abort();
        this.touch.replaceChildren();
        this.touch.hidden = true;
    }

    private key(event: KeyboardEvent, down: boolean): void {
        const known = event.code in KEYS || event.code in MOVES;
        const taken = isText(event.target) || (event.code === 'Space' && event.target instanceof HTMLButtonElement); // of who presses buttons by keys
        if (!known || event.ctrlKey || event.metaKey || event.altKey || (down && taken)) {
            return;
        }
        if (down) {
            this.held.add(event.code);
            event.preventDefault();
        } else {
            this.held.delete(event.code);
        }
    }

    private buildTouch(): void {
        const stick = document.createElement('div'), knob = document.createElement('i');
        stick.className = 'stick';
        stick.append(knob);
        const set = (x: number, z: number) => {
            this.stick = [x, z];
            knob.style.transform = `translate(${34 * x}px, ${-34 * z}px)`;
        };
        stick.addEventListener('pointerdown', (event) => stick.setPointerCapture(event.pointerId));
        stick.addEventListener('pointermove', (event) => {
            if (stick.hasPointerCapture(event.pointerId)) {
                const { left, top, width, height } = stick.getBoundingClientRect();
                const x = 2 * (event.clientX - left) / width - 1, z = 1 - 2 * (event.clientY - top) / height;
                const length = Math.max(1, Math.hypot(x, z));
                set(x / length, z / length);
            }
        });
        for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) {
            stick.addEventListener(end, () => set(0, 0));
        }
        this.touch.replaceChildren(stick, ...ACTIONS.map((action, i) => this.touchButton(action, i)));
    }

    private touchButton(action: Action, i: number): HTMLElement {
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = action;
        button.style.right = `${16 + 70 * (i % 2)}px`;
        button.style.bottom = `${12 + 54 * Math.floor(i / 2)}px`;
        button.addEventListener('pointerdown', () => this.touched.add(action));
        for (const end of ['pointerup', 'pointercancel', 'pointerleave']) {
            button.addEventListener(end, () => this.touched.delete(action));
        }
        return button;
    }
}

function bit(action: Action | undefined): number {
    return action === undefined ? 0 : 1 << ACTIONS.indexOf(action);
}

function dead(value: number | undefined): number {
    return value === undefined || Math.abs(value) < STICK_DEAD ? 0 : value;
}

function clamp(value: number): number {
    return Math.min(Math.max(value, -1), 1);
}

// What takes letters itself.
function isText(target: EventTarget | null): boolean {
    return (target instanceof HTMLInputElement && target.type !== 'range') || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}
