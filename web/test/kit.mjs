// SPDX-License-Identifier: MIT

// A browser, a server of the page's files, and a cairnd behind it. CAIRN_PAGE: the folder of the built page. CAIRN_PROGRAMS: that
// of cairnd. CAIRN_CHROMIUM: the browser. CAIRN_SHOTS: a folder for screenshots.
import { createSocket } from 'node:dgram';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import puppeteer from 'puppeteer-core';
import { WebSocketServer } from 'ws';
import { startRoom as startCairnd } from './room.mjs'; // of npm/cairn-client

export const { CAIRN_PAGE: page, CAIRN_PROGRAMS: programs, CAIRN_SCENES: scenes, CAIRN_CHROMIUM: chromium, CAIRN_SHOTS: shots } = process.env;
export const files = mkdtempSync(join(tmpdir(), 'cairn-web-'));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.svg': 'image/svg+xml',
    '.json': 'application/json' };
const closers = [];

export async function close() {
    for (const each of closers.reverse()) {
        await each();
    }
    rmSync(files, { recursive: true, force: true });
}

// ---- the browser

let browser;

async function launch() {
    browser = await puppeteer.launch({ executablePath: chromium, headless: true, userDataDir: join(files, 'profile'), args: ['--no-sandbox',
        '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
        '--enable-unsafe-swiftshader', '--disable-gpu', '--disable-dev-shm-usage'] });
    closers.push(() => browser.close());
}

// Opens the page. What it complains about, and addresses that it asks of others, are in `complaints`.
export async function open(address, { width = 1000, height = 640, dark = false, touch = false } = {}) {
    if (browser === undefined) {
        await launch();
    }
    const tab = await browser.newPage();
    const complaints = [];
    tab.setDefaultTimeout(180000); // a row of the golden matrix waits for a processor that other stages leave
    tab.on('console', (message) => ['error', 'warn'].includes(message.type()) && !/GPU stall|GL Driver Message/.test(message.text()) &&
        complaints.push(message.text()));
    tab.on('pageerror', (error) => complaints.push(String(error)));
    tab.on('request', (request) => request.url() !== address && !request.url().startsWith(new URL(address).origin) && !/^(data|blob):/.test(request.url()) &&
        complaints.push(`asks ${request.url()}`));
    await tab.setViewport({ width, height, isMobile: touch, hasTouch: touch });
    await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
    await tab.goto(address, { waitUntil: 'load' });
    await tab.waitForFunction(() => window.cairnPage !== undefined);
    return { tab, complaints };
}

export async function shot(tab, name) {
    const bytes = await tab.screenshot();
    if (shots !== undefined) {
        mkdirSync(shots, { recursive: true });
        writeFileSync(join(shots, `${name}.png`), bytes);
    }
    return bytes;
}

// How far the page is from test/pictures/NAME.png, in 255ths: over all, and in the block that differs most. Blocks are means of 8 by 8 of 160 pixels
// across, so neither fonts nor graphics cards matter. CAIRN_WRITE_PICTURES: a folder; references are written there, none is read.
export async function difference(tab, name) {
    const seen = Buffer.from(await shot(tab, name)).toString('base64'), written = process.env.CAIRN_WRITE_PICTURES;
    const wanted = written === undefined ? readFileSync(new URL(`pictures/${name}.png`, import.meta.url)).toString('base64') : seen;
    const { mean, worst, small } = await tab.evaluate(async (both) => {
        const read = async (base64) => {
            const image = new Image();
            image.src = `data:image/png;base64,${base64}`;
            await image.decode();
            const canvas = document.createElement('canvas'), context = canvas.getContext('2d');
            [canvas.width, canvas.height] = [160, Math.round(160 * image.height / image.width)];
            context.imageSmoothingQuality = 'high';
            context.drawImage(image, 0, 0, canvas.width, canvas.height);
            const blocks = new Map(), { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
            for (let i = 0; i < width * height; ++i) {
                for (let k = 0; k < 3; ++k) {
                    const key = `${Math.floor(i % width / 8)} ${Math.floor(Math.floor(i / width) / 8)} ${k}`;
                    const [sum, count] = blocks.get(key) ?? [0, 0];
                    blocks.set(key, [sum + data[4 * i + k], count + 1]);
                }
            }
            return { blocks, url: canvas.toDataURL() };
        };
        const [a, b] = [await read(both[0]), await read(both[1])];
        const apart = [...a.blocks].map(([key, [sum, count]]) => {
            const [other, among] = b.blocks.get(key) ?? [Infinity, 1];
            return Math.abs(sum / count - other / among);
        });
        return { mean: apart.reduce((sum, each) => sum + each, 0) / apart.length, worst: Math.max(...apart), small: a.url };
    }, [seen, wanted]);
    if (written !== undefined) {
        writeFileSync(join(written, `${name}.png`), Buffer.from(small.split(',')[1], 'base64'));
    }
    return { mean, worst };
}

// ---- the page's files, and what a cairnd with --web answers besides

function answerFile(request, response) {
    const name = normalize(new URL(request.url, 'http://x').pathname).replace(/^\/$/, '/index.html');
    try {
        const bytes = readFileSync(name.startsWith('/test/') ? join(files, name.slice(5)) : join(page, name));
        response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream' }).end(bytes);
    } catch {
        response.writeHead(404).end();
    }
}

// `room`: a running cairnd (startRoom); `loss`: the share of datagrams that are lost in each direction.
export async function serve(room = null, { loss = 0 } = {}) {
    const state = { loss, drop: () => {} }; // drop: ends all WebSockets, as a server that is replaced does
    const server = createServer((request, response) => {
        const url = new URL(request.url, 'http://x');
        if (room !== null && url.pathname === '/rooms') {
            response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([{ name: 'first', bodies: room.bodies }]));
        } else if (room !== null && url.pathname === '/token') {
            response.end(room.token(url.searchParams.get('right') === 'operator'));
        } else {
            answerFile(request, response);
        }
    });
    if (room !== null) {
        bridge(server, room, state);
    }
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    closers.push(() => { server.closeAllConnections(); server.close(); });
    return { address: `http://127.0.0.1:${server.address().port}/`, state };
}

// Each binary message of a WebSocket is a datagram, in both directions.
function bridge(server, room, state) {
    let random = 12345;
    const lost = () => {
        random = (random * 1103515245 + 12345) % 2147483648;
        return random / 2147483648 < state.loss;
    };
    const sockets = new WebSocketServer({ server, path: '/ws', handleProtocols: (all) => all.has('cairn') ? 'cairn' : false });
    state.drop = () => sockets.clients.forEach((web) => web.terminate());
    sockets.on('connection', (web) => {
        const udp = createSocket('udp4');
        const [host, port] = room.address.split(':');
        udp.connect(Number(port), host);
        udp.on('message', (bytes) => !lost() && web.send(bytes));
        udp.on('error', () => {});
        web.on('message', (bytes) => !lost() && udp.send(bytes));
        web.on('close', () => udp.close());
    });
}

// ---- a room of a cairnd

let rooms = 0;

export async function startRoom(scene, more = []) {
    const path = scene.endsWith('.json') ? scene : `${scenes}/${scene}.json`;
    const room = await startCairnd(programs, join(files, `room${++rooms}`), path, more);
    closers.push(room.stop);
    return { ...room, name: scene, bodies: 270 };
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));
