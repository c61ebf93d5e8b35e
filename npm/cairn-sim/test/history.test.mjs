// SPDX-License-Identifier: MIT
// The states of a world's last ticks: what is restored is what was saved, and it goes on as it did.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const folder = process.env.CAIRN_PACKAGE;
const { BodyKind, CairnError, History, load, ShapeKind, Status } = await import(pathToFileURL(`${folder}/dist/index.js`));
const cairn = await load({ simd: existsSync(`${folder}/cairn_sim_simd.wasm`) });
const TICKS = 32;

function heap() {
    const world = cairn.createWorld();
    world.createShape(world.createBody({ kind: BodyKind.STATIC }), { kind: ShapeKind.HALF_SPACE });
    for (let i = 0; i < 40; ++i) {
        world.createShape(world.createBody({ position: [1.3 * (i % 4), 1 + 1.2 * Math.floor(i / 8), 0.7 * (i % 8)] }));
    }
    return world;
}

test('a world goes back to each of its last ticks, and on as it did', () => {
    const world = heap();
    const history = new History(world, { ticks: TICKS, bytes: 4e6 });
    const hashes = [];
    const play = (from) => {
        for (let i = from; i < TICKS; ++i) {
            hashes[i] ??= world.hash();
            assert.equal(world.hash(), hashes[i], `tick ${i}`);
            history.save();
            world.step();
        }
    };
    play(0);
    for (let tick = 0; tick < TICKS; ++tick) {
        history.restore(tick);
        assert.equal(world.tick, BigInt(tick));
        assert.equal(history.hash(tick), hashes[tick]);
        play(tick);
    }
    const other = heap();
    history.load(7, other);
    assert.equal(other.hash(), hashes[7]);
    const { ticks, oldest, newest, bytes, memory, reserved } = history.statistics;
    assert.deepEqual([ticks, oldest, newest], [TICKS, 0n, BigInt(TICKS - 1)]);
    assert.ok(bytes <= memory && memory <= reserved && reserved <= 4e6, `${bytes} ${memory} ${reserved}`);
    history.dropBefore(10);
    history.dropFrom(20);
    assert.ok(!history.holds(9) && history.holds(10) && history.holds(19n) && !history.holds(20));
    history.destroy();
    world.destroy();
    other.destroy();
});

test('a history refuses what it cannot do', () => {
    const world = heap();
    const history = new History(world, { ticks: 2, bytes: 4e6 });
    const refuses = (call, status) => assert.throws(call, (error) => error instanceof CairnError && error.status === status);
    refuses(() => history.restore(0), Status.NOT_FOUND);
    refuses(() => new History(world, { ticks: 0, bytes: 1e6 }), Status.INVALID_ARGUMENT);
    history.save();
    world.step();
    history.save();
    world.step();
    refuses(() => history.save(0), Status.CAPACITY); // no room beside those that are to be kept
    history.save();
    assert.ok(!history.holds(0) && history.holds(2));
    world.destroy();
    refuses(() => history.restore(2), Status.WRONG_STATE);
    history.destroy();
    refuses(() => history.save(), Status.WRONG_STATE);
});
