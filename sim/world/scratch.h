// SPDX-License-Identifier: MIT
#pragma once

// The memory of everything that a step rebuilds: one allocation, from which each folder takes its
// part.

#include "sim/collide/contact_list.h"
#include "sim/collide/manifold_pool.h"
#include "sim/pgs/pgs.h"
#include "sim/sleep/island.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/awake_set.h"
#include "sim/state/world.h"

struct cairn_scratch {
    void *memory;
    size_t size;
    cairn_awake_set awake_set;
    cairn_manifold_pool manifold_pool;
    cairn_contact_edit_buffer contact_edit_buffer;
    cairn_islands islands;
    cairn_soft_step soft_step;
    cairn_pgs pgs;
};

// CAIRN_OUT_OF_MEMORY. `lanes`: a width that exists, or 0.
cairn_status cairn_scratch_create(
    cairn_scratch *scratch, const cairn_world_def *def, uint32_t lanes, cairn_allocator *take);
