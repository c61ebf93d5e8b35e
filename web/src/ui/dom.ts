// SPDX-License-Identifier: MIT

// Elements of the page.

import type { Fact } from '../source/source.js';

// `hint`: what an empty field of text shows.
type Attributes = Record<string, string | boolean | ((event: any) => void)>;

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...inside: (Node | string)[]): HTMLElementTagNameMap[K] {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === 'function') {
            made.addEventListener(name, value);
        } else if (typeof value === 'boolean') {
            made.toggleAttribute(name, value);
        } else {
            made.setAttribute(name === 'hint' ? 'placeholder' : name, value);
        }
    }
    made.append(...inside);
    return made;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
    return document.getElementById(id) as T;
}

// What the page carries in itself, in base64: `cairn-replay page` puts a recording there.
export function fromPage(id: string): { name: string; bytes: Uint8Array<ArrayBuffer> } | null {
    const found = document.getElementById(id);
    if (found === null) {
        return null;
    }
    const letters = atob(found.textContent), bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; ++i) {
        bytes[i] = letters.charCodeAt(i);
    }
    return { name: found.dataset.name ?? '', bytes };
}

export function button(text: string, title: string, click: () => void): HTMLButtonElement {
    return element('button', { type: 'button', title, click }, text);
}

// A button that stays pressed.
export function toggle(text: string, title: string, on: boolean, change: (on: boolean) => void): HTMLButtonElement {
    const made = button(text, title, () => {
        const now = made.getAttribute('aria-pressed') !== 'true';
        made.setAttribute('aria-pressed', String(now));
        change(now);
    });
    made.setAttribute('aria-pressed', String(on));
    return made;
}

export function select(label: string, choices: readonly (readonly [string, string])[], chosen: string, change: (value: string) => void): HTMLSelectElement {
    const made = element('select', { 'aria-label': label, change: () => change(made.value) },
        ...choices.map(([value, text]) => element('option', { value }, text)));
    made.value = chosen;
    return made;
}

export function section(title: string, ...inside: (Node | string)[]): HTMLElement {
    return element('section', {}, element('h2', {}, title), ...inside);
}

// Rows of names and numbers, of which only what changed is written.
export class FactList {
    readonly root = element('dl');
    private names = '';

    show(facts: Fact[]): void {
        const names = facts.map((fact) => fact.name).join('\n');
        if (names !== this.names) {
            this.names = names;
            this.root.replaceChildren(...facts.flatMap((fact) => [element('dt', {}, fact.name), element('dd')]));
        }
        const values = this.root.querySelectorAll('dd');
        facts.forEach((fact, i) => {
            if (values[i].textContent !== fact.value) {
                values[i].textContent = fact.value;
            }
            values[i].className = [fact.state ?? '', fact.whole ? 'whole' : ''].join(' ').trim();
        });
    }
}
