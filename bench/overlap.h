// SPDX-License-Identifier: MIT
#pragma once

// Penetration depths of a world's bodies, computed without the world's own contact list.

#include <stdbool.h>

#include <cairn/sim.h>

typedef struct bench_solids bench_solids;

// Takes every shape of the world as it is now; no shape may be created or destroyed until
// bench_solids_destroy. Shapes that collide with nothing and pairs that a joint connects are
// ignored.
bench_solids *bench_solids_create(const cairn_world *world);
void bench_solids_destroy(bench_solids *solids);

// The depth of the deepest pair, m; 0 when all are separate. Boxes by the fifteen axes of
// Gottschalk, Lin and Manocha 1996, others by the narrow phase.
float bench_deepest(bench_solids *solids, const cairn_world *world);
