// SPDX-License-Identifier: MIT
#include "sim/debug/poison.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/query/shape_tree.h"
#include "sim/world/scratch.h"

void cairn_world_poison(cairn_world *world, unsigned char byte) {
    memset(world->scratch->memory, byte, world->scratch->size);
    memset(world->pair_cache->memory, byte, world->pair_cache->size);
    world->pair_cache_valid = false;
    memset(world->shape_tree->memory, byte, world->shape_tree->size);
    world->shape_tree->built = false;
    cairn_manifold_pool_clear(world);
    world->soft_step->still_slots = 0;
    world->soft_step->division.divided = 0;
    world->soft_step->contact_graph.edge_count = 0;
    world->soft_step->joint_graph.edge_count = 0;
    world->soft_step->forest.source_count = 0;
    world->pgs->contact_graph.edge_count = 0;
    world->pgs->joint_graph.edge_count = 0;
    memset(world->spare_memory, byte, cairn_state_size(world->state.settings));
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const size_t size = cairn_array_element_size(array);
        const size_t live = cairn_array_count(world->state.settings, array) * size;
        const size_t all = cairn_array_capacity(world->state.settings, array) * size;
        unsigned char *bytes = cairn_state_array(&world->state, array);
        CAIRN_ASSERT(live <= all);
        memset(bytes + live, byte, all - live);
    }
}
