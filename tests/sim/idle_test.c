// SPDX-License-Identifier: MIT

// A step in which nothing stirs leaves out its work. That must never show: a twin that is loaded
// from its own save before each step, and so has to look at everything, goes the same way.

#include "tests/kit/test.h"

#include "tests/sim/world_kit.h"

#include "sim/step.h"

typedef struct twins {
    cairn_world *plain;
    cairn_world *reloaded;
} twins;

static const cairn_vec3 half = {.x = 0.5f, .y = 0.5f, .z = 0.5f};

static void step_both(twins *t) {
    kit_bytes saved = kit_save(t->reloaded);
    assert_int_equal(cairn_world_load(t->reloaded, saved.bytes, saved.size), CAIRN_OK);
    kit_free(&saved);
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

typedef void action(cairn_world *world);

static void destroy_floor_shape(cairn_world *world) {
    assert_int_equal(cairn_shape_destroy(world, 1), CAIRN_OK);
}
static void destroy_lone_cube(cairn_world *world) {
    assert_int_equal(cairn_body_destroy(world, 2), CAIRN_OK);
}
static void destroy_lower_cube(cairn_world *world) {
    assert_int_equal(cairn_body_destroy(world, 3), CAIRN_OK);
}
// Beyond what is sound: it is made static where it is, in touch with the floor.
static void throw_out_of_bounds(cairn_world *world) {
    const cairn_vec3 impulse = vec3(0.0f, 1e20f, 0.0f);
    assert_int_equal(cairn_body_apply_impulse_at_centre(world, 2, impulse), CAIRN_OK);
}
static void move_kinematic(cairn_world *world) {
    const cairn_vec3 velocity = vec3(-5.0f, 0.0f, 0.0f);
    assert_int_equal(cairn_body_set_velocity(world, 5, velocity, vec3_zero()), CAIRN_OK);
    for (int i = 0; i < 3; ++i) {
        cairn_world_step(world, NULL, 0);
    }
    assert_int_equal(cairn_body_set_velocity(world, 5, vec3_zero(), vec3_zero()), CAIRN_OK);
}
static void move_kinematic_into_stack(cairn_world *world) {
    const cairn_pose pose = {.position = vec3(5.9f, 0.5f, 0.0f), .rotation = {.w = 1.0f}};
    assert_int_equal(cairn_body_set_pose(world, 5, pose), CAIRN_OK);
}
static void push_upper_cube(cairn_world *world) {
    const cairn_vec3 impulse = vec3(2000.0f, 0.0f, 0.0f);
    assert_int_equal(cairn_body_apply_impulse_at_centre(world, 4, impulse), CAIRN_OK);
}
static void force_lone_cube(cairn_world *world) {
    const cairn_vec3 force = vec3(0.0f, 20000.0f, 0.0f);
    assert_int_equal(cairn_body_apply_force(world, 2, force, vec3_zero()), CAIRN_OK);
}
static void add_cube(cairn_world *world) {
    kit_box(world, vec3(0.0f, 3.0f, 0.0f), half, 1000.0f, 0.5f);
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

// Whatever is done to a sleeping world, its next step is a whole one.
TEST("a change to an idle world is never missed") {
    static action *const actions[] = {destroy_floor_shape, destroy_lone_cube, destroy_lower_cube,
        throw_out_of_bounds, move_kinematic, move_kinematic_into_stack, push_upper_cube,
        force_lone_cube, add_cube, join_cubes};
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; ++i) {
        twins t = {.plain = build(), .reloaded = build()};
        run_until_idle(&t);
        actions[i](t.plain);
        actions[i](t.reloaded);
        assert_false(cairn_step_is_idle(t.plain));
        for (int tick = 0; tick < 120; ++tick) {
            step_both(&t);
        }
        cairn_world_destroy(t.plain);
        cairn_world_destroy(t.reloaded);
    }
}

TEST("events of the step before do not stay") {
    twins t = {.plain = build(), .reloaded = build()};
    run_until_idle(&t);
    destroy_lone_cube(t.plain);
    uint32_t count = 0;
    cairn_world_step(t.plain, NULL, 0);
    cairn_world_contact_events(t.plain, &count);
    assert_int_equal(count, 1);
    assert_true(cairn_step_is_idle(t.plain));
    cairn_world_step(t.plain, NULL, 0);
    cairn_world_contact_events(t.plain, &count);
    assert_int_equal(count, 0);
    cairn_world_destroy(t.plain);
    cairn_world_destroy(t.reloaded);
}
