// SPDX-License-Identifier: MIT

// Graphs of a connection, and rollbacks by cause.

import { LiveRoom } from '../source/live.js';
import type { Source } from '../source/source.js';
import { element, FactList, section } from './dom.js';
import { Graph } from './graphs.js';

export class LiveGraphs {
    readonly root: HTMLElement;
    private readonly graphs = {
        trip: new Graph('round trip', 'ms', 0), jitter: new Graph('jitter', 'ms', 1), loss: new Graph('loss', '%', 1),
        received: new Graph('received', 'kB/s', 1), sent: new Graph('sent', 'kB/s', 1), lead: new Graph('input lead', 'ms', 0),
        rollbacks: new Graph('rollbacks', '/s', 1), step: new Graph('step', 'ms', 2),
    };
    private readonly causes = new FactList();
    private readonly causesPart: HTMLElement;
    private before = { at: 0, sent: 0, received: 0, rollbacks: 0 };

    constructor() {
        this.causesPart = element('div', {}, element('h2', {}, 'Rollbacks by cause'), this.causes.root);
        this.root = section('Connection', element('div', { class: 'graphs' }, ...Object.values(this.graphs).map((graph) => graph.root)),
            this.causesPart);
    }

    update(source: Source): void {
        this.root.hidden = !(source instanceof LiveRoom);
        if (!(source instanceof LiveRoom)) {
            return;
        }
        const { connection, inputs, prediction } = source.statistics();
        const now = { at: performance.now(), sent: Number(connection.bytes_sent), received: Number(connection.bytes_received),
            rollbacks: Number(prediction.rollbacks) };
        const seconds = (now.at - this.before.at) / 1000, rate = (key: 'sent' | 'received' | 'rollbacks') =>
            Math.max(0, now[key] - this.before[key]) / seconds;
        this.graphs.trip.add(Number(connection.rtt_ns) / 1e6);
        this.graphs.jitter.add(Number(connection.jitter_ns) / 1e6);
        this.graphs.loss.add(100 * connection.loss);
        this.graphs.received.add(rate('received') / 1000);
        this.graphs.sent.add(rate('sent') / 1000);
        this.graphs.lead.add(Number(inputs.lead_ns) / 1e6);
        this.graphs.rollbacks.add(rate('rollbacks'));
        this.graphs.step.add(source.stepTime);
        this.before = now;
        const causes = source.rollbacks();
        this.causesPart.hidden = causes.length === 0;
        this.causes.show(causes.map(({ cause, count }) => ({ name: cause, value: String(count) })));
    }
}
