// SPDX-License-Identifier: MIT

// What a world holds besides its state and can be made again from it.

#include <string.h>

#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/world/hull_store.h"
#include "sim/world/scratch.h"

static void link_shapes(cairn_world *world) {
    const cairn_state *state = &world->state;
    memset(world->shape_first, 0, state->settings->body_slots * sizeof *world->shape_first);
    for (uint32_t i = state->settings->shape_slots; i > 0; --i) {
        if (cairn_state_has(state, CAIRN_ARRAY_SHAPES, i - 1)) {
            const uint32_t body = state->shapes[i - 1].body;
            world->shape_next[i - 1] = world->shape_first[body];
            world->shape_first[body] = i;
        }
    }
}

void cairn_world_derive(cairn_world *world, const bool differed[CAIRN_ARRAY_COUNT]) {
    if (differed[CAIRN_ARRAY_SHAPE_IDS] || differed[CAIRN_ARRAY_SHAPES] ||
        differed[CAIRN_ARRAY_BODY_IDS]) {
        link_shapes(world);
    }
    world->body_hint = differed[CAIRN_ARRAY_BODY_IDS] ? 0 : world->body_hint;
    world->shape_hint = differed[CAIRN_ARRAY_SHAPE_IDS] ? 0 : world->shape_hint;
    world->joint_hint = differed[CAIRN_ARRAY_JOINT_IDS] ? 0 : world->joint_hint;
    world->hull_hint = differed[CAIRN_ARRAY_HULL_IDS] ? 0 : world->hull_hint;
    if (differed[CAIRN_ARRAY_HULL_IDS] || differed[CAIRN_ARRAY_HULLS]) {
        cairn_hulls_derive(world);
    }
    world->contacts_stale = true;
    world->pair_cache->valid = false;
    cairn_manifold_pool_clear(world);
    world->event_count = 0;
}

void cairn_world_poison(cairn_world *world, unsigned char byte) {
    memset(world->scratch->memory, byte, world->scratch->size);
    cairn_pair_cache_poison(world->pair_cache, byte);
    cairn_manifold_pool_clear(world);
    memset(world->spare_memory, byte, cairn_state_size(world->state.settings));
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const size_t size = cairn_array_element_size(array);
        const size_t live = cairn_array_count(world->state.settings, array) * size;
        const size_t all = cairn_array_capacity(world->state.settings, array) * size;
        unsigned char *bytes = cairn_state_array(&world->state, array);
        memset(bytes + live, byte, all - live);
    }
    world->event_count = 0;
}
