// SPDX-License-Identifier: MIT
// A ragdoll alone on a floor comes to rest.

#include "bench/kit.h"
#include "tests/sim/world_kit.h"

static bool asleep(const cairn_world *world) {
    return cairn_world_counts_read(world).bodies_awake == 0;
}

// How many ticks pass until every body sleeps; `most` if some body is still awake then.
static uint32_t ticks_to_sleep(cairn_world *world, uint32_t most) {
    for (uint32_t i = 0; i < most; ++i) {
        kit_run(world, 1);
        if (asleep(world)) {
            return i + 1;
        }
    }
    return most;
}

// Falls from 1.2 m, standing, lying on its side, on its face or on its back, and askew.
TEST("a ragdoll alone sleeps within ten seconds") {
    static const cairn_quat poses[] = {{0.0f, 0.0f, 0.0f, 1.0f}, {0.0f, 0.0f, 0.7f, 0.7f},
        {0.7f, 0.0f, 0.0f, 0.7f}, {-0.7f, 0.0f, 0.0f, 0.7f}, {0.1f, 0.3f, 0.2f, 0.9f},
        {0.4f, 0.5f, -0.3f, 0.7f}, {-0.2f, 0.6f, 0.6f, 0.4f}, {0.9f, 0.1f, 0.3f, 0.2f}};
    const cairn_world_def size = {.body_capacity = 16,
        .shape_capacity = 16,
        .joint_capacity = 16,
        .contact_capacity = 256,
        .sleep = 1};
    for (uint32_t i = 0; i < sizeof poses / sizeof poses[0]; ++i) {
        SCOPED(cairn_world) *world = bench_world(&size);
        bench_floor(world, 20.0f);
        bench_ragdoll(world, vec3(0.0f, 1.2f, 0.0f), quat_normalize(poses[i]));
        const uint32_t ticks = ticks_to_sleep(world, 600);
        if (ticks == 600) {
            fail_msg("ragdoll %u is awake after 10 s", i);
        }
    }
}

// Dropped upright it falls on its knees: shins and feet lie, the rest stands on them. Contacts with
// the floor that are stiffer than the sweeps can follow make it sway for ever from some of these
// heights.
TEST("a ragdoll on its knees sleeps within ten seconds") {
    const cairn_world_def size = {.body_capacity = 16,
        .shape_capacity = 16,
        .joint_capacity = 16,
        .contact_capacity = 256,
        .sleep = 1};
    for (uint32_t i = 0; i < 80; ++i) {
        SCOPED(cairn_world) *world = bench_world(&size);
        const float height = 1.2f + 0.005f * (float)i;
        bench_floor(world, 20.0f);
        bench_ragdoll(world, vec3(0.0f, height, 0.0f), quat_identity());
        if (ticks_to_sleep(world, 600) == 600) {
            fail_msg("dropped from %.3f m it is awake after 10 s", (double)height);
        }
    }
}
