// SPDX-License-Identifier: MIT

// The scratch memory, and how a step is executed: workers and lanes, on which no bit of the result
// depends.

#include "sim/world/scratch.h"

#include <stdlib.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"

#define WORKERS_MAX 64

static void allocate_all(cairn_scratch *scratch, cairn_arena *from, const cairn_world_def *def) {
    cairn_awake_set *set = &scratch->awake_set;
    set->bodies = cairn_arena_take(from, def->body_capacity, sizeof *set->bodies);
    set->contains = cairn_arena_take(from, def->body_capacity, sizeof *set->contains);
    set->takes_impulses = cairn_arena_take(from, def->body_capacity, sizeof *set->takes_impulses);
    set->travels = cairn_arena_take(from, def->body_capacity, sizeof *set->travels);
    const size_t words = slot_set_words(def->body_capacity);
    set->set.words = cairn_arena_take(from, words, sizeof *set->set.words);
    set->set.before = cairn_arena_take(from, words, sizeof *set->set.before);
    cairn_manifold_pool_allocate(&scratch->manifold_pool, from, def);
    cairn_contact_edit_buffer_allocate(&scratch->contact_edit_buffer, from, def);
    cairn_islands_allocate(&scratch->islands, from, def);
    cairn_soft_step_allocate(&scratch->soft_step, from, def);
    cairn_pgs_allocate(&scratch->pgs, from, def);
    set->solver_body_of = scratch->soft_step.solver_body_of;
}

cairn_status cairn_scratch_create(
    cairn_scratch *scratch, const cairn_world_def *def, uint32_t lanes, cairn_allocator *take) {
    cairn_soft_step *soft_step = &scratch->soft_step;
    soft_step->wide_kernel = cairn_kernel_for(def->body_capacity);
    const bool known = (lanes == 0 || cairn_kernel_of(lanes, &soft_step->wide_kernel)) &&
                       cairn_kernel_of(1, &soft_step->overflow_kernel);
    CAIRN_ASSERT(known);
    cairn_arena measure = {.memory = NULL};
    allocate_all(scratch, &measure, def);
    scratch->size = measure.at + CAIRN_CACHE_LINE;
    // Zero pages that were never touched cost nothing, so the memory is not cleared by hand.
    scratch->memory = take(1, scratch->size);
    if (scratch->memory == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    cairn_arena cut = {.memory = cairn_cache_line_in(scratch->memory)};
    allocate_all(scratch, &cut, def);
    CAIRN_ASSERT(cut.at == measure.at && (uintptr_t)cut.memory % CAIRN_CACHE_LINE == 0);
    return CAIRN_OK;
}

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
    cairn_kernel kernel = {.lanes = 0};
    cairn_scratch scratch = {.memory = NULL};
    if (lanes != 0 && !cairn_kernel_of(lanes, &kernel)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_status status = cairn_scratch_create(&scratch, &world->def, lanes, calloc);
    if (status != CAIRN_OK) {
        return status;
    }
    free(world->scratch->memory);
    *world->scratch = scratch;
    cairn_manifold_pool_clear(world);
    CAIRN_ASSERT(lanes == 0 || cairn_world_lanes(world) == kernel.lanes);
    return CAIRN_OK;
}

uint32_t cairn_world_lanes(const cairn_world *world) {
    CAIRN_ASSERT(world->soft_step->wide_kernel.lanes > 0);
    return world->soft_step->wide_kernel.lanes;
}
