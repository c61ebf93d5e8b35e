// SPDX-License-Identifier: MIT
#include "sim/step.h"
#include "sim/world/body.h"

// Nothing stirs, so no pair is looked at, no body moves, wakes or falls asleep; and since the
// contacts were found no shape went and no body was quarantined, so none ends. What such a step
// computes is what there is already.
bool cairn_step_idle(const cairn_world *world) {
    if (world->contacts_stale) {
        return false;
    }
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        // First what is near at hand: of ten thousand sleepers nothing else is read.
        if (world->state.rests[i].state != CAIRN_REST_ASLEEP && cairn_body_stirs(world, i)) {
            return false;
        }
    }
    return true;
}
