// SPDX-License-Identifier: MIT
#pragma once

// The bodies that a step visits.

#include "sim/state/world.h"

struct cairn_awake_set {
    uint32_t *bodies; // slots that stir, in order
    uint32_t body_count;
    unsigned char *stirs;  // by body slot, 0 or 1; where anything may sleep
    unsigned char *moving; // by body slot: impulses move it in this step
    bool sleepers;         // there were some when the step began
};

void cairn_awake_set_carve(cairn_awake_set *set, cairn_carver *from, const cairn_world_def *def);
