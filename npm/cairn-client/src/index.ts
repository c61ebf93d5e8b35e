// SPDX-License-Identifier: MIT

// cairn's client library in WebAssembly, with the simulation that it steps: what a game in a browser
// or in Node.js links to play on a cairn server. The host carries the datagrams.

import { Cairn as Simulation } from './cairn.js';
import { Client, ClientOptions } from './client.js';
import { LoadOptions, loadModule } from './module.js';

export type { WorldOptions } from './cairn.js';
export { Client, ClientBodies } from './client.js';
export type { ClientOptions, GameMessage, Picture, Shared } from './client.js';
export * from './generated.js';
export { CairnError } from './memory.js';
export type { In, Vec3In } from './memory.js';
export type { LoadOptions } from './module.js';
export { parseScene } from './scene.js';
export type { Scene } from './scene.js';
export { Bodies, Save, World } from './world.js';
export type { BodyId, Difference, Hashes, HullId, JointId, MeshId, ShapeId } from './world.js';

export class Cairn extends Simulation {
    createClient(options: ClientOptions = {}): Client { return new Client(this.memory, options); }
}

// Loads the library. One instance holds any number of clients and worlds; two instances share nothing.
export async function load(options: LoadOptions = {}): Promise<Cairn> {
    return new Cairn(await loadModule(options, 'cairn_client'));
}
