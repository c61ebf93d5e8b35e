// SPDX-License-Identifier: MIT

// A desync capsule as two worlds: the step as this page makes it, and the state that the client reached.

import type { Cairn, World } from '../cairn/index.js';
import { Capsule } from '../capsule.js';
import { worldFacts, tickRate } from './local.js';
import { Fact, Picture, Playback, Side, Source } from './source.js';
import { readBodies, WorldShapes } from './world_picture.js';

// One of the two worlds, before the step and after it.
class CapsuleSide implements Side {
    readonly picture = new Picture();
    readonly shapes = new WorldShapes();
    private shown: World;

    constructor(readonly label: string, private readonly before: World, private readonly after: World) {
        this.shown = after;
        this.show(true);
    }

    world(): World { return this.shown; }

    show(stepped: boolean): void {
        this.shown = stepped ? this.after : this.before;
        readBodies(this.shown, this.picture);
        this.shapes.forget();
        this.shapes.update(this.shown);
    }
}

export class CapsuleSource implements Source, Playback {
    readonly capsule: Capsule;
    readonly playback: Playback = this;
    readonly player = 0;
    readonly stepTime = 0;
    readonly first: number;
    readonly last: number;
    readonly label = 'server: stepped by this page';
    readonly beside: Side | null;
    speed = 1;
    private readonly here: CapsuleSide;
    private readonly there: CapsuleSide | null;
    private readonly rate: number;

    constructor(readonly title: string, cairn: Cairn, file: Uint8Array) {
        this.capsule = new Capsule(cairn, file);
        const { before, server, client } = this.capsule;
        this.last = Number(server.tick);
        this.first = this.last - 1;
        this.rate = tickRate(server);
        this.here = new CapsuleSide(this.label, before, server);
        this.there = client === null ? null : new CapsuleSide('client: as it reported', before, client);
        this.beside = this.there;
    }

    get picture(): Picture { return this.here.picture; }
    get shapes(): WorldShapes { return this.here.shapes; }
    get hash(): string { return this.here.world().hash(); }
    get playing(): boolean { return false; }
    set playing(_: boolean) {} // one step: nothing to play

    world(): World { return this.here.world(); }
    advance(): void {}
    marks(): [] { return []; }
    step(ticks: number): void { this.seek(this.picture.tick + ticks); }

    seek(tick: number): void {
        this.here.show(tick > this.first);
        this.there?.show(tick > this.first);
    }

    facts(): Fact[] {
        const { hashes, builds } = this.capsule;
        const steps = hashes.stepped === hashes.server ? 'the server\'s' : hashes.stepped === hashes.client ? 'the client\'s' : 'neither';
        const facts = [{ name: 'server', value: hashes.server }, { name: 'client', value: hashes.client },
            { name: 'client, repeated', value: hashes.again }, { name: 'server\'s build', value: builds.server },
            { name: 'client\'s build', value: builds.client }].filter(({ value }) => value !== '');
        return [{ name: 'this page\'s step is', value: steps, state: steps === 'the server\'s' ? 'good' : 'bad' }, ...facts,
            ...worldFacts(this.world(), this.rate)];
    }

    dispose(): void { this.capsule.close(); }
}
