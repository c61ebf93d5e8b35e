// SPDX-License-Identifier: MIT

// Small graphs of numbers over the last half minute.

import { element } from './dom.js';

const SAMPLES = 150; // five a second

export class Graph {
    readonly root: HTMLElement;
    private readonly value = element('b');
    private readonly canvas = element('canvas', { width: '150', height: '36' });
    private readonly samples: number[] = [];

    constructor(name: string, private readonly unit: string, private readonly digits: number) {
        this.canvas.setAttribute('aria-hidden', 'true');
        this.root = element('div', { class: 'graph' }, element('div', {}, name, this.value), this.canvas);
    }

    add(value: number): void {
        this.samples.push(value);
        if (this.samples.length > SAMPLES) {
            this.samples.shift();
        }
        this.value.textContent = `${value.toFixed(this.digits)} ${this.unit}`;
        this.draw();
    }

    private draw(): void {
        const context = this.canvas.getContext('2d')!, { width, height } = this.canvas;
        const most = Math.max(...this.samples, 1e-9);
        context.clearRect(0, 0, width, height);
        context.strokeStyle = getComputedStyle(this.canvas).getPropertyValue('--accent');
        context.lineWidth = 1.5;
        context.beginPath();
        this.samples.forEach((sample, i) => {
            context.lineTo(width * (i + SAMPLES - this.samples.length) / (SAMPLES - 1), height - 2 - (height - 5) * sample / most);
        });
        context.stroke();
    }
}
