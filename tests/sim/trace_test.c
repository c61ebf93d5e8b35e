// SPDX-License-Identifier: MIT
// The trace of a step and the stage probe. A traced step equals a plain step. Its points depend
// only on state and commands, and the first point that differs shows where two steps diverge.

#include "tests/sim/world_kit.h"

#include <string.h>

#include "sim/debug/poison.h"
#include "sim/debug/trace.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/world.h"
#include "tests/sim/golden_scenes.h"

static cairn_trace traces[2]; // too large for a stack

static void expect_same_steps(const golden_scene *scene, cairn_world *world) {
    static cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    SCOPED(cairn_world) *other = kit_fork(world);
    SCOPED(cairn_world) *plain = kit_fork(world);
    cairn_world_poison(other, 0xaa);
    EXPECT_OK(cairn_world_set_lanes(other, 1));
    for (int i = 0; i < 3; ++i) {
        const uint32_t count =
            scene->command == NULL ? 0 : scene->command(cairn_world_tick(world), commands);
        cairn_world_step_traced(world, commands, count, &traces[0]);
        cairn_world_step_traced(other, commands, count, &traces[1]);
        cairn_world_step(plain, commands, count);
        const uint32_t first = cairn_trace_first_difference(&traces[0], &traces[1]);
        if (traces[0].count != traces[1].count || first != traces[0].count) {
            const cairn_trace_point *at = &traces[0].points[first];
            fail_msg("%s: traces differ from point %u, %s %u %s", scene->name, first,
                cairn_stage_name(at->stage), at->substep, cairn_pass_name(at->pass));
        }
        const cairn_trace_point *end = &traces[0].points[traces[0].count - 1];
        assert_int_equal(end->stage, CAIRN_STAGE_END);
        assert_true(cairn_hash_equal(end->root, kit_hash(plain)));
        assert_true(kit_equal(world, plain));
    }
}

TEST("a traced step equals a plain step in every scene and at two SIMD widths") {
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        const golden_scene *scene = &golden_scenes[i];
        if (strcmp(scene->name, "field") != 0) { // too large
            SCOPED(cairn_world) *world = golden_world_at(scene, scene->ticks / 2);
            expect_same_steps(scene, world);
        }
    }
}

static cairn_world *build_stack(uint32_t solver) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    kit_cube(world, vec3(0.1f, 1.5f, 0.0f));
    kit_run(world, 10);
    return world;
}

// Steps a good and a bad world with a trace; returns the first point that differs.
static uint32_t step_traced(cairn_world *good, cairn_world *bad) {
    cairn_world_step_traced(good, NULL, 0, &traces[0]);
    cairn_world_step_traced(bad, NULL, 0, &traces[1]);
    return cairn_trace_first_difference(&traces[0], &traces[1]);
}

// Steps both worlds to a point of the trace, where exactly one word must differ.
static void expect_one_difference(
    cairn_world *good, cairn_world *bad, uint32_t point, const char *section, const char *field) {
    cairn_frame *a = cairn_world_step_frozen(good, NULL, 0, point);
    cairn_frame *b = cairn_world_step_frozen(bad, NULL, 0, point);
    cairn_word_difference found;
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(cairn_frame_diff(a, b, &found, 1), 1);
    assert_string_equal(cairn_array_section_name(found.array), section);
    assert_string_equal(cairn_array_field_name(found.array, found.word), field);
    if (strcmp(section, "solver") == 0) {
        uint32_t bodies[2];
        assert_int_equal(
            cairn_element_bodies(cairn_frame_world(a), found.array, found.element, bodies), 1);
        assert_int_equal(bodies[0], 3);
    }
    cairn_frame_destroy(a);
    cairn_frame_destroy(b);
}

// Changes one of two equal worlds as the statement says. Their first stage must differ.
#define EXPECT_TRACED(section, field, ...)                                                         \
    do {                                                                                           \
        SCOPED(cairn_world) *good = build_stack(CAIRN_SOLVER_SOFT_STEP);                           \
        SCOPED(cairn_world) *bad = kit_fork(good);                                                 \
        __VA_ARGS__;                                                                               \
        SCOPED(cairn_world) *good_again = kit_fork(good);                                          \
        SCOPED(cairn_world) *bad_again = kit_fork(bad);                                            \
        const uint32_t first = step_traced(good, bad);                                             \
        assert_int_equal(traces[0].points[first].stage, CAIRN_STAGE_RULES);                        \
        assert_int_equal(traces[0].points[first].pass, CAIRN_PASS_NONE);                           \
        expect_one_difference(good_again, bad_again, first, section, field);                       \
    } while (0)

TEST("the first point that differs leads to the word that differs") {
    EXPECT_TRACED("bodies", "linear_velocity.y", bad->state.motions[2].linear_velocity.y += 1e-4f);
    EXPECT_TRACED("contacts", "points[0].normal_impulse",
        bad->state.contacts[1].points[0].normal_impulse += 1e-3f);
    EXPECT_TRACED("settings", "contact_damping", bad->state.settings->contact_damping += 1.0f;
                  bad->def.contact_damping += 1.0f);
}

// Writes into the solver's memory between two of its passes, which no function of the API does.
static void push_at_prepare(void *context, uint32_t stage) {
    if (stage == CAIRN_STAGE_PREPARE) {
        const cairn_world *world = context;
        world->soft_step->bodies[1].linear_velocity[0] += 0.001f;
    }
}

TEST("a difference inside the solver is named by its word") {
    SCOPED(cairn_world) *good = build_stack(CAIRN_SOLVER_SOFT_STEP);
    SCOPED(cairn_world) *bad = kit_fork(good);
    SCOPED(cairn_world) *good_again = kit_fork(good);
    SCOPED(cairn_world) *bad_again = kit_fork(good);
    cairn_world_set_stage_probe(bad, push_at_prepare, bad);
    cairn_world_set_stage_probe(bad_again, push_at_prepare, bad_again);
    const uint32_t first = step_traced(good, bad);
    assert_int_equal(traces[0].points[first].stage, CAIRN_STAGE_PREPARE);
    expect_one_difference(good_again, bad_again, first, "solver", "linear_velocity.x");
}

TEST("every substep and every sweep is in the trace") {
    for (uint32_t solver = 0; solver < 2; ++solver) {
        SCOPED(cairn_world) *world = build_stack(solver);
        const cairn_world_def *def = cairn_world_settings(world);
        cairn_world_step_traced(world, NULL, 0, &traces[0]);
        uint32_t substeps = 0;
        uint32_t points = 0;
        for (uint32_t i = 0; i < traces[0].count; ++i) {
            const cairn_trace_point *point = &traces[0].points[i];
            substeps = point->substep > substeps ? point->substep : substeps;
            points += point->stage == CAIRN_STAGE_SOLVE ? 1u : 0u;
        }
        const bool pgs = solver == CAIRN_SOLVER_PGS;
        assert_int_equal(substeps, pgs ? def->iterations : def->substeps);
        assert_int_equal(points, pgs ? def->iterations + 2 : 4 * def->substeps + 1);
    }
}

TEST("the trace of the longest step fits") {
    cairn_world_def def = cairn_world_def_default();
    for (uint32_t solver = 0; solver < 2; ++solver) {
        def.solver = solver;
        def.substeps = 64;
        def.iterations = 255;
        SCOPED(cairn_world) *world = kit_world(&def);
        uint8_t roots[CAIRN_TRACE_ROOTS_SIZE_MAX];
        assert_true(cairn_trace_stages(world, NULL, 0, roots) > 255 * CAIRN_TRACE_ROOT_SIZE);
        assert_int_equal(cairn_world_tick(world), 1);
    }
}

TEST("a traced step of a sleeping world equals a plain step") {
    SCOPED(cairn_world) *world = build_stack(CAIRN_SOLVER_SOFT_STEP);
    cairn_world_step_traced(world, NULL, 0, &traces[0]);
    kit_run(world, 240);
    assert_int_equal(cairn_world_counts_read(world).bodies_awake, 0);
    SCOPED(cairn_world) *plain = kit_fork(world);
    cairn_world_step_traced(world, NULL, 0, &traces[1]);
    cairn_world_step(plain, NULL, 0);
    assert_int_equal(traces[0].count, traces[1].count);
    assert_true(kit_equal(world, plain));
}

TEST("the distance of floats is counted in ulps") {
    assert_int_equal(cairn_float_ulps(0x3f800000u, 0x3f800000u), 0);
    assert_int_equal(cairn_float_ulps(0x3f800000u, 0x3f800001u), 1);
    assert_int_equal(cairn_float_ulps(0x3f7fffffu, 0x3f800001u), 2);
    assert_int_equal(cairn_float_ulps(0x80000000u, 0x00000000u), 1);
    assert_int_equal(cairn_float_ulps(0x80000001u, 0x00000001u), 3);
    assert_int_equal(cairn_float_ulps(0x7fc00000u, 0x3f800000u), UINT32_MAX);
}

TEST("every word has a name") {
    for (uint32_t array = 0; array <= CAIRN_TRACE_ARRAY_MANIFOLDS; ++array) {
        const uint32_t words = cairn_array_words(array);
        const bool known = array < CAIRN_ARRAY_COUNT || array >= CAIRN_TRACE_ARRAY_SOLVER;
        assert_int_equal(words > 0, known);
        assert_int_equal(strcmp(cairn_array_section_name(array), "unknown") != 0, known);
        for (uint32_t word = 0; word < words; ++word) {
            assert_string_not_equal(cairn_array_field_name(array, word), "unknown");
        }
        assert_string_equal(cairn_array_field_name(array, words), "unknown");
    }
}

// The stage probe

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

TEST("a step reports every stage") {
    SCOPED(cairn_world) *world = build_stack(CAIRN_SOLVER_SOFT_STEP);
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
    SCOPED(cairn_world) *world = build_stack(CAIRN_SOLVER_SOFT_STEP);
    kit_run(world, 240);
    record seen = {.count = 0};
    cairn_world_set_stage_probe(world, record_stage, &seen);
    kit_run(world, 1);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.stages[0], CAIRN_STAGE_RULES);
}

TEST("a stage probe does not change a step") {
    SCOPED(cairn_world) *world = build_stack(CAIRN_SOLVER_SOFT_STEP);
    SCOPED(cairn_world) *probed = build_stack(CAIRN_SOLVER_SOFT_STEP);
    record seen = {.count = 0};
    cairn_world_set_stage_probe(probed, record_stage, &seen);
    for (int i = 0; i < 90; ++i) {
        seen.count = 0;
        kit_run(world, 1);
        kit_run(probed, 1);
    }
    assert_true(kit_equal(world, probed));
}
