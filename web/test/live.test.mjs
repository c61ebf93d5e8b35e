// SPDX-License-Identifier: MIT
// The page as a client of a cairnd: it joins, plays and watches, with the server's bits, over a path that loses datagrams.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { close, open, serve, shot, startRoom } from './kit.mjs';

const seconds = Number(process.env.CAIRN_LIVE_SECONDS ?? 4);
let room;
before(async () => { room = await startRoom('demo'); });
after(close);

const statistics = (tab) => tab.evaluate(() => JSON.parse(JSON.stringify(window.cairnPage.source.statistics(),
    (_, value) => typeof value === 'bigint' ? Number(value) : value)));
const playerAt = (tab) => tab.evaluate(() => {
    const { picture, player } = window.cairnPage.source, row = picture.id.indexOf(player);
    return Array.from(picture.pose.subarray(7 * row, 7 * row + 3));
});

test('a player joins, moves and predicts without a difference while one in fifty datagrams is lost', async () => {
    const site = await serve(room, { loss: 0.02 });
    const { tab, complaints } = await open(`${site.address}#room=&as=player`, { width: 640, height: 420 });
    await tab.waitForFunction(() => window.cairnPage.source?.player > 0);
    const joined = await tab.evaluate(() => window.cairnPage.source.joinedAfter.ms);
    const from = await playerAt(tab);
    await tab.keyboard.down('KeyW');
    const compared = (await statistics(tab)).simulation.roots_compared + 60 * seconds;
    await tab.waitForFunction((ticks) => window.cairnPage.source.statistics().simulation.roots_compared >= ticks, {}, compared);
    // On a machine that is busy inputs come too late for some seconds, and the player stands.
    let to = await playerAt(tab);
    for (let i = 0; i < 600 && Math.hypot(to[0] - from[0], to[2] - from[2]) <= 2; ++i) {
        await new Promise((done) => { setTimeout(done, 100); });
        to = await playerAt(tab);
    }
    await tab.keyboard.up('KeyW');
    assert.ok(Math.hypot(to[0] - from[0], to[2] - from[2]) > 2, `moved from ${from} to ${to}`);
    await tab.evaluate(() => [...document.querySelectorAll('#panel button')].find((each) => each.textContent === 'prediction').click());
    await tab.waitForFunction(() => window.cairnPage.stage.lines.count > 200); // one for each body
    const { simulation, connection } = await statistics(tab);
    assert.equal(simulation.roots_differed, 0);
    assert.ok(connection.slot < 64 && connection.datagrams_sent > 60);
    const facts = await tab.evaluate(() => document.getElementById('panel').textContent);
    assert.match(facts, /hashes that differed0/);
    assert.match(facts, /round trip/);
    await shot(tab, 'live-player');
    console.log(`joined in ${joined.toFixed(0)} ms, ${simulation.roots_compared} hashes compared`);
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('a WebSocket that ends is opened again, and the session goes on', async () => {
    const site = await serve(room);
    const { tab, complaints } = await open(`${site.address}#room=&as=player`, { width: 640, height: 420 });
    await tab.waitForFunction(() => window.cairnPage.source?.player > 0 && window.cairnPage.source.statistics().simulation.roots_compared > 10);
    const before = await statistics(tab);
    for (let i = 0; i < 2; ++i) {
        site.state.drop();
        await tab.waitForFunction((times) => window.cairnPage.source.socket.lost > times, {}, i);
        await tab.waitForFunction((compared) => window.cairnPage.source.socket.open && window.cairnPage.source.statistics().simulation.roots_compared > compared,
            {}, (await statistics(tab)).simulation.roots_compared + 30);
    }
    const { simulation, connection } = await statistics(tab);
    assert.equal(simulation.roots_differed, 0);
    assert.equal(connection.slot, before.connection.slot);
    assert.deepEqual(await tab.evaluate(() => [window.cairnPage.source.failed, document.getElementById('message').hidden]), [false, true]);
    assert.deepEqual(complaints.filter((each) => !/WebSocket connection to/.test(each)), []);
    await tab.close();
});

test('keys belong to the player after a click in the panel, and to a button that keys reached', async () => {
    const site = await serve(room);
    const { tab, complaints } = await open(`${site.address}#room=&as=player`, { width: 1000, height: 700 });
    await tab.waitForFunction(() => window.cairnPage.source?.player > 0 && !window.cairnPage.instruments.toggles.get('contacts').disabled);
    const held = () => tab.evaluate(() => [...window.cairnPage.controls.held]);
    const contacts = await tab.evaluateHandle(() => window.cairnPage.instruments.toggles.get('contacts'));
    const pressed = () => contacts.evaluate((button) => button.getAttribute('aria-pressed'));
    await contacts.click();
    await tab.keyboard.down('KeyW');
    await tab.keyboard.down('Space');
    assert.deepEqual(await held(), ['KeyW', 'Space']);
    await tab.keyboard.up('Space');
    await tab.keyboard.up('KeyW');
    assert.equal(await pressed(), 'true'); // space is the player's
    await tab.keyboard.press('Tab');
    await contacts.focus();
    await tab.keyboard.down('KeyW');
    assert.deepEqual(await held(), ['KeyW']);
    await tab.keyboard.up('KeyW');
    await tab.keyboard.press('Space');
    assert.equal(await pressed(), 'false');
    await tab.focus('[aria-label=Token]');
    await tab.keyboard.down('KeyW');
    assert.deepEqual(await held(), []); // it is a letter
    await tab.keyboard.up('KeyW');
    const reasons = await tab.evaluate(() => ['interest', 'prediction'].map((name) => {
        const button = window.cairnPage.instruments.toggles.get(name);
        return [button.disabled, button.title];
    }));
    assert.deepEqual(reasons.map(([off]) => off), [true, false]);
    assert.match(reasons[0][1], /part of a room/);
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('a spectator watches snapshots, and one that is a peer has the server\'s hash', async () => {
    const site = await serve(room);
    for (const mode of ['interpolate', 'heal', 'lockstep']) {
        const { tab, complaints } = await open(`${site.address}#room=&as=spectator&mode=${mode}`, { width: 640, height: 420, touch: true });
        await tab.waitForFunction(() => window.cairnPage.source?.picture.count > 200 && window.cairnPage.source.shapes.list.length > 200);
        if (mode !== 'interpolate') {
            await tab.waitForFunction(() => window.cairnPage.source.statistics().simulation.roots_compared > 30);
            assert.equal((await statistics(tab)).simulation.roots_differed, 0);
            assert.match(await tab.evaluate(() => window.cairnPage.source.hash), /^[0-9a-f]{32}$/);
        }
        assert.equal((await statistics(tab)).connection.slot, 65535);
        await shot(tab, `live-${mode}`);
        assert.deepEqual(complaints, []);
        await tab.close();
    }
});

test('the overlay of interest shows what a server sends of a room, and what left the view', async () => {
    const near = await startRoom('demo', ['--view-distance', '8']), site = await serve(near);
    const { tab, complaints } = await open(`${site.address}#room=&as=player&mode=interpolate`, { width: 640, height: 420 });
    await tab.waitForFunction(() => window.cairnPage.source?.interest.partial && window.cairnPage.source.player > 0);
    const sent = () => tab.evaluate(() => {
        const { source } = window.cairnPage, { picture, interest } = source;
        const rows = [...Array(picture.count).keys()], ages = rows.map((row) => interest.ageOf(picture.id[row])), own = 7 * picture.id.indexOf(source.player);
        const far = rows.filter((row) => picture.kind[row] !== 0).map((row) => Math.hypot(...[0, 1, 2].map((i) => picture.pose[7 * row + i] - picture.pose[own + i])));
        return { count: picture.count, fresh: interest.fresh, oldest: Math.max(...ages), farthest: Math.max(...far) };
    });
    const seen = await sent();
    assert.ok(seen.count > 1 && seen.count < 200 && seen.farthest < 16, JSON.stringify(seen));
    // Bodies at rest are not sent again.
    await tab.waitForFunction(() => {
        const { picture, interest } = window.cairnPage.source;
        return picture.id.subarray(0, picture.count).some((id) => interest.ageOf(id) > 30);
    });
    await tab.evaluate(() => [...document.querySelectorAll('#panel button')].find((each) => each.textContent === 'interest').click());
    await tab.keyboard.down('KeyW');
    await tab.waitForFunction(() => window.cairnPage.source.interest.left.size > 0 && window.cairnPage.stage.lines.count >= 3);
    await tab.keyboard.up('KeyW');
    assert.match(await tab.evaluate(() => document.getElementById('panel').textContent), /sent\d+ of \d+ in view/);
    await shot(tab, 'live-interest');
    assert.deepEqual(complaints, []);
    await tab.close();
    await near.stop();
});

test('what is wrong is said: a token of another size, no server', async () => {
    const site = await serve();
    const { tab } = await open(`${site.address}#room=x&token=AAAA`, { width: 640, height: 420 });
    assert.match(await tab.evaluate(() => document.getElementById('message').textContent), /2048 bytes, not 3/);
    assert.match(await tab.evaluate(() => document.getElementById('panel').textContent), /No server answers here/);
    await tab.close();
});

test('a stick on a touch screen and a gamepad move the player', async () => {
    const site = await serve(room);
    const { tab, complaints } = await open(`${site.address}#room=&as=player`, { width: 390, height: 700, touch: true });
    await tab.waitForFunction(() => window.cairnPage.source?.player > 0);
    assert.equal(await tab.evaluate(() => document.querySelector('#panel select').value), 'first'); // an empty name is the first room
    // The panel lies where the controls are.
    const touchShown = () => tab.evaluate(() => getComputedStyle(document.getElementById('touch')).display !== 'none');
    assert.equal(await touchShown(), true);
    await tab.click('#fold');
    assert.equal(await touchShown(), false);
    await tab.click('#fold');
    assert.match(await tab.evaluate(() => document.querySelector('#bar [aria-label="State hash"]').textContent), /^[0-9a-f]{6}$/);
    const moves = async (what) => {
        const from = await playerAt(tab);
        await tab.waitForFunction(([x, , z]) => {
            const { picture, player } = window.cairnPage.source, row = 7 * picture.id.indexOf(player);
            return Math.hypot(picture.pose[row] - x, picture.pose[row + 2] - z) > 1.5;
        }, {}, from).catch(() => assert.fail(`the ${what} does not move the player`));
    };
    const stick = await tab.evaluate(() => { const { x, y, width, height } = document.querySelector('#touch .stick').getBoundingClientRect(); return [x + width / 2, y + height / 2]; });
    const touch = await tab.touchscreen.touchStart(...stick);
    await touch.move(stick[0], stick[1] - 40);
    await moves('stick');
    await touch.end();
    await tab.evaluate(() => {
        const pad = { mapping: 'standard', axes: [0, 1, 0, 0], buttons: Array.from({ length: 17 }, () => ({ pressed: false })) };
        navigator.getGamepads = () => [pad];
    });
    await moves('gamepad');
    assert.deepEqual(complaints, []);
    await tab.close();
});
