// SPDX-License-Identifier: MIT

// What this page is as a peer: the self-test of its arithmetic, the hashes of its last ticks, and how well its steps are solved.

import type { Cairn, World } from '../cairn/index.js';
import type { Fact, Source } from '../source/source.js';
import { element, FactList, section } from './dom.js';

const MEASURES_SIZE = 48; // as in npm/peer.c
const EVERY_TICKS = 60;
const SHARE = 100;        // measuring takes at most one part in so many of the time
const AWAKE_MAX = 1500;   // bodies; what takes longer would be seen as a pause

interface Runtime {
    cairn_npm_passport(): number;
    cairn_npm_measure(world: number, out: number): number;
}
export interface Measures { tick: number; residual: number; cone: number; work: number; penetration: number; energy: number; rows: number; contacts: number }

export class PeerCard {
    readonly root: HTMLElement;
    measures: Measures | null = null;
    readonly faults: number; // of the self-test; 0: none
    private readonly hashes = new FactList();
    private readonly solver = new FactList();
    private readonly hashPart: HTMLElement;
    private readonly solverPart: HTMLElement;
    private nextAt = 0;   // ms
    private of: Source | null = null;

    constructor(private readonly cairn: Cairn) {
        this.faults = this.f.cairn_npm_passport();
        this.hashPart = element('div', { class: 'mono' }, element('h2', {}, 'Last state hashes'), this.hashes.root);
        this.solverPart = element('div', {}, element('h2', {}, 'How the next step is solved'), this.solver.root);
        this.root = section('This peer', this.hashPart, this.solverPart);
    }

    private get f(): Runtime { return this.cairn.functions as unknown as Runtime; }

    get passport(): Fact {
        return this.faults === 0 ? { name: 'passport', value: 'computes as every other build', state: 'good' }
            : { name: 'passport', value: `differs: faults 0x${this.faults.toString(16)}`, state: 'bad' };
    }

    // A few times a second.
    update(source: Source, now: number): void {
        const hashes = source.hashes ?? [], world = source.world();
        this.hashPart.hidden = hashes.length === 0;
        this.hashes.show(hashes.map(({ tick, hash }) => ({ name: String(tick), value: hash.slice(0, 24), whole: true })));
        if (source !== this.of) {
            [this.of, this.measures, this.nextAt] = [source, null, 0];
        }
        const tick = Number(world?.tick ?? 0), far = this.measures === null || Math.abs(tick - this.measures.tick) >= EVERY_TICKS;
        if (world !== null && now >= this.nextAt && far && world.counts.bodies_awake <= AWAKE_MAX) {
            this.measure(world, tick, now);
        }
        this.solverPart.hidden = world === null || this.measures === null;
        this.solver.show(this.measures === null ? [] : factsOf(this.measures));
        this.root.hidden = Boolean(this.hashPart.hidden) && Boolean(this.solverPart.hidden);
    }

    private measure(world: World, tick: number, now: number): void {
        const { memory } = this.cairn, begin = performance.now();
        this.measures = memory.with(MEASURES_SIZE, (out) => {
            if (this.f.cairn_npm_measure(world.address, out) === 0) {
                return null;
            }
            const [residual, cone, work, penetration, energy] = [0, 8, 16, 24, 32].map((at) => memory.data.getFloat64(out + at, true));
            return { tick, residual, cone, work, penetration, energy, rows: memory.data.getUint32(out + 40, true), contacts: memory.data.getUint32(out + 44, true) };
        });
        this.nextAt = now + SHARE * (performance.now() - begin);
    }
}

function factsOf({ tick, residual, cone, work, penetration, energy, rows, contacts }: Measures): Fact[] {
    return [{ name: 'after tick', value: String(tick) },
        { name: 'rows, contacts', value: `${rows}, ${contacts}` },
        { name: 'residual, m/s', value: residual.toExponential(2) },
        { name: 'penetration, mm', value: (1000 * penetration).toFixed(3) },
        { name: 'friction beyond its bound, N s', value: cone.toExponential(2) },
        { name: 'work of impulses, J', value: work.toPrecision(4) },
        { name: 'kinetic energy, J', value: energy.toPrecision(4) }];
}
