// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

struct cairn_islands {
    bool wakes;      // something that stirs touches what sleeps
    uint32_t *root;  // by body slot: the lowest slot of its island
    uint32_t *awake; // by that slot: something in it or on it moves
    uint32_t *ticks; // by that slot: the least rest of its members
};

void cairn_islands_allocate(cairn_islands *islands, cairn_arena *from, const cairn_world_def *def);

// Builds islands of dynamic bodies over contacts and joints, and wakes each sleeping island that a
// body of the awake set touches.
void cairn_islands_wake(cairn_world *world);
// Puts to sleep each island whose bodies have all been slow for long enough.
void cairn_islands_sleep(cairn_world *world);
