// SPDX-License-Identifier: MIT
// usage: node npm/cairn-sim/bench/rollback.mjs [PACKAGE]
// Microseconds of a save plus a restore of 800 awake boxes: after a step, so that all of them differ,
// and without one.
import { pathToFileURL } from 'node:url';

const folder = process.argv[2] ?? 'build/npm/cairn-sim';
const { BodyKind, load, ShapeKind } = await import(pathToFileURL(`${folder}/dist/index.js`));
const cairn = await load();
const world = cairn.createWorld();
world.createShape(world.createBody({ kind: BodyKind.STATIC }), { kind: ShapeKind.HALF_SPACE });
for (let i = 0; i < 800; ++i) {
    const position = [1.1 * (i % 20), 1 + 1.2 * Math.floor(i / 400), 1.1 * (Math.floor(i / 20) % 20)];
    world.createShape(world.createBody({ position }));
}
for (let i = 0; i < 30; ++i) {
    world.step();
}

function measure(name, steps) {
    const before = world.save();
    const after = world.save();
    const times = [];
    for (let i = 0; i < 400; ++i) {
        for (let k = 0; k < steps; ++k) {
            world.step();
        }
        const start = performance.now();
        world.save(after);
        world.restore(before);
        times.push(1000 * (performance.now() - start));
    }
    times.sort((a, b) => a - b);
    console.log(`${name}: ${times[0].toFixed(1)} us at best, ${times[200].toFixed(1)} us median`);
    before.free();
    after.free();
}

console.log(`${cairn.build}, ${world.counts.bodies_awake} bodies awake, ${world.save().size} bytes`);
measure('save + restore after a step', 1);
measure('save + restore of the same state', 0);
