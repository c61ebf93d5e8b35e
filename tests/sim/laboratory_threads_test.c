// SPDX-License-Identifier: MIT
// The laboratory solvers for wide machines, with real threads.

#include "tests/sim/world_kit.h"

#include "sim/state/world.h"
#include "tests/sim/pool_kit.h"

#define BODIES 160

static cairn_world *heap_of(uint32_t solver) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    def.body_capacity = def.shape_capacity = BODIES + 1;
    def.contact_capacity = 8 * BODIES;
    def.iterations = 12;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    for (uint32_t i = 0; i < BODIES; ++i) {
        // Columns that lean on each other.
        const float x = 0.9f * (float)(i % 8) + 0.1f * (float)(i / 64);
        kit_cube(world, vec3(x, 0.49f + 0.98f * (float)(i / 64), 0.9f * (float)(i / 8 % 8)));
    }
    return world;
}

TEST("the methods for wide machines have the same bits with any number of threads") {
    static const uint32_t workers[] = {2, 3, 8};
    for (uint32_t solver = CAIRN_SOLVER_SPLIT; solver <= CAIRN_SOLVER_APGD; ++solver) {
        SCOPED(cairn_world) *alone = heap_of(solver);
        kit_run(alone, 3);
        assert_true(alone->state.settings->contact_count > 2 * BODIES);
        for (size_t i = 0; i < sizeof workers / sizeof workers[0]; ++i) {
            SCOPED(cairn_world) *shared = heap_of(solver);
            cairn_pool *pool = kit_pool(workers[i]);
            const cairn_parallel parallel = kit_parallel_of(pool);
            EXPECT_OK(cairn_world_set_parallel(shared, &parallel));
            kit_run(shared, 3);
            const bool equal = kit_equal(alone, shared);
            EXPECT_OK(cairn_world_set_parallel(shared, NULL));
            cairn_pool_destroy(pool);
            if (!equal) {
                fail_msg("solver %u differs with %u threads", solver, workers[i]);
            }
        }
    }
}
