// SPDX-License-Identifier: MIT

// Begins the page. The address says what it opens: #scene=demo, #room=demo&as=player, #replay=FILE, #token=...

import './style.css';
import { LiveMode } from './source/live.js';
import { openPage, Page } from './page.js';
import { byId, fromPage } from './ui/dom.js';

// (module (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt))
const SIMD_PROBE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65,
    0, 253, 15, 253, 98, 11]);

async function readModule(): Promise<WebAssembly.Module> {
    const inside = fromPage('module');
    if (inside !== null) {
        return WebAssembly.compile(await new Response(new Blob([inside.bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());
    }
    const name = WebAssembly.validate(SIMD_PROBE) ? 'cairn_web_simd.wasm' : 'cairn_web.wasm';
    const answer = await fetch(new URL(name, document.baseURI));
    if (!answer.ok) {
        throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
    }
    return WebAssembly.compile(await answer.arrayBuffer());
}

async function begin(): Promise<void> {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const mode = (wanted.get('mode') ?? '').toUpperCase() as LiveMode;
    const spectator = wanted.get('as') === 'spectator';
    const page = await openPage(await readModule(), { room: wanted.get('room') ?? undefined, token: wanted.get('token') ?? undefined, operator: wanted.has('operator'),
        ...(wanted.has('mode') || wanted.has('as') ? { spectator, mode: mode || (spectator ? 'INTERPOLATE' : 'PREDICT') } : {}) });
    const recording = fromPage('recording');
    if (recording !== null) {
        document.querySelector('[data-tab=live]')?.remove(); // there is no server
        await page.openTab('replay');
        await page.openRecording(recording.name, recording.bytes);
    } else if (wanted.has('replay')) {
        await page.openTab('replay');
        await page.openAddress(wanted.get('replay')!, wanted.get('key') ?? '');
    } else if (wanted.has('room')) {
        await page.openTab('live');
        await page.join({ room: wanted.get('room')!, spectator, mode: mode || (spectator ? 'INTERPOLATE' : 'PREDICT'), token: wanted.get('token') ?? '',
            operator: wanted.has('operator') });
    } else {
        await page.openTab('world');
        await page.openScene(wanted.get('scene') ?? 'demo');
    }
    (window as unknown as { cairnPage: Page }).cairnPage = page; // for the console, and for tests
}

begin().catch((error) => {
    const message = byId('message');
    message.hidden = false;
    message.textContent = `The page cannot begin: ${error.message}`;
});
