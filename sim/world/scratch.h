// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/state.h"

// Candidate pairs that the narrow phase looks at, for each contact that can be kept.
#define CAIRN_PAIRS_PER_CONTACT 4

uint32_t cairn_scratch_pair_capacity(const cairn_world_def *def);
// One allocation for everything; false when there is no memory. `lanes`: a width that there is, or
// 0.
bool cairn_scratch_create(
    cairn_scratch *scratch, const cairn_world_def *def, uint32_t lanes, cairn_allocator *take);
