// SPDX-License-Identifier: MIT
// A hundred ragdolls fall into a yard 8 m wide, on top of each other. An island of a thousand
// bodies sleeps only when all of them are slow at once, and some arm always trembles a little.

#include "bench/kit.h"
#include "tests/sim/world_kit.h"

// Figures in five layers of twenty, as in bench_ragdolls, with their turns moved on by `offset`.
static void expect_sleep(int offset) {
    const cairn_world_def size = {.body_capacity = 1200,
        .shape_capacity = 1200,
        .joint_capacity = 1000,
        .contact_capacity = 8192,
        .sleep = 1};
    SCOPED(cairn_world) *world = bench_world(&size);
    bench_yard(world, 4.0f);
    for (int i = 0; i < 100; ++i) {
        const cairn_vec3 at = bench_at(((float)(i / 5 % 4) - 1.5f) * 1.9f,
            1.2f + 2.2f * (float)(i / 20), ((float)(i % 5) - 2.0f) * 1.4f);
        bench_ragdoll(world, at, bench_turn((i + offset) % 100, 1.0f));
    }
    uint32_t ticks = 0;
    while (ticks < 1800 && cairn_world_counts_read(world).bodies_awake > 0) {
        kit_run(world, 1);
        ++ticks;
    }
    assert_int_equal(cairn_world_counts_read(world).bodies_awake, 0);
    assert_true(ticks > 120);
}

TEST("heaps of a hundred ragdolls sleep within thirty seconds") {
    expect_sleep(0);
    expect_sleep(3);
    expect_sleep(12);
    expect_sleep(15);
}
