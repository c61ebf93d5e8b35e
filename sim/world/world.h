// SPDX-License-Identifier: MIT
#pragma once

// The memory of a world.

#include "sim/state/world.h"

// Allocates a world of a valid def, without a state. Memory from `take` may hold anything and must
// not influence any hash (cairn_world_poison tests this). `lanes`: a width that exists, or 0.
// CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_world_allocate(
    const cairn_world_def *def, uint32_t lanes, cairn_allocator *take, cairn_world **out);
