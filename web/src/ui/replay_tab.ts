// SPDX-License-Identifier: MIT

// The tab of recordings: a file or an address, and its verification.

import type { Verdict, Progress } from '../verify.js';
import { button, element, section } from './dom.js';

export class ReplayTab {
    readonly root: HTMLElement;
    private readonly words = element('p', { role: 'status' });
    private readonly check: HTMLButtonElement;

    constructor(open: (file: File) => void, openAddress: (address: string) => void, verify: (() => void) | null, goLive: (() => void) | null, show: (tick: number, body: number) => void) {
        this.show = show;
        const file = element('input', { type: 'file', accept: '.cairn', hidden: true, change: () => file.files?.[0] && open(file.files[0]) });
        const address = element('input', { type: 'text', hint: 'or an address of this server', 'aria-label': 'Address of a recording' });
        address.style.flex = '1';
        const form = element('form', { class: 'row', submit: (event: Event) => { event.preventDefault(); openAddress(address.value); } },
            address, element('button', {}, 'open'));
        this.check = button('verify', 'Step it again and compare every hash', () => verify?.());
        this.check.classList.add('primary');
        this.check.hidden = verify === null;
        this.root = section('Recording', element('div', { class: 'drop' }, 'drop a .cairn file here ',
            button('file…', 'Open a recording', () => file.click()), file), form, element('div', { class: 'row' }, this.check,
            ...(goLive === null ? [] : [button('go live', 'Show the newest that has arrived', goLive)])), this.words);
    }

    private readonly show: (tick: number, body: number) => void;

    progress({ ticks, of, rate }: Progress): void {
        this.check.disabled = true;
        this.words.textContent = `verified ${ticks} of ${of} ticks, ${rate.toFixed(0)} times real time`;
    }

    begin(): void {
        this.check.disabled = true;
        this.words.textContent = 'verifies';
    }

    verdict(verdict: Verdict): void {
        this.check.disabled = false;
        const rate = verdict.rate > 0 ? ` ${verdict.ticks} ticks at ${verdict.rate.toFixed(0)} times real time.` : '';
        this.words.replaceChildren(element('b', {}, verdict.good ? 'Verified. ' : 'Differs. '), `${verdict.words}.${rate} `);
        if (verdict.tick >= 0) {
            this.words.append(button('show it', 'Go to the tick and the body', () => this.show(verdict.tick, verdict.body)));
        }
    }
}
