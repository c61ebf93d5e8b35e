// SPDX-License-Identifier: MIT
// A hundred ragdolls fall into a yard 8 m wide, on top of each other. An island of a thousand
// bodies sleeps only when all of them are slow at once, and some arm always trembles a little.

#include "bench/kit.h"
#include "tests/sim/world_kit.h"

TEST("a hundred ragdolls in a heap sleep within thirty seconds") {
    const cairn_world_def size = {.body_capacity = 1200,
        .shape_capacity = 1200,
        .joint_capacity = 1000,
        .contact_capacity = 8192,
        .sleep = 1};
    SCOPED(cairn_world) *world = bench_world(&size);
    bench_ragdolls(world);
    uint32_t ticks = 0;
    while (ticks < 1800 && cairn_world_counts_read(world).bodies_awake > 0) {
        kit_run(world, 1);
        ++ticks;
    }
    assert_int_equal(cairn_world_counts_read(world).bodies_awake, 0);
    assert_true(ticks > 120);
}
