// SPDX-License-Identifier: MIT
// Pictures of the page beside references: world, light and dark, on a phone, overlays, and a body that differs. What is taken away is noticed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { close, difference, files, open, programs, serve, wait } from './kit.mjs';

const MEAN_MAX = 3, WORST_MAX = 16; // of 255
const writes = process.env.CAIRN_WRITE_PICTURES !== undefined;
let site, planted;
before(async () => {
    site = await serve();
    planted = execFileSync(`${programs}/npm_recordings`, [files], { encoding: 'utf8' }).trim().split(' ').map(Number);
});
after(close);

// A scene after so many ticks, which are the same everywhere.
const sceneAfter = (tab, name, ticks, overlays = []) => tab.evaluate(async ([scene, count, shown]) => {
    const page = window.cairnPage;
    await page.openScene(scene);
    page.source.playing = false;
    page.source.step(count);
    page.stage.frame(page.source.picture);
    shown.forEach((each) => page.instruments.overlays.add(each));
}, [name, ticks, overlays]);
const SCENE = '#fine&scene=empty', WIDE = { width: 640, height: 420 };

// What is set up, and what is then taken away.
const CASES = {
    light: [SCENE, WIDE, (tab) => sceneAfter(tab, 'demo', 120), (page) => page.source.picture.hidden.fill(1)],
    coarse: ['#scene=empty', WIDE, (tab) => sceneAfter(tab, 'demo', 120), (page) => page.source.picture.hidden.fill(1)], // as processors draw it
    dark: [SCENE, { ...WIDE, dark: true }, (tab) => sceneAfter(tab, 'demo', 120), (page) => { page.stage.sun.intensity = 0; }],
    phone: [SCENE, { width: 390, height: 700, touch: true }, (tab) => sceneAfter(tab, 'demo', 120), (page) => page.stage.turn(0.3, 0)],
    overlays: [SCENE, WIDE, (tab) => sceneAfter(tab, 'stack10', 30, ['contacts', 'boxes', 'sleep']), (page) => page.instruments.overlays.clear()],
    difference: ['#fine&replay=test/planted.cairn', WIDE,
        (tab) => tab.evaluate(([body, tick]) => window.cairnPage.showDifference(tick, body), planted), (page) => page.differs.clear()],
};

for (const [name, [hash, size, prepare, spoil]] of Object.entries(CASES)) {
    test(`the page looks as its reference: ${name}`, async () => {
        const { tab, complaints } = await open(site.address + hash, size);
        await prepare(tab);
        await wait(400); // numbers are written a few times a second
        const { mean, worst } = await difference(tab, name);
        console.log(`${name}: ${mean.toFixed(2)} of 255 apart, at most ${worst.toFixed(1)}`);
        assert.ok(mean <= MEAN_MAX && worst <= WORST_MAX);
        await tab.evaluate(`(${spoil})(window.cairnPage)`);
        await wait(400);
        if (!writes) {
            const spoilt = await difference(tab, name);
            console.log(`${name}, spoilt: ${spoilt.mean.toFixed(2)}, ${spoilt.worst.toFixed(1)}`);
            assert.ok(spoilt.mean > MEAN_MAX || spoilt.worst > WORST_MAX, 'what is missing is noticed');
        }
        assert.deepEqual(complaints, []);
        await tab.close();
    });
}
