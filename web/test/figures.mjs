// SPDX-License-Identifier: MIT
// What the page promises, on a machine that has time: `./dev web` runs it. The best of three counts, because other work only makes it slower.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { close, files, open, programs, serve, startRoom, wait } from './kit.mjs';

const TRIES = 3;
let site, room;
before(async () => {
    room = await startRoom('demo');
    site = await serve(room);
});
after(close);

async function bestOf(better, measure) {
    const found = [];
    for (let i = 0; i < TRIES; ++i) {
        found.push(await measure());
    }
    return better(...found);
}

test('the first paint comes within two seconds', async () => {
    const ms = await bestOf(Math.min, async () => {
        const { tab } = await open(`${site.address}#scene=demo`);
        const paint = await tab.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
        await tab.close();
        return paint;
    });
    console.log(`first paint after ${ms.toFixed(0)} ms`);
    assert.ok(ms < 2000);
});

test('a room is joined within a second', async () => {
    const ms = await bestOf(Math.min, async () => {
        const { tab } = await open(`${site.address}#room=&as=player`);
        await tab.waitForFunction(() => window.cairnPage.source?.player > 0);
        const joined = await tab.evaluate(() => window.cairnPage.source.joinedAfter.ms);
        await tab.close();
        return joined;
    });
    console.log(`joined after ${ms.toFixed(0)} ms`);
    assert.ok(ms < 1000);
});

test('a recording of the demo room is verified at ten times real time', async () => {
    execFileSync(`${programs}/cairn-replay`, ['make', '--scene', 'demo', '--seconds', '30', '--players', '6', '--plough', '3', join(files, 'demo.cairn')]);
    const rate = await bestOf(Math.max, async () => {
        const { tab } = await open(`${site.address}#replay=test/demo.cairn`, { width: 640, height: 420 });
        const verdict = await tab.evaluate(async () => {
            window.cairnPage.source.playing = false;
            window.cairnPage.verify();
            while (window.cairnPage.verdict === null) {
                await new Promise((done) => { setTimeout(done, 20); });
            }
            return window.cairnPage.verdict;
        });
        assert.ok(verdict.good && verdict.ticks === 1800, verdict.words);
        await tab.close();
        return verdict.rate;
    });
    console.log(`verified at ${rate.toFixed(0)} times real time`);
    assert.ok(rate >= 10);
});

test('300 bodies are drawn 20 times a second by processors alone', async () => {
    const { tab } = await open(`${site.address}#scene=empty`, { width: 1280, height: 720 });
    const software = await tab.evaluate(async () => {
        await window.cairnPage.openSceneText('grid', JSON.stringify({ name: 'grid', body_capacity: 512, shape_capacity: 512, contact_capacity: 4096, bodies: [
            { kind: 'static', shapes: [{ kind: 'half_space' }] },
            { position: [-6, 0.5, -6], grid_count: [10, 3, 10], grid_spacing: [1.3, 1.2, 1.3], shapes: [{ kind: 'box', half_extents: [0.4, 0.4, 0.4] }] }] }));
        return window.cairnPage.stage.software;
    });
    await wait(3000); // until it has found how coarse the picture must be
    const rate = await bestOf(Math.max, () => tab.evaluate(async () => {
        const begin = performance.now();
        let frames = 0;
        while (performance.now() < begin + 3000) {
            await new Promise((done) => { requestAnimationFrame(done); });
            frames += 1;
        }
        return 1000 * frames / (performance.now() - begin);
    }));
    console.log(`${rate.toFixed(0)} pictures a second${software ? '' : ', by a graphics card'}`);
    assert.ok(rate >= 20);
    await tab.close();
});

// What a graphics card draws cannot be measured without one. It draws 2,000 bodies in a few calls, because they are instances; here is
// what the page itself does for a picture of them and a step of their world, which never sleeps. A sixtieth of a second has 16.7 ms.
test('the page needs less than a sixtieth of a second for a picture of 2,000 bodies that move', async () => {
    const { tab } = await open(`${site.address}#scene=empty`, { width: 320, height: 180 });
    await tab.evaluate(async () => {
        await window.cairnPage.openSceneText('grid', JSON.stringify({ name: 'grid', sleep: false, body_capacity: 2048, shape_capacity: 2048, contact_capacity: 16384, bodies: [
            { kind: 'static', shapes: [{ kind: 'half_space' }] },
            { position: [-12, 1, -12], grid_count: [20, 5, 20], grid_spacing: [1.3, 1.4, 1.3], shapes: [{ kind: 'box', half_extents: [0.4, 0.4, 0.4] }] }] }));
    });
    const spent = await bestOf(Math.min, () => tab.evaluate(async () => {
        const ask = window.requestAnimationFrame;
        window.cairnPage.source.playing = false;
        const times = [];
        window.requestAnimationFrame = (draw) => ask.call(window, (now) => {
            const begin = performance.now();
            window.cairnPage.source.step(1);
            draw(now);
            times.push(performance.now() - begin);
        });
        await new Promise((done) => { setTimeout(done, 4000); });
        window.requestAnimationFrame = ask;
        times.sort((a, b) => a - b);
        return times[times.length >> 1];
    }));
    const { bodies, calls } = await tab.evaluate(() => ({ bodies: window.cairnPage.source.picture.count, calls: window.cairnPage.stage.drawCalls }));
    console.log(`${spent.toFixed(1)} ms for a picture of ${bodies} bodies in ${calls} calls`);
    assert.ok(bodies >= 2000 && calls < 20 && spent < 1000 / 60);
    await tab.close();
});
