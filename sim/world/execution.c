// SPDX-License-Identifier: MIT

// How a step is executed: workers and lanes. No bit of the result depends on it.

#include <stdlib.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/world/scratch.h"

#define WORKERS_MAX 64

cairn_status cairn_world_set_parallel(cairn_world *world, const cairn_parallel *parallel) {
    if (parallel == NULL) {
        world->parallel = (cairn_parallel){.workers = 1};
        return CAIRN_OK;
    }
    if (parallel->run == NULL || parallel->workers < 1 || parallel->workers > WORKERS_MAX) {
        return CAIRN_INVALID_ARGUMENT;
    }
    world->parallel = *parallel;
    return CAIRN_OK;
}

cairn_status cairn_world_set_lanes(cairn_world *world, uint32_t lanes) {
    CAIRN_ASSERT(world->trace_hook == NULL);
    cairn_kernel kernel;
    cairn_scratch scratch = {.memory = NULL};
    if (!cairn_kernel_of(lanes, &kernel)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_status status = cairn_scratch_create(&scratch, &world->def, lanes, calloc);
    if (status != CAIRN_OK) {
        return status;
    }
    free(world->scratch->memory);
    *world->scratch = scratch;
    cairn_manifold_pool_clear(world);
    CAIRN_ASSERT(cairn_world_lanes(world) == kernel.lanes);
    return CAIRN_OK;
}

uint32_t cairn_world_lanes(const cairn_world *world) {
    CAIRN_ASSERT(world->soft_step->wide_kernel.lanes > 0);
    return world->soft_step->wide_kernel.lanes;
}
