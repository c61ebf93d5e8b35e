// SPDX-License-Identifier: MIT
// Worlds without a server, in Chromium: what is drawn, what a person can do, and that nothing complains.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { close, open, serve, shot } from './kit.mjs';

let site;
before(async () => { site = await serve(); });
after(close);

const tickOf = (tab) => tab.evaluate(() => window.cairnPage.source.picture.tick);

// The share of pixels of the most frequent colour, and how many colours there are, of a part of the canvas.
const colours = (tab) => tab.evaluate(() => {
    const { stage, source } = window.cairnPage;
    stage.draw(source.picture, null);
    const small = document.createElement('canvas');
    [small.width, small.height] = [200, 120];
    const context = small.getContext('2d');
    context.drawImage(stage.canvas, 0, 0, 200, 120);
    const count = new Map(), { data } = context.getImageData(0, 0, 200, 120);
    for (let i = 0; i < data.length; i += 4) {
        const key = (data[i] >> 3) * 1024 + (data[i + 1] >> 3) * 32 + (data[i + 2] >> 3);
        count.set(key, (count.get(key) ?? 0) + 1);
    }
    return { most: Math.max(...count.values()) / 24000, different: count.size };
});

test('the demo scene is drawn and steps, in light and dark, on a phone', async () => {
    for (const [name, how] of Object.entries({ light: {}, dark: { dark: true }, phone: { width: 390, height: 780, touch: true } })) {
        const { tab, complaints } = await open(site.address + (process.env.CAIRN_SHOTS === undefined ? '' : '#fine'), { width: 640, height: 420, ...how });
        await tab.waitForFunction(() => window.cairnPage.source?.picture.tick > 30 && window.cairnPage.instruments.framesPerSecond > 0);
        const { most, different } = await colours(tab);
        assert.ok(most < 0.9 && different > 40, `${name}: ${most} of one colour, ${different} colours`);
        await shot(tab, `world-${name}`);
        assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
        assert.deepEqual(complaints, []);
        await tab.close();
    }
});

test('the page has the bits of every other build', async () => {
    const { tab, complaints } = await open(`${site.address}#scene=stack10`);
    const hashes = await tab.evaluate(async () => {
        const { cairn } = window.cairnPage;
        const world = cairn.createWorldFromScene('{ "name": "one", "bodies": [ { "position": [0, 3, 0], "shapes": [ { "kind": "box", "half_extents": [0.5, 0.5, 0.5] } ] } ] }');
        const again = cairn.createWorldFromEncoding(world.encode());
        for (let i = 0; i < 60; ++i) {
            world.step();
            again.step();
        }
        return [world.hash(), again.hash()];
    });
    assert.match(hashes[0], /^[0-9a-f]{32}$/);
    assert.equal(hashes[0], hashes[1]);
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('keys and buttons pause, step and restart; a click shows the fields of a body', async () => {
    const { tab, complaints } = await open(`${site.address}#scene=stack10`, { width: 800, height: 500 });
    await tab.waitForFunction(() => window.cairnPage.source?.picture.tick > 30); // the boxes touch, so there is something to draw
    await tab.keyboard.press(' ');
    const paused = await tickOf(tab);
    await tab.keyboard.press('.');
    assert.equal(await tickOf(tab), paused + 1);
    // A body that nothing of the page covers: where it is on the screen depends on the tick of the first picture.
    const at = await tab.evaluate(() => {
        const { stage, source: { picture } } = window.cairnPage;
        for (let row = 0; row < picture.count; ++row) {
            const point = stage.orbit.target.clone().fromArray(picture.pose, 7 * row).project(stage.camera), id = picture.id[row];
            const x = (point.x + 1) / 2 * innerWidth, y = (1 - point.y) / 2 * innerHeight;
            if (picture.kind[row] !== 0 && document.elementFromPoint(x, y)?.id === 'view' && stage.pick(x, y)?.body === id) {
                return { x, y, id };
            }
        }
        return null;
    });
    assert.notEqual(at, null);
    await tab.mouse.click(at.x, at.y);
    await tab.waitForFunction((id) => [...document.querySelectorAll('#panel dd')].some((each) => each.textContent === String(id)), {}, at.id);
    for (const overlay of ['contacts', 'boxes', 'frames', 'islands', 'sleep']) {
        await tab.evaluate((name) => [...document.querySelectorAll('#panel button')].find((each) => each.textContent === name).click(), overlay);
    }
    await tab.waitForFunction(() => window.cairnPage.stage.lines.count > 100);
    await shot(tab, 'world-overlays');
    await tab.evaluate(() => [...document.querySelectorAll('#panel button')].find((each) => each.textContent === 'restart').click());
    await tab.waitForFunction((tick) => window.cairnPage.source.picture.tick < tick, {}, paused);
    assert.deepEqual(complaints, []);
    await tab.close();
});

// Contrast as WCAG 2.1 defines it: 4.5 for text. A background that lets others through is mixed with them.
const contrasts = (tab) => tab.evaluate(() => {
    const numbers = (colour) => { const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
    const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
    const behind = (element) => element === null ? [255, 255, 255, 1]
        : over(numbers(getComputedStyle(element).backgroundColor), numbers(getComputedStyle(element).backgroundColor)[3] === 1 ? [0, 0, 0, 1] : behind(element.parentElement));
    const light = (colour) => colour.slice(0, 3).map((each) => each / 255).map((each) => each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
        .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0);
    const texts = [...document.querySelectorAll('#head *, #panel *, #bar *')].filter((each) => each.offsetParent !== null && !each.disabled &&
        [...each.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== ''));
    return texts.map((each) => {
        const back = behind(each), [a, b] = [light(over(numbers(getComputedStyle(each).color), back)), light(back)].sort((x, y) => y - x);
        return { text: each.textContent, ratio: (a + 0.05) / (b + 0.05) };
    });
});

test('text is readable in light and dark; every control has a name and is reached by keys', async () => {
    for (const dark of [false, true]) {
        const { tab } = await open(`${site.address}#scene=stack10`, { width: 1000, height: 640, dark });
        await tab.waitForFunction(() => window.cairnPage.source?.picture.tick > 5);
        let all = await contrasts(tab);
        for (let i = 0; i < 20 && all.some(({ ratio }) => ratio < 4.5); ++i) { // Chromium computes some styles a frame late
            await tab.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
            all = await contrasts(tab);
        }
        assert.ok(all.length > 20);
        assert.deepEqual(all.filter(({ ratio }) => ratio < 4.5), [], dark ? 'dark' : 'light');
        if (!dark) {
            const wanted = await tab.evaluate(() => [...document.querySelectorAll('button, select, input, canvas')].filter((each) => each.offsetParent !== null || each.id === 'view')
                .map((each) => { each.dataset.seen = ''; return each.getAttribute('aria-label') || each.title || each.textContent.trim(); }));
            assert.ok(wanted.length > 10 && wanted.every((name) => name !== ''), wanted.join());
            for (let i = 0; i < 2 * wanted.length; ++i) {
                await tab.keyboard.press('Tab');
                await tab.evaluate(() => { document.activeElement.dataset.seen = 'yes'; });
            }
            const missed = await tab.evaluate(() => [...document.querySelectorAll('[data-seen=""]')].filter((each) => !each.disabled).map((each) => each.outerHTML));
            assert.deepEqual(missed, []);
        }
        await tab.close();
    }
});

// What each overlay alone adds: lines, or colours of bodies.
test('each overlay of a world shows what it says', async () => {
    const { tab, complaints } = await open(`${site.address}#scene=joints`, { width: 640, height: 420 });
    const seen = await tab.evaluate(() => {
        const { source, instruments, stage } = window.cairnPage, page = window.cairnPage;
        source.playing = false;
        source.step(60);
        const colours = () => stage.bodies.groups.map(({ mesh }) => [...mesh.instanceColor.array].map((each) => each.toFixed(3)).join()).join();
        const show = (names) => {
            instruments.overlays.clear();
            names.forEach((name) => instruments.overlays.add(name));
            page.mark(source, stage.bodies, stage.lines);
            return { lines: stage.lines.count, colours: colours() };
        };
        const none = show([]);
        return Object.fromEntries(['contacts', 'joints', 'joint impulses', 'boxes', 'frames', 'islands', 'sleep', 'prediction', 'interest'].map((name) => {
            const { lines, colours: now } = show([name]);
            return [name, { lines: lines - none.lines, other: now !== none.colours }];
        }));
    });
    const { bodies, joints, points } = await tab.evaluate(() => {
        const { counts } = window.cairnPage.source.world();
        return { bodies: counts.bodies, joints: counts.joints, points: counts.contact_points };
    });
    assert.ok(points > 0 && joints > 0);
    assert.ok(seen.contacts.lines >= points && seen.joints.lines >= joints && seen['joint impulses'].lines >= joints / 2 && seen.boxes.lines >= 12 && seen.frames.lines === 3 * bodies, JSON.stringify(seen));
    assert.deepEqual([seen.islands, seen.sleep], Array(2).fill({ lines: 0, other: true }));
    assert.deepEqual([seen.prediction.lines, seen.interest], [bodies, { lines: 0, other: false }]); // nothing is predicted, and no server sends
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('brackets and Enter choose bodies; the page tells its passport, its last hashes and how its steps are solved', async () => {
    const { tab, complaints } = await open(`${site.address}#scene=stack10`, { width: 800, height: 500 });
    await tab.waitForFunction(() => window.cairnPage.source?.picture.tick > 20 && window.cairnPage.instruments.peer.measures !== null);
    await tab.keyboard.press(' '); // before the stack sleeps, where nothing is solved that could be measured
    const selected = () => tab.evaluate(() => window.cairnPage.instruments.selected);
    const ids = await tab.evaluate(() => { const { picture } = window.cairnPage.source; return [...picture.id.subarray(0, picture.count)].filter((_, row) => picture.kind[row] !== 0).sort((a, b) => a - b); });
    await tab.keyboard.press(']');
    assert.equal(await selected(), ids[0]);
    await tab.keyboard.press(']');
    assert.equal(await selected(), ids[1]);
    await tab.keyboard.press('[');
    await tab.keyboard.press('[');
    assert.equal(await selected(), ids.at(-1));
    await tab.keyboard.press('Escape');
    assert.equal(await selected(), 0);
    await tab.keyboard.press('Enter');
    assert.ok(ids.includes(await selected()));
    for (let i = 0; i < 10; ++i) {
        await tab.keyboard.press('.');
    }
    await tab.waitForFunction(() => document.querySelectorAll('#panel .mono dd').length === 8);
    const { hashes, whole, measures, passport, lines } = await tab.evaluate(() => {
        const { source, instruments } = window.cairnPage;
        const vector = [...document.querySelectorAll('#panel dd.whole')];
        return { hashes: source.hashes.map(({ tick, hash }) => [tick, hash]), whole: vector.length, measures: instruments.peer.measures, passport: instruments.peer.passport.state,
            lines: vector.filter((each) => each.getClientRects().length > 0 && each.offsetHeight > 26).map((each) => each.textContent) };
    });
    assert.equal(hashes.length, 8);
    assert.deepEqual(hashes.map(([tick]) => hashes[0][0] - tick), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert.ok(hashes.every(([, hash]) => /^[0-9a-f]{32}$/.test(hash)));
    assert.equal(passport, 'good');
    assert.ok(whole >= 4);
    assert.deepEqual(lines, []); // vectors and hashes are on one line
    assert.ok(measures.rows > 0 && measures.contacts > 0 && measures.residual >= 0 && measures.penetration > 0 && measures.penetration < 0.01, JSON.stringify(measures));
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('a scene that is wrong is refused with its lines', async () => {
    const { tab } = await open(site.address);
    await tab.evaluate(() => window.cairnPage.openSceneText('wrong', '{ "name": "wrong",\n "bodies": 7 }'));
    const words = await tab.evaluate(() => document.getElementById('message').textContent);
    assert.match(words, /line 2/);
    await tab.close();
});
