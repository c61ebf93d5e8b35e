// SPDX-License-Identifier: MIT
#pragma once

// How deep bodies of a world lie in each other, found without the world's own contact list.

#include <stdbool.h>

#include <cairn/sim.h>

typedef struct bench_solids bench_solids;

// Every shape of the world as it was created; the world must have no shapes created or destroyed
// until bench_solids_destroy. Shapes that meet nothing are left out, pairs that a joint connects
// are let be.
bench_solids *bench_solids_create(const cairn_world *world);
void bench_solids_destroy(bench_solids *solids);

// The depth of the deepest pair now, m; 0 when all are apart. Boxes by the fifteen axes of
// Gottschalk, Lin and Manocha 1996, others by the narrow phase.
float bench_deepest(bench_solids *solids, const cairn_world *world);
