// SPDX-License-Identifier: MIT

// The panel's parts that every view has: numbers, overlays, the body that was clicked.

import { OVERLAYS, Overlay } from '../scene/overlays.js';
import type { Stage } from '../scene/stage.js';
import type { Fact, Source } from '../source/source.js';
import { bodyFacts } from './body_card.js';
import { element, FactList, section, toggle } from './dom.js';
import { LiveGraphs } from './live_graphs.js';

const EVERY_MS = 200;

const TITLES: Record<Overlay, string> = {
    contacts: 'Contact points; the line along the normal is 1 cm for each newton', joints: 'Anchors and axes of joints',
    boxes: 'The box around each shape', frames: 'The axes of each body', islands: 'Bodies that touch have one colour',
    sleep: 'Awake bodies are orange, sleeping ones grey', prediction: 'From where a body is shown to where this peer\'s world has it',
    interest: 'What the server sends of a room seen in part: green was sent just now, yellow lately, blue rests; crosses left the view',
};

export class Instruments {
    readonly overlays = new Set<Overlay>();
    selected = 0;
    readonly parts: HTMLElement[];
    private readonly facts = new FactList();
    private readonly times = new FactList();
    private readonly body = new FactList();
    private readonly bodyPart: HTMLElement;
    private readonly graphs = new LiveGraphs();
    private shownAt = 0;
    private frames = 0;
    framesPerSecond = 0;

    constructor(private readonly stage: Stage) {
        const toggles = OVERLAYS.map((overlay) => toggle(overlay, TITLES[overlay], false, (on) => {
            if (on) {
                this.overlays.add(overlay);
            } else {
                this.overlays.delete(overlay);
            }
        }));
        this.bodyPart = section('Body', this.body.root);
        this.parts = [this.bodyPart, section('Overlays', element('div', { class: 'row' }, ...toggles)), this.graphs.root,
            section('World', this.facts.root), section('This page', this.times.root)];
    }

    // Once a frame; writes a few times a second.
    update(source: Source, now: number): void {
        this.frames += 1;
        if (now - this.shownAt < EVERY_MS) {
            return;
        }
        this.framesPerSecond = 0.5 * this.framesPerSecond + 500 * this.frames / (now - this.shownAt);
        this.frames = 0;
        this.shownAt = now;
        this.bodyPart.hidden = this.selected === 0;
        if (this.selected !== 0) {
            this.body.show(bothFacts(source, this.selected));
        }
        this.facts.show(source.facts());
        this.graphs.update(source);
        this.times.show(this.pageFacts(source));
    }

    private pageFacts(source: Source): Fact[] {
        return [{ name: 'frames a second', value: this.framesPerSecond.toFixed(0) },
            { name: 'step', value: `${source.stepTime.toFixed(2)} ms` },
            { name: 'drawing', value: `${this.stage.drawTime.toFixed(1)} ms` },
            { name: 'triangles', value: String(this.stage.triangles) },
            { name: 'draw calls', value: String(this.stage.drawCalls) }];
    }
}

// A field that two worlds have differently has both values.
function bothFacts(source: Source, body: number): Fact[] {
    const facts = bodyFacts(source, body), others = source.beside === null ? facts : bodyFacts(source.beside, body);
    return facts.map((fact, i) => others[i]?.value === fact.value ? fact
        : { ...fact, value: `${fact.value} | ${others[i]?.value ?? 'none'}`, state: 'bad' });
}
