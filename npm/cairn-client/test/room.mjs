// SPDX-License-Identifier: MIT

// A cairnd on a port of its own, for tests of clients.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';

// `programs`: the folder of cairnd and cairn-token. `folder` is made for its key and tokens. `scene`: a file. `more`: arguments.
export async function startRoom(programs, folder, scene, more = []) {
    mkdirSync(folder);
    const run = (...words) => execFileSync(`${programs}/cairn-token`, words);
    run('keygen', '--out', `${folder}/key`);
    const server = spawn(`${programs}/cairnd`, ['--listen', '127.0.0.1:0', '--key-file', `${folder}/key`, '--scene', scene,
        '--token-lifetime', '0', '--log', 'json', '--seconds', '300', ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((done) => server.on('exit', done));
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
        run('issue', '--key', `${folder}/key`, '--server', address, '--timeout', '30', '--out', `${folder}/token`, ...(operator ? ['--operator'] : []));
        return readFileSync(`${folder}/token`);
    };
    const stop = async () => { server.kill(); await ended; };
    return { address, token, stop };
}
