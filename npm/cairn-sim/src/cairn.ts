// SPDX-License-Identifier: MIT

// The simulation: worlds, made from settings, scenes and encodings.

import { layouts, Status, WorldDef } from './generated.js';
import { CairnError, Fields, Memory, Runtime } from './memory.js';
import { readScene, Scene } from './scene.js';
import { World } from './world.js';

export type WorldOptions = Omit<Fields<WorldDef>, 'rules'> & {
    rules?: 'sandbox' | ''; // the built-in rules, or none
};

export class Cairn {
    constructor(readonly memory: Memory) {}

    // Every function of the public headers in the module, as it exports them.
    get functions(): Runtime { return this.memory.functions; }
    get version(): string { return this.memory.text(this.functions.cairn_version_text()); }
    get simVersion(): number { return this.functions.cairn_sim_version(); }
    get build(): string { return this.memory.text(this.functions.cairn_build_text()); }

    createWorld(options: WorldOptions = {}): World {
        const { rules = '', ...settings } = options;
        return this.withDef(settings, rules, (def) => this.created(def));
    }

    // A scene as JSON text or as an object. A CairnError has a line for each mistake in it.
    createWorldFromScene(scene: string | Scene): World {
        return new World(this.memory, readScene(this.memory, scene));
    }

    // A world with the settings and the state of an encoding (World.encode), from any machine.
    createWorldFromEncoding(bytes: Uint8Array): World {
        const { size } = layouts.cairn_world_def;
        const world = this.memory.with(size + 32, (def) => this.memory.with(bytes.length, (at) => {
            this.memory.bytes.set(bytes, at);
            const status = this.functions.cairn_world_def_of_encoding(at, bytes.length, def, def + size);
            if (status !== Status.OK) {
                throw new CairnError(status, `encoding: ${this.memory.text(this.functions.cairn_status_text(status))}`);
            }
            this.setRules(def, this.memory.text(def + size));
            return this.created(def);
        }));
        try {
            world.decode(bytes);
        } catch (error) {
            world.destroy();
            throw error;
        }
        return world;
    }

    private withDef<T>(settings: object, rules: string, use: (def: number) => T): T {
        return this.memory.with(layouts.cairn_world_def.size, (def) => {
            this.functions.cairn_world_def_default(def);
            this.memory.write('cairn_world_def', def, settings, 'world');
            this.setRules(def, rules);
            return use(def);
        });
    }

    private setRules(def: number, name: string): void {
        if (name !== '' && name !== 'sandbox') {
            throw new CairnError(Status.NOT_FOUND, `rules: no rules are named '${name}'`);
        }
        const sandbox = (this.functions as any).cairn_rules_sandbox as WebAssembly.Global;
        this.memory.write('cairn_world_def', def, { rules: name === '' ? 0 : sandbox.value });
    }

    private created(def: number): World {
        return this.memory.with(4, (out) => {
            const status = this.functions.cairn_world_create(def, out);
            if (status !== Status.OK) {
                throw new CairnError(status, `world: ${this.memory.text(this.functions.cairn_status_text(status))}`);
            }
            return new World(this.memory, this.memory.data.getUint32(out, true));
        });
    }
}
