// SPDX-License-Identifier: MIT
// The stage probe hears of every stage, in the order of the step, and changes nothing.

#include "tests/sim/world_kit.h"

#define HEARD_MAX 64

typedef struct heard {
    uint32_t stages[HEARD_MAX];
    uint32_t count;
} heard;

static void listen(void *context, uint32_t stage) {
    heard *h = context;
    assert_true(h->count < HEARD_MAX);
    h->stages[h->count] = stage;
    h->count += 1;
}

static cairn_world *build(void) {
    static const cairn_vec3 half = {.x = 0.5f, .y = 0.5f, .z = 0.5f};
    cairn_world *world = kit_world(NULL);
    kit_ground(world, 0.5f);
    kit_box(world, vec3(0.0f, 0.5f, 0.0f), half, 1000.0f, 0.5f);
    return world;
}

static bool has(const heard *h, uint32_t stage) {
    for (uint32_t i = 0; i < h->count; ++i) {
        if (h->stages[i] == stage) {
            return true;
        }
    }
    return false;
}

TEST("a step reports every stage") {
    SCOPED(cairn_world) *world = build();
    heard h = {.count = 0};
    cairn_world_set_stage_probe(world, listen, &h);
    cairn_world_step(world, NULL, 0);
    assert_int_equal(h.stages[0], CAIRN_STAGE_RULES);
    for (uint32_t stage = 0; stage < CAIRN_STAGE_COUNT; ++stage) {
        assert_true(has(&h, stage));
    }
    cairn_world_set_stage_probe(world, NULL, NULL);
    const uint32_t before = h.count;
    cairn_world_step(world, NULL, 0);
    assert_int_equal(h.count, before);
}

TEST("a step of a sleeping world reports the first stage alone") {
    SCOPED(cairn_world) *world = build();
    for (int i = 0; i < 240; ++i) {
        cairn_world_step(world, NULL, 0);
    }
    heard h = {.count = 0};
    cairn_world_set_stage_probe(world, listen, &h);
    cairn_world_step(world, NULL, 0);
    assert_int_equal(h.count, 1);
    assert_int_equal(h.stages[0], CAIRN_STAGE_RULES);
}

TEST("a probe changes no bit") {
    SCOPED(cairn_world) *world = build();
    SCOPED(cairn_world) *probed = build();
    heard h = {.count = 0};
    cairn_world_set_stage_probe(probed, listen, &h);
    for (int i = 0; i < 90; ++i) {
        h.count = 0;
        cairn_world_step(world, NULL, 0);
        cairn_world_step(probed, NULL, 0);
    }
    assert_true(cairn_hash_equal(kit_hash(world), kit_hash(probed)));
}
