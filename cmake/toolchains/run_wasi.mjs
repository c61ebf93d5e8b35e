// SPDX-License-Identifier: MIT
// usage: node run_wasi.mjs PROGRAM.wasm ARGUMENTS...
// Runs a program for WASI preview 1 with the machine's files in its sight and its exit code as ours.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { WASI } from 'node:wasi';

const [program, ...rest] = process.argv.slice(2);
const wasi = new WASI({
    version: 'preview1',
    args: [program, ...rest],
    env: process.env,
    preopens: { '/': '/' },
    returnOnExit: true,
});
const imports = { wasi_snapshot_preview1: wasi.wasiImport };
const { instance } = await WebAssembly.instantiate(readFileSync(program), imports);
process.exitCode = wasi.start(instance);
