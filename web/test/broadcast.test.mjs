// SPDX-License-Identifier: MIT
// A broadcast of a cairnd in the page: followed live, every tick and seal checked; segments that were changed, left out or
// signed by another are noticed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { close, files, open, programs, serve, shot, startRoom } from './kit.mjs';

let site, room, key;
before(async () => {
    const token = (...words) => execFileSync(`${programs}/cairn-token`, words, { encoding: 'utf8' });
    token('signing-key', '--out', join(files, 'sign'));
    key = token('public-key', join(files, 'sign')).trim();
    room = await startRoom('demo', ['--publish', join(files, 'live'), '--record-key', join(files, 'sign')]);
    site = await serve();
    for (let i = 0; i < 300 && indexOf('live').segments.length < 2; ++i) {
        await new Promise((done) => { setTimeout(done, 100); });
    }
});
after(close);

function indexOf(folder) {
    try {
        return JSON.parse(readFileSync(join(files, folder, 'main/index.json'), 'utf8'));
    } catch {
        return { segments: [] };
    }
}
const state = (tab) => tab.evaluate(() => {
    const { verified, differed, breaks, segments, refused, playing, signer, picture, last } = window.cairnPage.source;
    return { verified, differed, breaks, segments, refused, playing, signer, tick: picture.tick, last };
});
const view = (folder, more = '') => open(`${site.address}#replay=test/${folder}/main/${more}`, { width: 640, height: 420 });

test('a live broadcast is followed, and its chain verified, to its end', async () => {
    const { tab, complaints } = await view('live', `&key=${key}`);
    await tab.waitForFunction(() => window.cairnPage.source?.segments >= 2);
    const live = await state(tab);
    assert.deepEqual([live.differed, live.breaks, live.refused, live.signer, live.playing], [0, 0, '', key, true]);
    assert.ok(live.verified >= 240 && live.last - live.tick < 60 * 30, JSON.stringify(live));
    console.log(`${((live.last - live.tick) / 60).toFixed(1)} s behind the newest segment`);
    await shot(tab, 'broadcast');
    // Back to the first that is known, and to the live end again.
    await tab.evaluate(() => window.cairnPage.source.seek(window.cairnPage.source.first + 30));
    await tab.waitForFunction(() => window.cairnPage.source.picture.tick < window.cairnPage.source.first + 90);
    await tab.evaluate(() => [...document.querySelectorAll('#panel button')].find((each) => each.textContent === 'go live').click());
    await tab.waitForFunction((tick) => window.cairnPage.source.picture.tick >= tick, {}, live.tick);
    await room.stop();
    await tab.waitForFunction(() => !window.cairnPage.source.playing);
    const ended = await state(tab);
    assert.deepEqual([ended.tick, ended.differed, ended.breaks, ended.refused], [ended.last, 0, 0, '']);
    assert.match(await tab.evaluate(() => document.getElementById('panel').textContent), /broadcasthas ended/);
    assert.deepEqual(complaints, []);
    await tab.close();
});

test('a segment that was changed, left out, or signed by another is noticed', async () => {
    const { segments } = indexOf('live');
    assert.ok(segments.length >= 4);
    const name = (number) => `${String(number).padStart(8, '0')}.cairn`;
    const spoil = { changed: (path) => {
        const bytes = readFileSync(path);
        bytes[bytes.length >> 1] ^= 1;
        writeFileSync(path, bytes);
    }, left_out: unlinkSync, resigned: (path) => {
        execFileSync(`${programs}/cairn-token`, ['signing-key', '--out', join(files, 'other')]);
        const { first_tick: from, ticks } = segments[1];
        execFileSync(`${programs}/cairn-replay`, ['cut', path, String(from), String(from + ticks), join(files, 'cut.cairn'), '--sign', join(files, 'other')]);
        cpSync(join(files, 'cut.cairn'), path);
    } };
    for (const [folder, change] of Object.entries(spoil)) {
        cpSync(join(files, 'live'), join(files, folder), { recursive: true });
        change(join(files, folder, 'main', name(segments[1].number)));
        const { tab } = await view(folder);
        await tab.evaluate(() => { window.cairnPage.source.speed = 16; });
        await tab.waitForFunction(() => !window.cairnPage.source.playing);
        const { breaks, refused, verified, differed } = await state(tab);
        assert.equal(breaks, 1, folder);
        assert.match(refused, new RegExp(`^segment ${segments[1].number}: ${{ changed: '', left_out: '404', resigned: 'signed by another key' }[folder]}`));
        assert.equal(differed, 0);
        assert.ok(verified > segments[0].ticks, 'the others are played');
        await tab.close();
    }
    const { tab } = await view('live', `&key=${'0'.repeat(64)}`);
    assert.match(await tab.evaluate(() => document.getElementById('message').textContent), /signed by another key/);
    await tab.close();
});
