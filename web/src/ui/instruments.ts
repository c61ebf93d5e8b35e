// SPDX-License-Identifier: MIT

// The panel's parts that every view has: numbers, overlays, the body that was clicked.

import { OVERLAYS, Overlay } from '../scene/overlays.js';
import type { Stage } from '../scene/stage.js';
import type { Cairn } from '../cairn/index.js';
import { LiveRoom } from '../source/live.js';
import type { Fact, Source } from '../source/source.js';
import { bodyFacts } from './body_card.js';
import { element, FactList, section, toggle } from './dom.js';
import { EventList } from './event_list.js';
import { LiveGraphs } from './live_graphs.js';
import { PeerCard } from './peer_card.js';

const EVERY_MS = 200;

const TITLES: Record<Overlay, string> = {
    contacts: 'Contact points; the line along the normal is 1 cm for each newton', joints: 'Anchors and axes of joints',
    'joint impulses': 'What joints do to their second body: force, 1 cm for each newton, and torque',
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
    private readonly events = new EventList();
    readonly peer: PeerCard;
    private readonly toggles: Map<Overlay, HTMLButtonElement>;
    private shownAt = 0;
    private frames = 0;
    framesPerSecond = 0;

    constructor(private readonly stage: Stage, cairn: Cairn) {
        this.peer = new PeerCard(cairn);
        this.toggles = new Map(OVERLAYS.map((overlay) => [overlay, toggle(overlay, TITLES[overlay], false, (on) => {
            if (on) {
                this.overlays.add(overlay);
            } else {
                this.overlays.delete(overlay);
            }
        })]));
        this.bodyPart = section('Body', this.body.root);
        this.parts = [this.bodyPart, section('Overlays', element('div', { class: 'row' }, ...this.toggles.values())), this.events.root, this.graphs.root,
            section('World', this.facts.root), this.peer.root, section('This page', this.times.root)];
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
        this.facts.show([...source.facts(), this.peer.passport].map((fact) => /^[0-9a-f]{32}$/.test(fact.value) ? { ...fact, whole: true } : fact));
        this.graphs.update(source);
        this.events.update(source);
        this.peer.update(source, now);
        this.toggles.forEach((button, overlay) => {
            const reason = idle(source, overlay);
            button.disabled = reason !== '';
            button.title = reason || TITLES[overlay];
        });
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

// Why an overlay would show nothing; '': it may.
function idle(source: Source, overlay: Overlay): string {
    const predicts = source instanceof LiveRoom && source.predicts;
    if (overlay === 'sleep') {
        return '';
    }
    if (overlay === 'prediction') {
        return predicts ? '' : 'Only a page that plays a predicted room has this';
    }
    if (overlay === 'interest') {
        return source.interest?.partial ? '' : 'Only a page that is sent snapshots of a part of a room has this';
    }
    const world = source.world();
    if (world === null) {
        return 'Only a page that steps the world itself knows this';
    }
    return overlay.startsWith('joint') && world.counts.joints === 0 ? 'This world has no joints' : '';
}

// A field that two worlds have differently has both values.
function bothFacts(source: Source, body: number): Fact[] {
    const facts = bodyFacts(source, body), others = source.beside === null ? facts : bodyFacts(source.beside, body);
    return facts.map((fact, i) => others[i]?.value === fact.value ? fact
        : { ...fact, value: `${fact.value}${fact.whole ? '\n' : ' | '}${others[i]?.value ?? 'none'}`, state: 'bad' });
}
