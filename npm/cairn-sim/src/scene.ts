// SPDX-License-Identifier: MIT

// Scenes: worlds as people write them in JSON (docs/SCENES.md). The module has the reader of cairn's
// programs, so a scene gives the same world and the same messages here as there.

import { Status } from './generated.js';
import { CairnError, Memory } from './memory.js';

export type Scene = { name: string; [field: string]: unknown };

const TEXT_SIZE = 8192; // npm/scene.c has the same number

interface Reader {
    cairn_npm_scene_world(json: number, size: number, out: number, text: number): number;
}

// JSON with comments, as scenes may have.
export function parseScene(json: string): Scene {
    const bare = json.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) => part[0] === '"' ? part : ' ');
    return JSON.parse(bare);
}

// The address of the scene's world, which the caller destroys.
export function readScene(memory: Memory, scene: string | Scene): number {
    const json = new TextEncoder().encode(typeof scene === 'string' ? scene : JSON.stringify(scene));
    const reader = memory.functions as unknown as Reader;
    return memory.with(json.length, (at) => memory.with(16 + TEXT_SIZE, (out) => {
        memory.bytes.set(json, at);
        const status = reader.cairn_npm_scene_world(at, json.length, out, out + 16);
        if (status !== Status.OK) {
            throw new CairnError(status, `scene: ${memory.text(out + 16)}`);
        }
        return memory.data.getUint32(out, true);
    }));
}
