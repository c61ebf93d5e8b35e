// SPDX-License-Identifier: MIT
// Operators in the page: a room is paused, stepped, gone back, forked, edited, and a body is dragged.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { close, open, serve, shot, startRoom } from './kit.mjs';

let room, site;
before(async () => {
    room = await startRoom('demo', ['--control']);
    site = await serve(room);
});
after(close);

const worldTick = (tab) => tab.evaluate(() => Number(window.cairnPage.source.world()?.tick ?? -1));
// Presses a button of the panel once it is there (the page asks for the room's state now and then), and waits for the answer.
const ask = async (tab, name) => {
    await tab.waitForFunction((text) => [...document.querySelectorAll('#panel button')].some((each) => each.textContent === text), {}, name);
    const before = await tab.evaluate(() => window.cairnPage.source.operator.answered);
    await tab.evaluate((text) => [...document.querySelectorAll('#panel button')].find((each) => each.textContent === text).click(), name);
    await tab.waitForFunction((count) => window.cairnPage.source.operator.answered > count, {}, before);
    return tab.evaluate(() => window.cairnPage.source.operator.words);
};
const join = async (more) => {
    const { tab, complaints } = await open(`${site.address}#room=&as=spectator&mode=heal${more}`, { width: 1000, height: 600 });
    await tab.waitForFunction(() => window.cairnPage.source.world() !== null && window.cairnPage.source.picture.count > 200);
    return { tab, complaints };
};

test('an operator pauses, steps, goes back, forks, spawns and deletes', async () => {
    const { tab, complaints } = await join('&operator');
    assert.match(await ask(tab, 'pause'), /^pause: done/);
    const paused = /tick (\d+)/.exec(await ask(tab, 'step'));
    assert.match(await ask(tab, 'step 60'), new RegExp(`^step: done, tick ${Number(paused[1]) + 60}$`));
    await tab.waitForFunction((tick) => Number(window.cairnPage.source.world()?.tick ?? -1) === tick, {}, Number(paused[1]) + 60);
    await tab.type('#panel [aria-label="Tick to seek"]', paused[1]);
    assert.match(await ask(tab, 'seek'), /^seek: done/);
    await tab.waitForFunction((tick) => Number(window.cairnPage.source.world()?.tick ?? -1) === tick, {}, Number(paused[1]));
    await tab.type('#panel [aria-label="Name of the new room"]', 'other');
    assert.match(await ask(tab, 'fork'), /^fork: done/);
    assert.match(await ask(tab, 'resume'), /^resume: done/);
    const count = await tab.evaluate(() => window.cairnPage.source.picture.count);
    await ask(tab, 'spawn box');
    await ask(tab, 'spawn ball');
    await tab.waitForFunction((bodies) => window.cairnPage.source.picture.count === bodies + 2, {}, count);
    await tab.evaluate(() => { window.cairnPage.instruments.selected = Math.max(...window.cairnPage.source.picture.id.subarray(0, window.cairnPage.source.picture.count)); });
    await ask(tab, 'delete');
    await tab.waitForFunction((bodies) => window.cairnPage.source.picture.count === bodies + 1, {}, count);
    await tab.evaluate(() => { window.cairnPage.instruments.selected = 1; });
    await shot(tab, 'operator');
    const { differed } = await tab.evaluate(() => ({ differed: Number(window.cairnPage.source.statistics().simulation.roots_differed) }));
    assert.equal(differed, 0);
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('an operator drags a body; without the right there is no card, and the server refuses', async () => {
    const { tab, complaints } = await join('&operator');
    await tab.waitForFunction(() => window.cairnPage.source.operator.allowed);
    // A body that lies somewhere in the picture, which the pointer takes and lifts: with Alt, and then, as a finger, while "drag" is pressed.
    for (const alt of [true, false]) {
        await lift(tab, alt);
    }
    assert.deepEqual(complaints, []);
    await tab.close();
    await refuses();
});

async function lift(tab, alt) {
    if (!alt) {
        await tab.evaluate(() => [...document.querySelectorAll('#panel button')].find((each) => each.textContent === 'drag').click());
    }
    const place = await tab.waitForFunction((altKey) => {
        const { source: { picture }, stage } = window.cairnPage;
        for (let i = 0; i < picture.count; ++i) {
            const at = stage.orbit.target.clone().fromArray(picture.pose, 7 * i).project(stage.camera);
            const { width, height } = stage.canvas.getBoundingClientRect();
            const found = { id: picture.id[i], x: (at.x + 1) / 2 * width, y: (1 - at.y) / 2 * height, height: picture.pose[7 * i + 1] };
            if (picture.kind[i] === 2 && found.y > 200 && stage.pick(found.x, found.y)?.body === found.id) {
                const event = (type, y) => new PointerEvent(type, { pointerId: 1, bubbles: true, altKey, clientX: found.x, clientY: y });
                stage.canvas.setPointerCapture = stage.canvas.releasePointerCapture = () => {};
                stage.canvas.dispatchEvent(event('pointerdown', found.y));
                stage.canvas.dispatchEvent(event('pointermove', 60));
                return found;
            }
        }
        return false;
    }, {}, alt).then((handle) => handle.jsonValue());
    const lifted = (by) => tab.waitForFunction(([id, height]) => {
        const { picture } = window.cairnPage.source;
        return Math.sign(height) * picture.pose[7 * picture.id.indexOf(id) + 1] > height;
    }, {}, [place.id, by]);
    await lifted(place.height + 2);
    await tab.evaluate(() => window.cairnPage.stage.canvas.dispatchEvent(new PointerEvent('pointerup', { pointerId: 1, bubbles: true })));
    await lifted(-(place.height + 1)); // it falls again
}

async function refuses() {
    const plain = await join('');
    assert.equal(await plain.tab.evaluate(() => [...document.querySelectorAll('#panel button')].find((each) => each.textContent === 'pause').closest('section').hidden), true);
    assert.match(await ask(plain.tab, 'pause'), /^pause: .*right/);
    const tick = await worldTick(plain.tab);
    await plain.tab.waitForFunction((before) => Number(window.cairnPage.source.world()?.tick ?? -1) > before + 30, {}, tick);
    await plain.tab.close();
}
