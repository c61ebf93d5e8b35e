// SPDX-License-Identifier: MIT

// What happened in a recording or a broadcast, in words: each line seeks to its tick.

import { Mark, MARK_RANKS, Source } from '../source/source.js';
import { button, element, section, select } from './dom.js';

const LINES_MAX = 200;
const KINDS = [['', 'all'], ['differs', 'differences'], ['join', 'joins'], ['leave', 'leaves'], ['operator', 'operators']] as const;

export class EventList {
    readonly root: HTMLElement;
    private readonly list = element('ul', { class: 'words events' });
    private readonly count = element('summary');
    private readonly more = element('p');
    private readonly kind = select('Which events', KINDS, '', () => { this.shown = ''; });
    private shown = '';

    constructor() {
        this.root = section('Events', element('details', {}, this.count, element('div', { class: 'row' }, this.kind), this.list, this.more));
    }

    // A few times a second.
    update(source: Source): void {
        const { playback } = source, marks = playback?.marks() ?? [];
        this.root.hidden = playback === null || marks.length === 0;
        const words = `${source.title} ${marks.length} ${marks.at(-1)?.words}`;
        if (this.root.hidden || words === this.shown) {
            return;
        }
        this.shown = words;
        const lines = listed(marks, this.kind.value);
        this.count.textContent = marks.length === 1 ? '1 event' : `${marks.length} events`;
        this.list.replaceChildren(...lines.map((mark) => element('li', {},
            button(`${mark.tick}: ${mark.words}`, 'Go to the tick', () => source.playback?.seek(mark.tick)))));
        const left = marks.filter((mark) => this.kind.value === '' || mark.kind === this.kind.value).length - lines.length;
        this.more.textContent = left > 0 ? `${left} more are left out, operators' first.` : '';
    }
}

// In the order of ticks. If there are too many, those of the last ranks are left out.
export function listed(marks: Mark[], kind: string): Mark[] {
    const wanted = marks.filter((mark) => kind === '' || mark.kind === kind);
    const rank = (mark: Mark) => MARK_RANKS.indexOf(mark.kind);
    return [...wanted].sort((a, b) => rank(a) - rank(b) || a.tick - b.tick).slice(0, LINES_MAX).sort((a, b) => a.tick - b.tick);
}
