// SPDX-License-Identifier: MIT
#include "sim/state/awake_set.h"
#include "sim/step.h"

// Nothing stirs, so no pair is looked at, no body moves, wakes or falls asleep; and since the
// contacts were found no shape went and no body was disabled, so none ends. What such a step
// computes is what there is already.
bool cairn_step_is_idle(const cairn_world *world) {
    if (world->contacts_stale) {
        return false;
    }
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        // First what is near at hand: of ten thousand sleepers nothing else is read.
        if (world->state.sleep[i].state != CAIRN_SLEEP_ASLEEP &&
            cairn_body_in_awake_set(world, i)) {
            return false;
        }
    }
    return true;
}
