// SPDX-License-Identifier: MIT
// Clients in WebAssembly on a real cairnd, with Node.js carrying the datagrams. CAIRN_PACKAGE: the
// folder of the package. CAIRN_PROGRAMS: the folder of cairnd and cairn-token; without them the
// tests that need a server are skipped.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, afterEach, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startRoom } from './room.mjs';

const folder = process.env.CAIRN_PACKAGE;
const { CairnError, ClientState, ContactEventKind, load, World } = await import(pathToFileURL(`${folder}/dist/index.js`));
const cairn = await load({ simd: existsSync(`${folder}/cairn_client_simd.wasm`) });
const programs = process.env.CAIRN_PROGRAMS ?? '';
const skip = !existsSync(`${programs}/cairnd`);
const TIMEOUT_MS = 60000;

const now = () => process.hrtime.bigint();
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

let files;
let room;
const players = [];

// A ball that bounces for ever and asks for events, on a server of one room with the built-in rules.
const SCENE = JSON.stringify({ name: 'bounce', body_capacity: 16, shape_capacity: 16, contact_capacity: 64, hit_threshold: 1,
    rules: 'sandbox', bodies: [
        { kind: 'static', shapes: [{ kind: 'half_space', restitution: 1 }] },
        { kind: 'dynamic', position: [0, 3, 0], shapes: [{ kind: 'sphere', radius: 0.25, restitution: 1, hit_events: true }] }] });

before(async () => {
    if (skip) {
        return;
    }
    files = mkdtempSync(`${tmpdir()}/cairn-client-`);
    writeFileSync(`${files}/bounce.json`, SCENE);
    room = await startRoom(programs, `${files}/room`, `${files}/bounce.json`);
});

// Also after a failed test: an open socket would keep the process.
afterEach(() => {
    for (const player of players.splice(0)) {
        player.close();
    }
});

after(async () => {
    await room?.stop();
    if (files !== undefined) {
        rmSync(files, { recursive: true });
    }
});

// A client and its socket: the whole of a driver. `frame` is called after each advance.
class Player {
    constructor(options, delay_ms = 0) {
        this.client = cairn.createClient(options);
        this.socket = createSocket('udp4');
        this.open = true;
        const take = (bytes, from) => this.open && this.client.receive(now(), `${from.address}:${from.port}`, bytes);
        this.socket.on('message', (bytes, from) => delay_ms === 0 ? take(bytes, from) : setTimeout(take, delay_ms, bytes, from));
        players.push(this);
        this.client.connect(now(), room.token());
    }

    flush() {
        for (const bytes of this.client.send(now())) {
            const [host, port] = this.client.serverAddress.split(':');
            this.socket.send(bytes, Number(port), host);
        }
    }

    async run(done, frame = () => {}) {
        const end = Date.now() + TIMEOUT_MS;
        while (!done()) {
            assert.notEqual(this.client.state, ClientState.FAILED, this.client.failure);
            assert.ok(Date.now() < end, JSON.stringify(this.client.statistics(), (_, v) => typeof v === 'bigint' ? Number(v) : v));
            this.client.advance(now());
            frame();
            this.flush();
            await wait(4);
        }
    }

    close() {
        this.client.disconnect(now());
        this.flush();
        this.open = false;
        this.socket.close();
        this.client.destroy();
    }
}

test('a client that predicts plays on a server with the same bits', { skip }, async () => {
    const player = new Player({ mode: 'PREDICT', input_delay_ms_max: 0 }, 50);
    const { client } = player;
    assert.equal(client.serverAddress, room.address);
    const events = [];
    let predicted = false;
    await player.run(() => predicted && client.statistics().simulation.roots_compared >= 60n && events.some((event) => !event.confirmed), () => {
        events.push(...client.events());
        client.pushInput({ buttons: 1, move: [1, 0, 0] });
        // On a slow machine what the server confirms overtakes the prediction now and then.
        predicted ||= client.statistics().prediction.predicted_ticks > 0;
    });
    const { simulation, inputs } = client.statistics();
    assert.equal(simulation.roots_differed, 0n);
    assert.ok(inputs.sent > 0n);
    assert.equal(events.find((event) => !event.confirmed).kind, ContactEventKind.CONTACT_HIT);
    const world = client.world();
    assert.ok(world instanceof World && world.tick >= client.confirmedTick);
    assert.match(world.hash(), /^[0-9a-f]{32}$/);
    const { bodies } = client.sample(now());
    assert.equal(bodies.count, world.bodies().count);
    assert.equal(bodies.id(1), world.bodies().id(1));
});

test('a client that interpolates shows the bodies and their shapes', { skip }, async () => {
    const player = new Player({ mode: 'INTERPOLATE' });
    const { client } = player;
    const heights = new Set();
    await player.run(() => heights.size >= 20, () => {
        const picture = client.sample(now());
        if (picture !== null) {
            heights.add(picture.bodies.position(1)[1]);
        }
    });
    assert.ok(Math.min(...heights) > 0.1 && Math.max(...heights) < 3.1);
    assert.ok(client.shapes().some((shape) => shape.radius === 0.25));
    assert.equal(client.world(), null);
});

test('datagrams that are not the server\'s are counted and change nothing', { skip }, async () => {
    const player = new Player({ mode: 'LOCKSTEP' });
    const { client } = player;
    await player.run(() => client.playing);
    const before = client.statistics().connection.datagrams_dropped;
    for (const size of [0, 1, 1200, 70000]) {
        client.receive(now(), '127.0.0.1:9', new Uint8Array(size));
    }
    client.receive(now(), client.serverAddress, new Uint8Array(100).fill(7));
    assert.equal(client.statistics().connection.datagrams_dropped, before + 5n);
    assert.ok(Object.keys(client.drops()).some((name) => name.startsWith('netcode: ')));
    assert.ok(client.playing);
});

test('what is wrong is refused by name', () => {
    const client = cairn.createClient();
    assert.throws(() => cairn.createClient({ bodies_max: 0 }), CairnError);
    assert.throws(() => cairn.createClient({ nonsense: 1 }), /has no field 'nonsense'/);
    assert.throws(() => client.connect(now(), new Uint8Array(7)), /2048 bytes, not 7/);
    assert.equal(client.connect(now(), new Uint8Array(2048)), false);
    assert.equal(client.state, ClientState.FAILED);
    assert.notEqual(client.failure, '');
    assert.equal(client.sample(now()), null);
    assert.throws(() => client.receive(now(), 'nowhere', new Uint8Array(3)), /not an address/);
    assert.equal(client.pushInput({ buttons: 1 }), false);
    assert.equal(client.pushGameInput(new Uint8Array(12)), false);
    client.destroy();
    assert.throws(() => client.state, /destroyed/);
});
