// SPDX-License-Identifier: MIT

// Loads the module. It needs no host but these few functions of WASI, through which a failed
// assertion says what failed.

import { Memory, Runtime } from './memory.js';

export interface LoadOptions {
    // The module: its bytes, or compiled. Default: the file beside this one that fits the host.
    module?: BufferSource | WebAssembly.Module;
    // Whether to load the build with SIMD. Default: if the host has it. The bits are the same.
    simd?: boolean;
}

// (module (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt))
const SIMD_PROBE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65,
    0, 253, 15, 253, 98, 11]);

async function bytesOf(file: string): Promise<BufferSource> {
    const url = new URL(file, import.meta.url);
    if (url.protocol !== 'file:') {
        return (await fetch(url.href)).arrayBuffer();
    }
    const name = 'node:fs/promises'; // not a literal, so that a bundler for browsers leaves it alone
    return (await import(/* @vite-ignore */ name)).readFile(url);
}

async function compile(options: LoadOptions, name: string): Promise<WebAssembly.Module> {
    if (options.module instanceof WebAssembly.Module) {
        return options.module;
    }
    const simd = options.simd ?? WebAssembly.validate(SIMD_PROBE);
    return WebAssembly.compile(options.module ?? await bytesOf(`../${name}${simd ? '_simd' : ''}.wasm`));
}

// What the C library of the module asks of its host. `said` receives what it writes to stderr.
function system(memory: () => WebAssembly.Memory, said: (text: string) => void) {
    const BAD_FILE = 8;
    return {
        fd_write(file: number, vectors: number, count: number, written: number): number {
            const data = new DataView(memory().buffer);
            let size = 0;
            for (let i = 0; i < count; ++i) {
                const at = data.getUint32(vectors + 8 * i, true);
                const length = data.getUint32(vectors + 8 * i + 4, true);
                said(new TextDecoder().decode(new Uint8Array(memory().buffer, at, length).slice()));
                size += length;
            }
            data.setUint32(written, size, true);
            return file === 1 || file === 2 ? 0 : BAD_FILE;
        },
        fd_seek: () => BAD_FILE,
        fd_close: () => BAD_FILE,
        fd_fdstat_get: () => BAD_FILE,
        random_get(at: number, size: number): number {
            const bytes = new Uint8Array(size);
            (globalThis as any).crypto.getRandomValues(bytes);
            new Uint8Array(memory().buffer, at, size).set(bytes);
            return 0;
        },
        proc_exit(code: number): never {
            throw new Error(`the module ended itself with ${code}`);
        },
    };
}

// Loads the module `name` and calls nothing of it yet. A failed assertion of the module throws an
// error with its text; the instance must not be used after that.
export async function loadModule(options: LoadOptions, name: string): Promise<Memory> {
    const compiled = await compile(options, name);
    let text = '';
    let runtime: Runtime;
    const said = (more: string) => { text = (text + more).slice(-1000); };
    const instance = await WebAssembly.instantiate(compiled,
        { wasi_snapshot_preview1: system(() => runtime.memory, said) });
    const functions: any = {};
    for (const [key, value] of Object.entries(instance.exports)) {
        functions[key] = typeof value !== 'function' ? value : (...values: any[]) => {
            try {
                return (value as any)(...values);
            } catch (error) {
                throw text === '' ? error : new Error(text.trim());
            }
        };
    }
    runtime = functions;
    runtime._initialize?.();
    return new Memory(runtime);
}
