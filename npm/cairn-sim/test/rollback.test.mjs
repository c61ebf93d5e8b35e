// SPDX-License-Identifier: MIT
// The rollback loop of the examples: two peers over a transport that delays and loses messages.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const folder = process.env.CAIRN_PACKAGE;
const { BodyKind, CommandKind, load, ShapeKind } = await import(pathToFileURL(`${folder}/dist/index.js`));
const { join, Peer } = await import(pathToFileURL(`${folder}/examples/rollback.js`));
const TICKS = 300;

let seed = 1;
function below(bound) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 16) % bound;
}

async function arena() {
    const cairn = await load({ simd: existsSync(`${folder}/cairn_sim_simd.wasm`) }); // each peer has a module of its own
    const world = cairn.createWorld({ rules: 'sandbox' });
    world.createShape(world.createBody({ kind: BodyKind.STATIC }), { kind: ShapeKind.HALF_SPACE });
    for (let i = 0; i < 30; ++i) {
        world.createShape(world.createBody({ position: [2 * (i % 6) - 5, 0.5, 2 * Math.floor(i / 6) + 4] }));
    }
    return world;
}

const play = (slot, tick) => tick === 0 ? join(slot) : { kind: CommandKind.INPUT, slot, buttons: tick % 50 === 0 ? 5 : 0,
    move: [((Math.floor(tick / 20) + slot) % 3) - 1, 0, 1], aim: [1, 0, 0] };

test('two peers over a bad transport have the same confirmed worlds', async () => {
    const peers = [];
    for (const slot of [0, 1]) {
        peers.push(new Peer(await arena(), slot, [join(0), join(1)]));
    }
    const queues = [[], []];
    let again = 0;
    peers.forEach((peer) => {
        const restore = peer.world.restore.bind(peer.world);
        peer.world.restore = (save) => { ++again; restore(save); };
    });
    const hashes = [[], []];
    for (let frame = 0; frame < 3 * TICKS; ++frame) {
        peers.forEach((peer, slot) => {
            queues[slot].filter((entry) => entry.due <= frame).forEach((entry) => peer.receive(entry.message));
            queues[slot] = queues[slot].filter((entry) => entry.due > frame);
            const message = (peer.tick < TICKS ? peer.advance(play(slot, peer.tick)) : null) ?? peer.last();
            if (below(10) !== 0) {
                queues[1 - slot].push({ message: structuredClone(message), due: frame + 1 + below(10) });
            }
        });
    }
    peers.forEach((peer, slot) => {
        peer.advance(play(slot, TICKS)); // what arrived last is stepped again
        peer.world.restore(peer.saves[TICKS % 32]);
        hashes[slot] = peer.world.hash();
    });
    assert.equal(hashes[0], hashes[1]);
    assert.ok(again > 20, `${again} rollbacks`);
});
