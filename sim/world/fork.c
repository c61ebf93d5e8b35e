// SPDX-License-Identifier: MIT

// A copy of a world that continues from its current state. It takes what a save would hold, the
// hash cache, and the derived data that is expensive to rebuild. The rest of its memory is neither
// cleared nor copied, so a fork costs as much as lives in the world, whatever its capacities.

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/shape/hull.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/hash_cache.h"
#include "sim/world/world.h"

static void copy_state(cairn_world *to, const cairn_world *from) {
    const cairn_settings settings = cairn_settings_of(&to->def);
    CAIRN_ASSERT(to != from);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        CAIRN_ASSERT(cairn_array_count(from->state.settings, array) <=
                     cairn_array_capacity(&settings, array));
        memcpy(cairn_state_array(&to->state, array), cairn_state_array(&from->state, array),
            cairn_array_count(from->state.settings, array) * cairn_array_element_size(array));
    }
}

static void copy_derived(cairn_world *to, const cairn_world *from) {
    const cairn_settings *settings = from->state.settings;
    CAIRN_ASSERT(to->state.settings->body_slots == settings->body_slots);
    memcpy(to->shape_first, from->shape_first, settings->body_slots * sizeof from->shape_first[0]);
    memcpy(to->shape_next, from->shape_next, settings->shape_slots * sizeof from->shape_next[0]);
    memcpy(to->hulls, from->hulls, settings->hull_slots * sizeof from->hulls[0]);
    to->body_hint = from->body_hint;
    to->shape_hint = from->shape_hint;
    to->joint_hint = from->joint_hint;
    to->hull_hint = from->hull_hint;
    to->contacts_stale = true;
    cairn_hash_cache_copy(to->hash_cache, from->hash_cache, settings);
    cairn_manifold_pool_clear(to);
}

// calloc would clear all memory that the process has used before, however little of it the fork
// needs.
static void *allocate_uncleared(size_t count, size_t size) {
    CAIRN_ASSERT(size == 0 || count <= SIZE_MAX / size);
    return malloc(count * size);
}

cairn_status cairn_world_fork(const cairn_world *from, cairn_world **out) {
    const cairn_status status = cairn_world_allocate(
        &from->def, from->soft_step->wide_kernel.lanes, allocate_uncleared, out);
    if (status != CAIRN_OK) {
        return status;
    }
    copy_state(*out, from);
    copy_derived(*out, from);
    CAIRN_ASSERT(cairn_world_tick(*out) == cairn_world_tick(from));
    return CAIRN_OK;
}
