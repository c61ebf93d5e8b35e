// SPDX-License-Identifier: MIT

// The bar at the bottom: play, step, speed, the timeline of a recording, the tick and its hash.

import { Mark, MARK_RANKS, Source } from '../source/source.js';
import { button, element, select } from './dom.js';

const SPEEDS = [['0.1', '×0.1'], ['0.25', '×0.25'], ['1', '×1'], ['2', '×2'], ['4', '×4'], ['16', '×16']] as const;

export class Bar {
    private source: Source | null = null;
    private readonly play = button('▶', 'Play or pause (space)', () => this.togglePlay());
    private readonly back = button('◂', 'One tick back (comma)', () => this.step(-1));
    private readonly next = button('▸', 'One tick on (period)', () => this.step(1));
    private readonly speed = select('Speed', SPEEDS, '1', (value) => {
        if (this.source?.playback) {
            this.source.playback.speed = Number(value);
        }
    });
    private readonly line = element('input', { type: 'range', 'aria-label': 'Timeline', min: '0', max: '1', step: '1', input: () => this.scrub() });
    private readonly marks = element('div', { class: 'marks', 'aria-hidden': 'true' });
    private readonly timeline = element('div', { class: 'grow' }, this.line, this.marks);
    private readonly space = element('div', { class: 'grow wide' });
    private readonly tick = element('output', { 'aria-label': 'Tick' });
    private readonly hash = element('output', { class: 'mono', 'aria-label': 'State hash', title: 'State hash of the last tick' });
    private readonly narrow = matchMedia('(max-width: 640px)');
    private markWords = '';
    private markPlaces = new Map<number, Mark>(); // by pixel

    constructor(root: HTMLElement) {
        this.play.classList.add('icon');
        this.back.classList.add('icon');
        this.next.classList.add('icon');
        this.timeline.addEventListener('pointermove', (event) => { this.timeline.title = this.wordsAt(event.clientX); });
        root.replaceChildren(this.play, this.back, this.next, this.speed, this.timeline, this.space, this.tick, this.hash);
    }

    show(source: Source | null): void {
        this.source = source;
        const playback = source?.playback ?? null, timeline = playback !== null && playback.last > playback.first;
        for (const each of [this.play, this.next, this.speed]) {
            each.hidden = playback === null;
        }
        this.back.hidden = this.timeline.hidden = !timeline;
        this.space.hidden = timeline;
        if (playback !== null && timeline) {
            this.speed.value = '1';
        }
        this.markWords = '';
    }

    // Once a frame.
    update(): void {
        const { source } = this;
        if (source === null) {
            return;
        }
        this.tick.textContent = `tick ${Math.floor(source.picture.tick)}`;
        this.hash.textContent = source.hash.slice(0, this.narrow.matches ? 6 : 16);
        const { playback } = source;
        if (playback !== null) {
            const text = playback.playing ? '❚❚' : '▶';
            if (this.play.textContent !== text) {
                this.play.textContent = text;
            }
            [this.line.min, this.line.max] = [String(playback.first), String(playback.last)]; // a broadcast grows
            this.line.value = String(source.picture.tick);
            this.showMarks(playback.marks(), playback.first, playback.last);
        }
    }

    // True: the key was one of the bar's.
    key(event: KeyboardEvent): boolean {
        if (this.source?.playback == null) {
            return false;
        }
        const actions: Record<string, () => void> = { ' ': () => this.togglePlay(), '.': () => this.step(1), ',': () => this.step(-1) };
        actions[event.key]?.();
        return event.key in actions;
    }

    private togglePlay(): void {
        const playback = this.source?.playback;
        if (playback) {
            if (!playback.playing && playback.last > playback.first && this.source!.picture.tick >= playback.last) {
                playback.seek(playback.first);
            }
            playback.playing = !playback.playing;
        }
    }

    private step(ticks: number): void {
        const playback = this.source?.playback;
        if (playback) {
            playback.playing = false;
            playback.step(ticks);
        }
    }

    private scrub(): void {
        this.source?.playback?.seek(Number(this.line.value));
    }

    // One mark for each pixel: the first of the ranks that is there.
    private showMarks(marks: Mark[], first: number, last: number): void {
        const width = Math.floor(this.marks.clientWidth);
        const words = `${marks.length} ${marks.at(-1)?.words} ${first} ${last} ${width}`;
        if (last <= first || width === 0 || words === this.markWords) {
            return;
        }
        this.markWords = words;
        this.markPlaces = marksByPixel(marks, first, last, width);
        this.marks.replaceChildren(...[...this.markPlaces].map(([pixel, mark]) => {
            const made = element('i', { class: mark.kind });
            made.style.left = `${pixel}px`;
            return made;
        }));
    }

    // Of the mark under the pointer or near it that has the first rank.
    private wordsAt(clientX: number): string {
        const pixel = Math.round(clientX - this.marks.getBoundingClientRect().left);
        const [near] = [0, 1, -1, 2, -2, 3, -3].flatMap((by) => this.markPlaces.get(pixel + by) ?? [])
            .sort((a, b) => MARK_RANKS.indexOf(a.kind) - MARK_RANKS.indexOf(b.kind));
        return near === undefined ? '' : `tick ${near.tick}: ${near.words}`;
    }
}

export function marksByPixel(marks: Mark[], first: number, last: number, width: number): Map<number, Mark> {
    const places = new Map<number, Mark>(), rank = (mark: Mark) => MARK_RANKS.indexOf(mark.kind);
    for (const mark of marks) {
        const pixel = Math.round(width * (mark.tick - first) / (last - first)), there = places.get(pixel);
        if (there === undefined || rank(mark) < rank(there)) {
            places.set(pixel, mark);
        }
    }
    return places;
}
