// SPDX-License-Identifier: MIT

// cairn's simulation in WebAssembly: a world of rigid bodies with the same bits as every other build
// of this version, saved and restored at any tick.

import { Cairn } from './cairn.js';
import { LoadOptions, loadModule } from './module.js';

export { Cairn } from './cairn.js';
export type { WorldOptions } from './cairn.js';
export * from './generated.js';
export { History } from './history.js';
export type { HistoryOptions, Tick } from './history.js';
export { CairnError } from './memory.js';
export type { In, Vec3In } from './memory.js';
export type { LoadOptions } from './module.js';
export { parseScene } from './scene.js';
export type { Scene } from './scene.js';
export { Bodies, Save, World } from './world.js';
export type { BodyId, Difference, Hashes, HullId, JointId, MeshId, ShapeId } from './world.js';

// Loads the simulation. One instance holds any number of worlds; two instances share nothing.
export async function load(options: LoadOptions = {}): Promise<Cairn> {
    return new Cairn(await loadModule(options, 'cairn_sim'));
}
