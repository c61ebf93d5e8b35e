// SPDX-License-Identifier: MIT
// A traced step does what a step does, its points depend on nothing but state and commands, and
// they tell where two steps part.

#include "tests/kit/test.h"

#include <string.h>

#include "tests/sim/world_kit.h"

#include "sim/debug/poison.h"
#include "sim/debug/trace.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/world.h"
#include "tests/sim/golden_scenes.h"

static cairn_trace traces[2]; // too large for a stack

static cairn_world *halfway(const golden_scene *scene) {
    cairn_world *world = golden_create(scene);
    assert_non_null(world);
    scene->build(world);
    for (uint32_t i = 0; i < scene->ticks / 2; ++i) {
        golden_step(scene, world);
    }
    return world;
}

static void expect_equal_traces(const char *name) {
    const uint32_t first = cairn_trace_first_difference(&traces[0], &traces[1]);
    if (traces[0].count != traces[1].count || first != traces[0].count) {
        const cairn_trace_point *at = &traces[0].points[first];
        fail_msg("%s: traces part at point %u, %s %u %s", name, first, cairn_stage_name(at->stage),
            at->substep, cairn_pass_name(at->pass));
    }
}

static uint32_t commands_of(
    const golden_scene *scene, const cairn_world *world, cairn_command *commands) {
    return scene->command == NULL ? 0 : scene->command(cairn_world_tick(world), commands);
}

static void expect_same_steps(const golden_scene *scene, cairn_world *world) {
    static cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    SCOPED(cairn_world) *other = kit_fork(world);
    SCOPED(cairn_world) *plain = kit_fork(world);
    cairn_world_poison(other, 0xaa);
    assert_int_equal(cairn_world_set_lanes(other, 1), CAIRN_OK);
    for (int i = 0; i < 3; ++i) {
        const uint32_t count = commands_of(scene, world, commands);
        cairn_world_step_traced(world, commands, count, &traces[0]);
        cairn_world_step_traced(other, commands, count, &traces[1]);
        cairn_world_step(plain, commands, count);
        expect_equal_traces(scene->name);
        const cairn_trace_point *end = &traces[0].points[traces[0].count - 1];
        assert_int_equal(end->stage, CAIRN_STAGE_END);
        assert_true(cairn_hash_equal(end->root, kit_hash(plain)));
        assert_true(cairn_hash_equal(kit_hash(world), kit_hash(plain)));
    }
}

TEST("a traced step does what a step does in every scene and width") {
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        SCOPED(cairn_world) *world = halfway(&golden_scenes[i]);
        if (cairn_world_counts_read(world).bodies < 500) {
            expect_same_steps(&golden_scenes[i], world);
        }
    }
}

static cairn_world *build(uint32_t solver) {
    static const cairn_vec3 half = {.x = 0.5f, .y = 0.5f, .z = 0.5f};
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    cairn_world *world = kit_world(&def);
    kit_ground(world, 0.5f);
    kit_box(world, vec3(0.0f, 0.5f, 0.0f), half, 1000.0f, 0.5f);
    kit_box(world, vec3(0.1f, 1.5f, 0.0f), half, 1000.0f, 0.5f);
    kit_run(world, 10);
    return world;
}

// What is done to one of two equal worlds, and where their steps part.
typedef struct fault {
    const char *name;
    void (*plant)(cairn_world *world);
    uint32_t stage;
    uint32_t pass;
    const char *section;
    const char *field;
} fault;

static void turn_a_velocity(cairn_world *world) {
    world->state.motions[2].linear_velocity.y += 1e-4f;
}

static void lose_an_impulse(cairn_world *world) {
    world->state.contacts[1].points[0].normal_impulse += 1e-3f;
}

static void lower_the_substeps_softness(cairn_world *world) {
    world->state.settings->contact_damping += 1.0f;
    world->def.contact_damping += 1.0f;
}

static const fault faults[] = {
    {"a velocity", turn_a_velocity, CAIRN_STAGE_RULES, CAIRN_PASS_NONE, "bodies",
        "linear_velocity.y"},
    {"an impulse", lose_an_impulse, CAIRN_STAGE_RULES, CAIRN_PASS_NONE, "contacts",
        "points[0].normal_impulse"},
    {"a setting", lower_the_substeps_softness, CAIRN_STAGE_RULES, CAIRN_PASS_NONE, "settings",
        "contact_damping"},
};

TEST("two traces tell where they part and frames tell the word") {
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        cairn_world *good = build(CAIRN_SOLVER_SOFT_STEP);
        SCOPED(cairn_world) *bad = kit_fork(good);
        faults[i].plant(bad);
        cairn_world_step_traced(good, NULL, 0, &traces[0]);
        SCOPED(cairn_world) *again = kit_fork(bad);
        cairn_world_step_traced(bad, NULL, 0, &traces[1]);
        const uint32_t first = cairn_trace_first_difference(&traces[0], &traces[1]);
        assert_int_equal(traces[0].points[first].stage, faults[i].stage);
        assert_int_equal(traces[0].points[first].pass, faults[i].pass);
        cairn_world_destroy(good);
        good = build(CAIRN_SOLVER_SOFT_STEP);
        cairn_frame *a = cairn_world_step_frozen(good, NULL, 0, first);
        cairn_frame *b = cairn_world_step_frozen(again, NULL, 0, first);
        cairn_word_difference found;
        assert_int_equal(cairn_frame_diff(a, b, &found, 1), 1);
        assert_string_equal(cairn_array_section_name(found.array), faults[i].section);
        assert_string_equal(cairn_array_field_name(found.array, found.word), faults[i].field);
        cairn_frame_destroy(a);
        cairn_frame_destroy(b);
        cairn_world_destroy(good);
    }
}

// Writes into the solver's memory between two of its passes: no other way leads there.
static void push_at_prepare(void *context, uint32_t stage) {
    if (stage == CAIRN_STAGE_PREPARE) {
        const cairn_world *world = context;
        world->soft_step->bodies[1].linear_velocity[0] += 0.001f;
    }
}

TEST("a difference inside the solver is named by its word") {
    SCOPED(cairn_world) *good = build(CAIRN_SOLVER_SOFT_STEP);
    SCOPED(cairn_world) *bad = kit_fork(good);
    cairn_world *again[2] = {kit_fork(good), kit_fork(good)};
    cairn_world_set_stage_probe(bad, push_at_prepare, bad);
    cairn_world_set_stage_probe(again[1], push_at_prepare, again[1]);
    cairn_world_step_traced(good, NULL, 0, &traces[0]);
    cairn_world_step_traced(bad, NULL, 0, &traces[1]);
    const uint32_t first = cairn_trace_first_difference(&traces[0], &traces[1]);
    assert_int_equal(traces[0].points[first].stage, CAIRN_STAGE_PREPARE);
    cairn_frame *frames[2];
    for (int i = 0; i < 2; ++i) {
        frames[i] = cairn_world_step_frozen(again[i], NULL, 0, first);
        assert_non_null(frames[i]);
    }
    cairn_word_difference found;
    assert_int_equal(cairn_frame_diff(frames[0], frames[1], &found, 1), 1);
    assert_string_equal(cairn_array_section_name(found.array), "solver");
    assert_string_equal(cairn_array_field_name(found.array, found.word), "linear_velocity.x");
    uint32_t bodies[2];
    assert_int_equal(
        cairn_element_bodies(cairn_frame_world(frames[0]), found.array, found.element, bodies), 1);
    assert_int_equal(bodies[0], 2);
    for (int i = 0; i < 2; ++i) {
        cairn_frame_destroy(frames[i]);
        cairn_world_destroy(again[i]);
    }
}

static void count_solving(const cairn_trace *trace, uint32_t *substeps, uint32_t *points) {
    *substeps = 0;
    *points = 0;
    for (uint32_t i = 0; i < trace->count; ++i) {
        const cairn_trace_point *point = &trace->points[i];
        *substeps = point->substep > *substeps ? point->substep : *substeps;
        *points += point->stage == CAIRN_STAGE_SOLVE ? 1u : 0u;
    }
}

TEST("every substep and sweep has its points") {
    for (uint32_t solver = 0; solver < 2; ++solver) {
        SCOPED(cairn_world) *world = build(solver);
        const cairn_world_def *def = cairn_world_settings(world);
        cairn_world_step_traced(world, NULL, 0, &traces[0]);
        uint32_t substeps = 0;
        uint32_t points = 0;
        count_solving(&traces[0], &substeps, &points);
        const bool pgs = solver == CAIRN_SOLVER_PGS;
        assert_int_equal(substeps, pgs ? def->iterations : def->substeps);
        assert_int_equal(points, pgs ? def->iterations + 2 : 4 * def->substeps + 2);
    }
}

TEST("the longest step fits") {
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

TEST("a world at rest is traced like any other") {
    SCOPED(cairn_world) *world = build(CAIRN_SOLVER_SOFT_STEP);
    cairn_world_step_traced(world, NULL, 0, &traces[0]);
    kit_run(world, 240);
    assert_int_equal(cairn_world_counts_read(world).bodies_awake, 0);
    SCOPED(cairn_world) *plain = kit_fork(world);
    cairn_world_step_traced(world, NULL, 0, &traces[1]);
    cairn_world_step(plain, NULL, 0);
    assert_int_equal(traces[0].count, traces[1].count);
    assert_true(cairn_hash_equal(kit_hash(world), kit_hash(plain)));
}

TEST("ulps are steps between floats") {
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
