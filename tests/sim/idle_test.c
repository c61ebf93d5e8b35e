// SPDX-License-Identifier: MIT
// A step of a world at rest skips its work, which must never change a result. So a twin that is
// loaded from the world's save before each step, and cannot skip anything, must stay equal to it.

#include "tests/sim/world_kit.h"

#include "sim/step.h"

// Bodies: 1 the floor, 2 a cube alone, 3 and 4 a cube on a cube, 5 a kinematic cube at rest.
static cairn_world *build_scene(void) {
    cairn_world *world = kit_world(NULL);
    kit_ground(world);
    kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    kit_cube(world, vec3(5.0f, 0.5f, 0.0f));
    kit_cube(world, vec3(5.0f, 1.5f, 0.0f));
    kit_kinematic(world, vec3(10.0f, 0.5f, 0.0f), vec3_zero());
    return world;
}

static cairn_world *build_idle(cairn_world *twin) {
    cairn_world *world = build_scene();
    for (int i = 0; i < 300 && !cairn_step_is_idle(world); ++i) {
        kit_step_beside_reloaded(world, twin);
    }
    assert_true(cairn_step_is_idle(world));
    assert_int_equal(cairn_world_counts_read(world).bodies_awake, 0);
    kit_step_beside_reloaded(world, twin);
    kit_step_beside_reloaded(world, twin);
    return world;
}

static void move_kinematic(cairn_world *world) {
    const cairn_vec3 velocity = vec3(-5.0f, 0.0f, 0.0f);
    EXPECT_OK(cairn_body_set_velocity(world, 5, velocity, vec3_zero()));
    kit_run(world, 3);
    EXPECT_OK(cairn_body_set_velocity(world, 5, vec3_zero(), vec3_zero()));
}

static void join_cubes(cairn_world *world) {
    cairn_joint_def def = cairn_joint_def_default();
    def.body_a = 3;
    def.body_b = 4;
    def.anchor_a = vec3(0.0f, 0.5f, 0.0f);
    def.anchor_b = vec3(0.0f, -0.5f, 0.0f);
    kit_joint(world, &def);
}

// Changes an idle world as the statement says.
#define EXPECT_NOTICED(...)                                                                        \
    do {                                                                                           \
        SCOPED(cairn_world) *twin = kit_world(NULL);                                               \
        SCOPED(cairn_world) *world = build_idle(twin);                                             \
        __VA_ARGS__;                                                                               \
        assert_false(cairn_step_is_idle(world));                                                   \
        for (int tick = 0; tick < 120; ++tick) {                                                   \
            kit_step_beside_reloaded(world, twin);                                                 \
        }                                                                                          \
    } while (0)

TEST("the step after any change of an idle world skips nothing") {
    const cairn_vec3 aside = vec3(2000.0f, 0.0f, 0.0f);
    const cairn_vec3 up = vec3(0.0f, 20000.0f, 0.0f);
    const cairn_pose in_stack = {.position = vec3(5.9f, 0.5f, 0.0f), .rotation = {.w = 1.0f}};
    // The next step disables the body where it is, in contact with the floor.
    const cairn_vec3 out_of_bounds = vec3(0.0f, 1e20f, 0.0f);
    EXPECT_NOTICED(EXPECT_OK(cairn_shape_destroy(world, 1))); // the floor's
    EXPECT_NOTICED(EXPECT_OK(cairn_body_destroy(world, 2)));
    EXPECT_NOTICED(EXPECT_OK(cairn_body_destroy(world, 3)));
    EXPECT_NOTICED(EXPECT_OK(cairn_body_apply_impulse_at_centre(world, 2, out_of_bounds)));
    EXPECT_NOTICED(move_kinematic(world));
    EXPECT_NOTICED(EXPECT_OK(cairn_body_set_pose(world, 5, in_stack)));
    EXPECT_NOTICED(EXPECT_OK(cairn_body_apply_impulse_at_centre(world, 4, aside)));
    EXPECT_NOTICED(EXPECT_OK(cairn_body_apply_force(world, 2, up, vec3_zero())));
    EXPECT_NOTICED(kit_cube(world, vec3(0.0f, 3.0f, 0.0f)));
    EXPECT_NOTICED(join_cubes(world));
}

TEST("an idle step has no events") {
    SCOPED(cairn_world) *twin = kit_world(NULL);
    SCOPED(cairn_world) *world = build_idle(twin);
    EXPECT_OK(cairn_body_destroy(world, 2));
    uint32_t count = 0;
    kit_run(world, 1);
    cairn_world_contact_events(world, &count);
    assert_int_equal(count, 1);
    assert_true(cairn_step_is_idle(world));
    kit_run(world, 1);
    cairn_world_contact_events(world, &count);
    assert_int_equal(count, 0);
}
