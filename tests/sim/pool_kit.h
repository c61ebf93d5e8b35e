// SPDX-License-Identifier: MIT
#pragma once

// Worlds that threads step together, however small their parts are.

#include "sim/state/hash_cache.h"
#include "tests/sim/world_kit.h"
#include "workers/pool.h"

SCOPE_POINTER_ENDS(cairn_pool, cairn_pool_destroy)

static inline cairn_pool *kit_pool(uint32_t workers) {
    cairn_pool *pool = NULL;
    EXPECT_OK(cairn_pool_create(workers, &pool));
    cairn_pool_share_always(pool);
    return pool;
}

static inline cairn_parallel kit_parallel_of(cairn_pool *pool) {
    return (cairn_parallel){.context = pool,
        .workers = cairn_pool_workers(pool),
        .run = cairn_pool_parallel,
        .wait = cairn_pool_wait};
}

// Steps a fork of `begin`, with so many lanes (0: the default) and workers, and fails unless the
// hash after each step is the one expected. Skips lanes for which this CPU has no kernel.
static inline void kit_expect_steps(const cairn_world *begin, const cairn_hash128 *expected,
    int steps, uint32_t lanes, uint32_t workers) {
    SCOPED(cairn_world) *world = kit_fork(begin);
    SCOPED(cairn_pool) *pool = workers > 1 ? kit_pool(workers) : NULL;
    if (pool != NULL) {
        const cairn_parallel parallel = kit_parallel_of(pool);
        EXPECT_OK(cairn_world_set_parallel(world, &parallel));
    }
    if (cairn_world_set_lanes(world, lanes) != CAIRN_OK) {
        return;
    }
    for (int step = 0; step < steps; ++step) {
        cairn_world_step(world, NULL, 0);
        if (!cairn_hash_equal(expected[step], kit_hash(world))) {
            fail_msg(
                "%u lanes, %u workers: step %d differs", (unsigned)lanes, (unsigned)workers, step);
        }
    }
    // Workers have marked everything that they wrote.
    assert_true(cairn_hash_equal(kit_hash(world), cairn_world_hash_fresh(world).full));
}
