// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

struct cairn_islands {
    bool wakes;      // something that stirs touches what sleeps
    uint32_t *root;  // by body slot: the lowest slot of its island
    uint32_t *awake; // by that slot: something in it or on it moves
    uint32_t *ticks; // by that slot: the least rest of its members
};

void cairn_islands_carve(cairn_islands *islands, cairn_carver *from, const cairn_world_def *def);
