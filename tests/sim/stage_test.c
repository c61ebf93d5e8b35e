// SPDX-License-Identifier: MIT
// The stage probe is called for every stage in the order of the step, and changes nothing.

#include "tests/sim/world_kit.h"

#define STAGES_MAX 64

typedef struct record {
    uint32_t stages[STAGES_MAX];
    uint32_t count;
} record;

static void record_stage(void *context, uint32_t stage) {
    record *seen = context;
    assert_true(seen->count < STAGES_MAX);
    seen->stages[seen->count] = stage;
    seen->count += 1;
}

static cairn_world *build(void) {
    cairn_world *world = kit_world(NULL);
    kit_ground(world);
    kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    return world;
}

TEST("a step reports every stage") {
    SCOPED(cairn_world) *world = build();
    record seen = {.count = 0};
    cairn_world_set_stage_probe(world, record_stage, &seen);
    kit_run(world, 1);
    assert_int_equal(seen.stages[0], CAIRN_STAGE_RULES);
    uint32_t stages = 0; // a bit for each
    for (uint32_t i = 0; i < seen.count; ++i) {
        stages |= 1u << seen.stages[i];
    }
    assert_int_equal(stages, (1u << CAIRN_STAGE_COUNT) - 1);
    cairn_world_set_stage_probe(world, NULL, NULL);
    const uint32_t before = seen.count;
    kit_run(world, 1);
    assert_int_equal(seen.count, before);
}

TEST("a step of a sleeping world reports only the first stage") {
    SCOPED(cairn_world) *world = build();
    kit_run(world, 240);
    record seen = {.count = 0};
    cairn_world_set_stage_probe(world, record_stage, &seen);
    kit_run(world, 1);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.stages[0], CAIRN_STAGE_RULES);
}

TEST("a probe changes no bit") {
    SCOPED(cairn_world) *world = build();
    SCOPED(cairn_world) *probed = build();
    record seen = {.count = 0};
    cairn_world_set_stage_probe(probed, record_stage, &seen);
    for (int i = 0; i < 90; ++i) {
        seen.count = 0;
        kit_run(world, 1);
        kit_run(probed, 1);
    }
    assert_true(kit_equal(world, probed));
}
