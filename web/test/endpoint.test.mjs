// SPDX-License-Identifier: MIT
// The page as a cairnd with --web serves it: its headers, rooms, tokens and WebSockets, and over a take-over by another process.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { close, files, open, page, programs, scenes } from './kit.mjs';

const started = [];
after(async () => {
    for (const each of started) {
        each.process.kill();
        await each.ended;
    }
    await close();
});

// A cairnd that serves the page; `line` waits for a line of its log. `folder`: where it runs, with the file key.
function start({ folder = '.' }, ...flags) {
    const process = spawn(`${programs}/cairnd`, ['--key-file', 'key', '--dev', '--log', 'json', '--seconds', '300', '--web-root', page, '--hand-over', 'hand', ...flags],
        { cwd: join(files, folder), stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((done) => { process.on('exit', done); });
    const waiting = new Map(), seen = new Map();
    let text = '';
    process.stdout.on('data', (bytes) => {
        const lines = (text + bytes).split('\n');
        text = lines.pop();
        for (const each of lines.filter((one) => one.startsWith('{')).map((one) => JSON.parse(one))) {
            seen.set(each.event, each);
            waiting.get(each.event)?.(each);
        }
    });
    const line = (event) => seen.has(event) ? Promise.resolve(seen.get(event)) : new Promise((done, failed) => {
        waiting.set(event, done);
        process.on('exit', () => failed(new Error(`cairnd ended before '${event}'`)));
    });
    started.push({ process, ended });
    return { process, ended, line };
}

test('the list of rooms is renewed while it is shown, and keeps what was chosen', async () => {
    mkdirSync(join(files, 'rooms'));
    execFileSync(`${programs}/cairn-token`, ['keygen', '--out', 'key'], { cwd: join(files, 'rooms') });
    const server = start({ folder: 'rooms' }, '--listen', '127.0.0.1:0', '--web', '127.0.0.1:0', '--scene', `${scenes}/stack10.json`, '--control');
    const { address: udp } = await server.line('listening'), { address } = await server.line('web');
    const ask = (...words) => execFileSync(`${programs}/cairn-ctl`, ['--key', 'key', '--server', udp, ...words], { cwd: join(files, 'rooms') });
    const { tab, complaints } = await open(`http://${address}/`, { width: 1000, height: 600 });
    await tab.evaluate(() => document.querySelector('#tabs [data-tab=live]').click());
    const names = () => tab.evaluate(() => [...document.querySelectorAll('#panel select[aria-label=Room] option')].map((each) => each.value).join());
    const shows = (wanted) => tab.waitForFunction((expected) => expected === [...document.querySelectorAll('#panel select[aria-label=Room] option')]
        .map((each) => each.value).join(), {}, wanted);
    await shows('main');
    ask('room-create', 'second', 'stack10');
    await shows('main,second'); // nobody pressed anything
    await tab.select('#panel select[aria-label=Room]', 'second');
    await tab.evaluate(() => document.activeElement.blur());
    ask('room-create', 'third', 'stack10');
    await shows('main,second,third');
    assert.equal(await tab.$eval('#panel select[aria-label=Room]', (list) => list.value), 'second');
    // An open list does not change under the pointer.
    await tab.focus('#panel select[aria-label=Room]');
    ask('--room', 'second', 'room-destroy', 'second');
    await tab.waitForResponse((answer) => answer.url().endsWith('/rooms') && answer.ok());
    await tab.waitForResponse((answer) => answer.url().endsWith('/rooms') && answer.ok());
    assert.equal(await names(), 'main,second,third');
    await tab.evaluate(() => document.activeElement.blur());
    await shows('main,third'); // what was chosen is gone: the first one is
    assert.equal(await tab.$eval('#panel select[aria-label=Room]', (list) => list.value), 'main');
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('cairnd serves the page, a room and a token; the page plays on when another process takes over', async () => {
    execFileSync(`${programs}/cairn-token`, ['keygen', '--out', 'key'], { cwd: files });
    const first = start({}, '--listen', '127.0.0.1:0', '--web', '127.0.0.1:0', '--scene', `${scenes}/demo.json`);
    const { address } = await first.line('web');
    const site = `http://${address}/`;

    const index = await fetch(site), policy = index.headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self' 'wasm-unsafe-eval'/);
    assert.deepEqual(['x-content-type-options', 'cross-origin-opener-policy', 'cross-origin-embedder-policy'].map((name) => index.headers.get(name)),
        ['nosniff', 'same-origin', 'require-corp']);
    const head = await fetch(site, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, index.headers.get('content-length'), '']);
    const [room] = await (await fetch(`${site}rooms`)).json();
    assert.equal(room.name, 'main');

    const { tab, complaints } = await open(`${site}#room=main&as=player`, { width: 640, height: 420 });
    await tab.waitForFunction(() => window.cairnPage.source?.player > 0 && Number(window.cairnPage.source.statistics().simulation.roots_compared) > 30);
    const state = () => tab.evaluate(() => {
        const { source } = window.cairnPage, { simulation, connection } = source.statistics();
        return { compared: Number(simulation.roots_compared), differed: Number(simulation.roots_differed), slot: connection.slot, failed: source.failed, lost: source.socket.lost };
    });
    const before = await state();
    assert.deepEqual([before.differed, before.failed, before.lost], [0, false, 0]);

    const second = start({}, '--take-over', 'hand', '--web', address);
    await second.line('web');
    await first.ended;
    await tab.waitForFunction(() => window.cairnPage.source.socket.lost === 1 && window.cairnPage.source.socket.open);
    await tab.waitForFunction((compared) => Number(window.cairnPage.source.statistics().simulation.roots_compared) > compared, {}, (await state()).compared + 60);
    const then = await state();
    assert.deepEqual([then.differed, then.failed, then.slot], [0, false, before.slot]);
    assert.equal((await fetch(`${site}token?mode=spectator`)).status, 200); // --dev goes on, too
    assert.deepEqual(complaints.filter((each) => !/WebSocket connection to/.test(each)), []);
    await tab.close();
});
