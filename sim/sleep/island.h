// SPDX-License-Identifier: MIT
#pragma once

#include <stdatomic.h>

#include "sim/state/world.h"

struct cairn_islands {
    bool wakes;                   // a body of the awake set touches a sleeping one
    bool fell_asleep;             // some island did in this step
    uint32_t *root;               // by body slot: the lowest slot of its island
    uint32_t *awake;              // by that slot: a body of it, or one that touches it, is awake
    uint32_t *ticks;              // by that slot: the fewest slow ticks of its bodies
    _Atomic uint32_t slow_enough; // 1: some body has been slow for long enough
};

void cairn_islands_allocate(cairn_islands *islands, cairn_arena *from, const cairn_world_def *def);

// Puts the island of a dynamic body to sleep at once: all that it touches or is joined to, directly
// or by others. False, and nothing has changed: a body that is not dynamic, but moves or was moved,
// touches one of them.
bool cairn_islands_put_to_sleep(cairn_world *world, uint32_t slot);

// Wakes the bodies that were in contact with this one in the last step, and those joined to it.
void cairn_islands_wake_neighbours(cairn_world *world, uint32_t slot);
// Builds islands of dynamic bodies over contacts and joints, and wakes each sleeping island that a
// body of the awake set touches.
void cairn_islands_wake(cairn_world *world);
// Puts to sleep each island whose bodies have all been slow for long enough.
void cairn_islands_sleep(cairn_world *world);
