// SPDX-License-Identifier: MIT
#include "sim/world/derived.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/world/hull_store.h"

static void link_shapes(cairn_world *world) {
    const cairn_state *state = &world->state;
    memset(world->shape_first, 0, state->settings->body_slots * sizeof *world->shape_first);
    for (uint32_t i = state->settings->shape_slots; i > 0; --i) {
        if (cairn_state_has(state, CAIRN_ARRAY_SHAPES, i - 1)) {
            const uint32_t body = state->shapes[i - 1].body;
            CAIRN_ASSERT(cairn_state_has(state, CAIRN_ARRAY_BODIES, body));
            world->shape_next[i - 1] = world->shape_first[body];
            world->shape_first[body] = i;
        }
    }
}

void cairn_world_derive(cairn_world *world, const bool changed[CAIRN_ARRAY_COUNT]) {
    CAIRN_ASSERT(world->state.settings->body_capacity == world->def.body_capacity);
    if (changed[CAIRN_ARRAY_SHAPE_IDS] || changed[CAIRN_ARRAY_SHAPES] ||
        changed[CAIRN_ARRAY_BODY_IDS]) {
        link_shapes(world);
    }
    world->body_hint = changed[CAIRN_ARRAY_BODY_IDS] ? 0 : world->body_hint;
    world->shape_hint = changed[CAIRN_ARRAY_SHAPE_IDS] ? 0 : world->shape_hint;
    world->joint_hint = changed[CAIRN_ARRAY_JOINT_IDS] ? 0 : world->joint_hint;
    world->hull_hint = changed[CAIRN_ARRAY_HULL_IDS] ? 0 : world->hull_hint;
    if (changed[CAIRN_ARRAY_HULL_IDS] || changed[CAIRN_ARRAY_HULLS]) {
        cairn_hulls_derive(world);
    }
    world->contacts_stale = true;
    world->islands_settled = false;
    world->pair_cache_valid = false;
    cairn_manifold_pool_clear(world);
    CAIRN_ASSERT(!world->manifold_pool->complete && world->manifold_pool->used == 0);
    world->event_count = 0;
}
