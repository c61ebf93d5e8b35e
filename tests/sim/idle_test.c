// SPDX-License-Identifier: MIT
// A step in which nothing stirs leaves out its work. That must never show: a twin that is loaded
// from its own save before each step, and so has to look at everything, goes the same way.

#include "tests/sim/world_kit.h"

#include "sim/step.h"

typedef struct twins {
    cairn_world *plain;
    cairn_world *reloaded;
} twins;

static void twins_end(twins *t) {
    cairn_world_destroy(t->plain);
    cairn_world_destroy(t->reloaded);
}

SCOPE_ENDS(twins, twins_end)

static const cairn_vec3 half = {.x = 0.5f, .y = 0.5f, .z = 0.5f};

static void step_both(twins *t) {
    SCOPED(kit_bytes) saved = kit_save(t->reloaded);
    assert_int_equal(cairn_world_load(t->reloaded, saved.bytes, saved.size), CAIRN_OK);
    cairn_world_step(t->plain, NULL, 0);
    cairn_world_step(t->reloaded, NULL, 0);
    uint32_t counts[2];
    const cairn_contact_event *events = cairn_world_contact_events(t->plain, &counts[0]);
    const cairn_contact_event *expected = cairn_world_contact_events(t->reloaded, &counts[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(events, expected, counts[0] * sizeof *events);
    assert_true(cairn_hash_equal(kit_hash(t->plain), kit_hash(t->reloaded)));
}

// Bodies: 1 the floor, 2 a cube alone, 3 and 4 a cube on a cube, 5 a kinematic cube at rest.
static cairn_world *build(void) {
    cairn_world *world = kit_world(NULL);
    kit_ground(world, 0.5f);
    kit_box(world, vec3(0.0f, 0.5f, 0.0f), half, 1000.0f, 0.5f);
    kit_box(world, vec3(5.0f, 0.5f, 0.0f), half, 1000.0f, 0.5f);
    kit_box(world, vec3(5.0f, 1.5f, 0.0f), half, 1000.0f, 0.5f);
    cairn_body_def def = cairn_body_def_default();
    const cairn_shape_def shape = cairn_shape_def_default();
    def.kind = CAIRN_BODY_KINEMATIC;
    def.position = vec3(10.0f, 0.5f, 0.0f);
    kit_body(world, &def, &shape);
    return world;
}

static void run_until_idle(twins *t) {
    for (int i = 0; i < 300 && !cairn_step_is_idle(t->plain); ++i) {
        step_both(t);
    }
    assert_true(cairn_step_is_idle(t->plain));
    assert_false(cairn_world_counts_read(t->plain).bodies_awake != 0);
    step_both(t);
    step_both(t);
}

static void move_kinematic(cairn_world *world) {
    const cairn_vec3 velocity = vec3(-5.0f, 0.0f, 0.0f);
    assert_int_equal(cairn_body_set_velocity(world, 5, velocity, vec3_zero()), CAIRN_OK);
    kit_run(world, 3);
    assert_int_equal(cairn_body_set_velocity(world, 5, vec3_zero(), vec3_zero()), CAIRN_OK);
}

static void join_cubes(cairn_world *world) {
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint = 0;
    def.body_a = 3;
    def.body_b = 4;
    def.anchor_a = vec3(0.0f, 0.5f, 0.0f);
    def.anchor_b = vec3(0.0f, -0.5f, 0.0f);
    assert_int_equal(cairn_joint_create(world, &def, &joint), CAIRN_OK);
}

// Does to `world` what the statement says, in both twins.
#define EXPECT_NOTICED(...)                                                                        \
    do {                                                                                           \
        SCOPED(twins) t = {.plain = build(), .reloaded = build()};                                 \
        run_until_idle(&t);                                                                        \
        cairn_world *both[2] = {t.plain, t.reloaded};                                              \
        for (int i = 0; i < 2; ++i) {                                                              \
            cairn_world *world = both[i];                                                          \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        expect_whole_steps(&t);                                                                    \
    } while (0)

static void expect_whole_steps(twins *t) {
    assert_false(cairn_step_is_idle(t->plain));
    for (int tick = 0; tick < 120; ++tick) {
        step_both(t);
    }
}

// Whatever is done to a sleeping world, its next step is a whole one.
TEST("a change to an idle world is never missed") {
    const cairn_vec3 aside = vec3(2000.0f, 0.0f, 0.0f);
    const cairn_vec3 up = vec3(0.0f, 20000.0f, 0.0f);
    const cairn_pose in_stack = {.position = vec3(5.9f, 0.5f, 0.0f), .rotation = {.w = 1.0f}};
    // Beyond what is sound: it is made static where it is, in touch with the floor.
    const cairn_vec3 out_of_bounds = vec3(0.0f, 1e20f, 0.0f);
    EXPECT_NOTICED(assert_int_equal(cairn_shape_destroy(world, 1), CAIRN_OK)); // the floor's
    EXPECT_NOTICED(assert_int_equal(cairn_body_destroy(world, 2), CAIRN_OK));
    EXPECT_NOTICED(assert_int_equal(cairn_body_destroy(world, 3), CAIRN_OK));
    EXPECT_NOTICED(
        assert_int_equal(cairn_body_apply_impulse_at_centre(world, 2, out_of_bounds), CAIRN_OK));
    EXPECT_NOTICED(move_kinematic(world));
    EXPECT_NOTICED(assert_int_equal(cairn_body_set_pose(world, 5, in_stack), CAIRN_OK));
    EXPECT_NOTICED(assert_int_equal(cairn_body_apply_impulse_at_centre(world, 4, aside), CAIRN_OK));
    EXPECT_NOTICED(assert_int_equal(cairn_body_apply_force(world, 2, up, vec3_zero()), CAIRN_OK));
    EXPECT_NOTICED(kit_box(world, vec3(0.0f, 3.0f, 0.0f), half, 1000.0f, 0.5f));
    EXPECT_NOTICED(join_cubes(world));
}

TEST("events of the step before do not stay") {
    SCOPED(twins) t = {.plain = build(), .reloaded = build()};
    run_until_idle(&t);
    assert_int_equal(cairn_body_destroy(t.plain, 2), CAIRN_OK);
    uint32_t count = 0;
    cairn_world_step(t.plain, NULL, 0);
    cairn_world_contact_events(t.plain, &count);
    assert_int_equal(count, 1);
    assert_true(cairn_step_is_idle(t.plain));
    cairn_world_step(t.plain, NULL, 0);
    cairn_world_contact_events(t.plain, &count);
    assert_int_equal(count, 0);
}
