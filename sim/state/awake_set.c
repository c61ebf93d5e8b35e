// SPDX-License-Identifier: MIT
#include "sim/state/awake_set.h"

#include "base/assert.h"

// A body enters the awake set by being woken or given a velocity, which marks it.
void cairn_awake_set_list(cairn_world *world) {
    cairn_awake_set *awake = world->awake_set;
    const uint32_t count = world->state.settings->body_slots;
    awake->body_count = 0;
    for (uint32_t i = cairn_awake_mark_next(world, 0); i < count;
         i = cairn_awake_mark_next(world, i + 1)) {
        if (cairn_body_in_awake_set(world, i)) {
            awake->bodies[awake->body_count++] = i;
        } else {
            cairn_awake_mark_remove(world, i);
        }
    }
    CAIRN_ASSERT(awake->body_count <= count);
}
