// SPDX-License-Identifier: MIT
#include "sim/world/scratch.h"

static void carve_all(cairn_scratch *scratch, cairn_carver *from, const cairn_world_def *def) {
    cairn_awake_set_carve(&scratch->awake_set, from, def);
    cairn_manifold_pool_carve(&scratch->manifold_pool, from, def);
    cairn_contact_edit_buffer_carve(&scratch->contact_edit_buffer, from, def);
    cairn_islands_carve(&scratch->islands, from, def);
    cairn_soft_step_carve(&scratch->soft_step, from, def);
    cairn_pgs_carve(&scratch->pgs, from, def);
}

cairn_status cairn_scratch_create(
    cairn_scratch *scratch, const cairn_world_def *def, uint32_t lanes, cairn_allocator *take) {
    cairn_kernel_of(lanes, &scratch->soft_step.wide_kernel);
    cairn_kernel_of(1, &scratch->soft_step.overflow_kernel);
    cairn_carver measure = {.memory = NULL};
    carve_all(scratch, &measure, def);
    scratch->size = measure.at + CAIRN_CACHE_LINE;
    // Zero pages that were never touched cost nothing, so the memory is not cleared by hand.
    scratch->memory = take(1, scratch->size);
    if (scratch->memory == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    const uintptr_t past = (uintptr_t)scratch->memory % CAIRN_CACHE_LINE;
    cairn_carver cut = {.memory = (unsigned char *)scratch->memory + (CAIRN_CACHE_LINE - past)};
    carve_all(scratch, &cut, def);
    return CAIRN_OK;
}
