// SPDX-License-Identifier: MIT
#pragma once

// cairn_world_fork in two steps. Most of its time passes while the system finds pages for the new
// world: the first step does that, on any thread, and the second one copies.

#include "sim/state/state.h"
#include <cairn/sim.h>

typedef struct cairn_fork_size {
    cairn_world_def def;
    uint32_t lanes;
    cairn_settings settings; // how much lives in the world
} cairn_fork_size;
cairn_fork_size cairn_fork_size_of(const cairn_world *world);
// A world without a state, for cairn_fork_fill and cairn_world_destroy alone. CAIRN_OUT_OF_MEMORY:
// *out is NULL.
cairn_status cairn_fork_reserve(const cairn_fork_size *size, cairn_world **out);
// `reserved` becomes a fork of `from`. More may live in that by now; a page or two are found then.
// CAIRN_INVALID_ARGUMENT: the defs are not equal; `reserved` is as it was.
cairn_status cairn_fork_fill(cairn_world *reserved, const cairn_world *from);
