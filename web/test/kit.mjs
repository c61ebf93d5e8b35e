// SPDX-License-Identifier: MIT

// A browser, a server of the page's files, and a cairnd behind it. CAIRN_PAGE: the folder of the built page. CAIRN_PROGRAMS: that
// of cairnd. CAIRN_CHROMIUM: the browser. CAIRN_SHOTS: a folder for screenshots.
import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import puppeteer from 'puppeteer-core';
import { WebSocketServer } from 'ws';

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
    const state = { loss };
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
    const folder = join(files, `room${++rooms}`);
    mkdirSync(folder);
    execFileSync(`${programs}/cairn-token`, ['keygen', '--out', `${folder}/key`]);
    const path = scene.endsWith('.json') ? scene : `${scenes}/${scene}.json`;
    const server = spawn(`${programs}/cairnd`, ['--listen', '127.0.0.1:0', '--key-file', `${folder}/key`, '--scene', path,
        '--token-lifetime', '0', '--log', 'json', '--seconds', '300', ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((done) => server.on('exit', done));
    const stop = async () => { server.kill(); await ended; };
    closers.push(stop);
    const address = await new Promise((found, failed) => {
        let log = '';
        server.stdout.on('data', (text) => {
            log += text;
            const line = log.split('\n').find((each) => each.includes('"listening"'));
            if (line !== undefined) {
                found(JSON.parse(line).address);
            }
        });
        server.on('exit', () => failed(new Error(`cairnd ended: ${log}`)));
    });
    const token = (operator = false) => {
        execFileSync(`${programs}/cairn-token`, ['issue', '--key', `${folder}/key`, '--server', address, '--timeout', '30', '--out', `${folder}/token`,
            ...(operator ? ['--operator'] : [])]);
        return readFileSync(`${folder}/token`);
    };
    return { name: scene, address, token, stop, bodies: 270 };
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));
