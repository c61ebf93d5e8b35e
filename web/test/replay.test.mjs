// SPDX-License-Identifier: MIT
// Recordings in the page: played, scrubbed, verified in a worker; a planted difference is found at its tick and body.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { close, files, open, page, programs, serve, shot } from './kit.mjs';

let site, planted;
before(async () => {
    site = await serve();
    planted = execFileSync(`${programs}/npm_recordings`, [files], { encoding: 'utf8' }).trim().split(' ').map(Number);
});
after(close);

const press = (tab, text, where = '#panel') => tab.evaluate(([name, place]) => [...document.querySelectorAll(`${place} button`)].find((each) => each.textContent === name).click(), [text, where]);
const tickOf = (tab) => tab.evaluate(() => window.cairnPage.source.picture.tick);
const verdictOf = async (tab) => {
    await press(tab, 'verify');
    await tab.waitForFunction(() => window.cairnPage.verdict !== null);
    return tab.evaluate(() => window.cairnPage.verdict);
};

test('a recording plays, steps back, is scrubbed and verified', async () => {
    const { tab, complaints } = await open(`${site.address}#replay=test/good.cairn`, { width: 640, height: 420 });
    await tab.waitForFunction(() => window.cairnPage.source?.picture.tick > 3);
    await tab.keyboard.press(' ');
    const seek = (tick) => tab.evaluate((to) => {
        const { source } = window.cairnPage;
        source.seek(to);
        return [source.picture.tick, source.hash];
    }, tick);
    const [tick, hash] = await seek(300);
    assert.equal(tick, 300);
    await tab.keyboard.press('.');
    assert.equal(await tab.evaluate(() => window.cairnPage.source.picture.tick), 301);
    await tab.keyboard.press(',');
    assert.deepEqual(await tab.evaluate(() => [window.cairnPage.source.picture.tick, window.cairnPage.source.hash]), [300, hash]);
    assert.deepEqual(await tab.evaluate(() => window.cairnPage.source.marks().map((mark) => [mark.tick, mark.kind])), [[10, 'join']]);
    const verdict = await verdictOf(tab);
    assert.equal(verdict.good, true, verdict.words);
    assert.equal(verdict.ticks, 1200);
    console.log(`verified ${verdict.ticks} ticks in ${verdict.seconds.toFixed(2)} s, ${verdict.rate.toFixed(0)} times real time`);
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('a planted difference is shown at its tick and its body', async () => {
    const { tab, complaints } = await open(`${site.address}#replay=test/planted.cairn`, { width: 640, height: 420 });
    const [body, tick] = planted;
    const verdict = await verdictOf(tab);
    assert.deepEqual([verdict.good, verdict.tick, verdict.body], [false, tick, body], verdict.words);
    await press(tab, 'show it');
    assert.deepEqual(await tab.evaluate(() => [window.cairnPage.source.picture.tick, window.cairnPage.instruments.selected]), [tick, body]);
    await tab.waitForFunction((id) => [...document.querySelectorAll('#panel dd')].some((each) => each.textContent === String(id)), {}, body);
    await shot(tab, 'replay-difference');
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('a timeline has the mark of the highest rank for each pixel, and a list of events that seek', async () => {
    const { tab, complaints } = await open(`${site.address}#replay=test/good.cairn`, { width: 1000, height: 700 });
    await tab.waitForFunction(() => window.cairnPage.source?.picture.tick > 3);
    await tab.keyboard.press(' ');
    await tab.evaluate(() => {
        const { source } = window.cairnPage, many = Array.from({ length: 3000 }, (_, i) => ({ tick: Math.floor(i / 3), kind: 'operator', words: `operator: spawn ${i}` }));
        const marks = [...source.marks(), ...many, { tick: 700, kind: 'leave', words: 'player 0 left' }];
        source.marks = () => marks;
    });
    await tab.waitForFunction(() => document.querySelectorAll('#bar .marks i.leave').length === 1);
    const seen = await tab.evaluate(() => {
        const all = [...document.querySelectorAll('#bar .marks i')], places = all.map((each) => each.style.left);
        return { joins: all.filter((each) => each.className === 'join').length, count: all.length, different: new Set(places).size, width: document.querySelector('#bar .marks').clientWidth };
    });
    assert.equal(seen.joins, 1);
    assert.ok(seen.count === seen.different && seen.count <= seen.width + 1 && seen.count > 100, JSON.stringify(seen));
    // The list is opened and pressed by keys alone.
    await tab.focus('#panel details summary');
    await tab.keyboard.press('Enter');
    await tab.waitForFunction(() => document.querySelectorAll('#panel .events button').length === 200);
    await tab.focus('#panel select[aria-label="Which events"]');
    await tab.select('#panel select[aria-label="Which events"]', 'leave');
    await tab.waitForFunction(() => document.querySelectorAll('#panel .events button').length === 1);
    await tab.focus('#panel .events button');
    await tab.keyboard.press('Enter');
    assert.equal(await tickOf(tab), 700);
    assert.match(await tab.evaluate(() => document.activeElement.textContent), /700: player 0 left/);
    const place = await tab.evaluate(() => { const { left, top } = document.querySelector('#bar .marks i.leave').getBoundingClientRect(); return [left + 1, top - 8]; });
    await tab.mouse.move(...place);
    assert.match(await tab.evaluate(() => document.querySelector('#bar .grow').title), /tick 700: player 0 left/);
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('a recording is verified once at a time, and the verdict stays when tabs change', async () => {
    const { tab, complaints } = await open(`${site.address}#replay=test/good.cairn`, { width: 1000, height: 700 });
    await tab.waitForFunction(() => window.cairnPage.source?.picture.tick > 3);
    const workers = await tab.evaluate(async () => {
        const { verifier } = (window.cairnPage.verify(), window.cairnPage);
        window.cairnPage.verify();
        const same = window.cairnPage.verifier === verifier;
        await window.cairnPage.openTab('world');
        await window.cairnPage.openTab('replay'); // while it is verified
        return same;
    });
    assert.equal(workers, true);
    await tab.waitForFunction(() => /Verified/.test(document.querySelector('#panel [role=status]').textContent));
    await press(tab, 'World', '#tabs');
    await press(tab, 'Replay', '#tabs');
    assert.match(await tab.evaluate(() => document.querySelector('#panel [role=status]').textContent), /Verified/);
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('one file of cairn-replay page plays, verifies and shows the difference, without a server', async () => {
    const file = join(files, 'planted.html');
    execFileSync(`${programs}/cairn-replay`, ['page', join(files, 'planted.cairn'), file, '--page', join(page, 'standalone.html')]);
    const { tab, complaints } = await open(pathToFileURL(file).href, { width: 640, height: 420 });
    await tab.waitForFunction(() => window.cairnPage.source?.picture.tick > 3 && window.cairnPage.source.title === 'planted.cairn');
    const verdict = await verdictOf(tab);
    assert.deepEqual([verdict.good, verdict.tick, verdict.body], [false, planted[1], planted[0]], verdict.words);
    await press(tab, 'show it');
    assert.equal(await tab.evaluate(() => window.cairnPage.instruments.selected), planted[0]);
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('a capsule is two worlds side by side, with the field that differs', async () => {
    execFileSync(`${programs}/test_capsule_explain`, [join(files, 'capsule.cairn')], { stdio: 'ignore' });
    const { tab, complaints } = await open(`${site.address}#replay=test/capsule.cairn`, { width: 1000, height: 560 });
    await tab.waitForFunction(() => window.cairnPage.source?.beside?.picture.count > 5);
    const panel = await tab.evaluate(() => document.getElementById('panel').textContent);
    const found = /1 word differs after the step:body 4, linear_velocity\.yserver\S+ \((0x\w+)\)client\S+ \((0x[0-9a-f]+)\)/.exec(panel);
    assert.equal(Number(found?.[1]) ^ Number(found?.[2]), 1 << 20, panel);
    assert.match(panel, /this page's step isthe server's/);
    // It opens at the body, and says what differs without the panel.
    const opened = await tab.evaluate(() => [window.cairnPage.instruments.selected, window.cairnPage.stage.distance, document.getElementById('sides').innerText]);
    assert.equal(opened[0], 4);
    assert.ok(opened[1] < 8.1, `the camera is ${opened[1]} m away`);
    assert.match(opened[2], /body 4, linear_velocity\.y differs\s+\S+ \(0x\w+\)\s+\S+ \(0x\w+\)/);
    await press(tab, 'body 4, linear_velocity.y');
    assert.equal(await tab.evaluate(() => window.cairnPage.instruments.selected), 4);
    // The body is picked in each half, and the step is gone back.
    const places = await tab.evaluate(() => {
        const { stage, source } = window.cairnPage, { picture } = source, row = picture.id.indexOf(4);
        stage.draw(picture, source.beside.picture);
        const at = stage.orbit.target.clone().fromArray(picture.pose, 7 * row).project(stage.camera);
        const { width, height } = stage.free(), x = (at.x + 1) / 2 * width, y = (1 - at.y) / 2 * height;
        return [[x, y], [x + width, y]];
    });
    for (const [x, y] of places) {
        await tab.evaluate(() => { window.cairnPage.instruments.selected = 0; });
        await tab.mouse.click(x, y);
        assert.equal(await tab.evaluate(() => window.cairnPage.instruments.selected), 4, `at ${x}, ${y}`);
    }
    await shot(tab, 'replay-capsule');
    await tab.keyboard.press(',');
    assert.deepEqual(await tab.evaluate(() => [window.cairnPage.source.first, window.cairnPage.source.picture.tick, window.cairnPage.source.beside.picture.tick]),
        Array(3).fill(await tab.evaluate(() => window.cairnPage.source.last - 1)));
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('a film of cairn-replay plays in a browser, and shows the tick of each moment', async () => {
    const camera = ['--size', '320x180', '--eye', '6,5,12', '--target', '0,1,0'];
    const film = (...words) => execFileSync(`${programs}/cairn-replay`, ['film', join(files, 'good.cairn'), ...words, ...camera]);
    film(join(files, 'film.webm'), '--to', '120');
    film(join(files, 'first.png'), '--tick', '0');
    film(join(files, 'later.png'), '--tick', '90');
    const { tab } = await open(site.address, { width: 640, height: 420 });
    const seen = await tab.evaluate(async () => {
        const video = document.createElement('video'), heard = (name) => new Promise((done) => { video.addEventListener(name, done, { once: true }); });
        video.src = URL.createObjectURL(await (await fetch('test/film.webm')).blob());
        await heard('loadeddata');
        const pixels = (from) => {
            const canvas = document.createElement('canvas'), context = canvas.getContext('2d');
            [canvas.width, canvas.height] = [320, 180];
            context.drawImage(from, 0, 0);
            return context.getImageData(0, 0, 320, 180).data;
        };
        const picture = async (name) => createImageBitmap(await (await fetch(`test/${name}.png`)).blob());
        const [first, later] = [pixels(await picture('first')), pixels(await picture('later'))];
        const apart = (a, b) => a.reduce((sum, each, i) => sum + Math.abs(each - b[i]), 0) / a.length;
        const at = async (seconds) => {
            const sought = heard('seeked');
            video.currentTime = seconds + 0.01;
            await sought;
            return pixels(video);
        };
        const then = await at(1.5), begin = await at(0);
        return { seconds: video.duration, width: video.videoWidth, height: video.videoHeight, beginIsFirst: apart(begin, first), thenIsLater: apart(then, later),
            moved: apart(first, later), wrong: apart(then, first) };
    });
    assert.deepEqual([seen.seconds.toFixed(3), seen.width, seen.height], [(61 / 30).toFixed(3), 320, 180]);
    assert.ok(seen.beginIsFirst < 2 && seen.thenIsLater < 2 && seen.wrong > 1.5 * seen.thenIsLater && seen.moved > 0, JSON.stringify(seen));
    console.log(`the film is ${seen.thenIsLater.toFixed(2)} of 255 from the picture of its tick, ${seen.wrong.toFixed(2)} from another`);
    await tab.close();
});

test('a file that is no recording is refused', async () => {
    const { tab } = await open(site.address, { width: 640, height: 420 });
    await tab.evaluate(() => window.cairnPage.openRecording('x', new Uint8Array(100)));
    assert.match(await tab.evaluate(() => document.getElementById('message').textContent), /magic|not a/);
    await tab.close();
});
