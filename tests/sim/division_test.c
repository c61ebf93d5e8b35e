// SPDX-License-Identifier: MIT
#include "tests/sim/world_kit.h"

#include "sim/soft_step/soft_step.h"
#include "sim/state/world.h"

static void run_in_turn(void *context, void (*task)(void *argument, uint32_t worker),
    void *argument, uint32_t workers) {
    (void)context;
    for (uint32_t i = 0; i < workers; ++i) {
        task(argument, i);
    }
}

TEST("two heaps far apart, with slots by turns, get an owner each, and share no constraint") {
    const cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(&def);
    kit_ground(world);
    for (uint32_t i = 0; i < 300; ++i) {
        const float x = (i % 2 == 0 ? -20.0f : 20.0f) + 1.5f * (float)(i / 2 % 10);
        kit_cube(world, vec3(x, 0.5f + (float)(i / 20 % 2), 1.5f * (float)(i / 40)));
    }
    const cairn_parallel parallel = {.workers = 2, .run = run_in_turn};
    EXPECT_OK(cairn_world_set_parallel(world, &parallel));
    kit_run(world, 5);
    const cairn_constraint_graph *graph = &world->soft_step->contact_graph;
    assert_int_equal(graph->owners.count, 2);
    assert_int_equal(graph->owner_edges[0] + graph->owner_edges[1], 300);
    assert_int_equal(graph->owner_edges[0], 150);
    for (uint32_t i = 0; i < graph->moving_count; ++i) {
        assert_int_equal(graph->shared[i], 0);
    }
}
