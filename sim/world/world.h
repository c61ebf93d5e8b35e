// SPDX-License-Identifier: MIT
#pragma once

// Private to the room: the memory of a world.

#include "sim/state/world.h"

// A world of a valid def without any state yet, zero as far as `take` clears: of what it takes no
// content may ever reach a hash (cairn_world_poison). `lanes`: a width that there is, or 0.
// CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_world_allocate(
    const cairn_world_def *def, uint32_t lanes, cairn_allocator *take, cairn_world **out);
