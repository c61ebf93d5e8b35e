// SPDX-License-Identifier: MIT
// Sleep. A body that has been at rest for half a second is no longer simulated, and nothing may
// show that: bodies that touch or are joined sleep and wake together, and what moves wakes what it
// touches.

#include "tests/physics/mechanics_kit.h"

static bool is_awake(const cairn_world *world, cairn_body_id body) {
    return kit_read(world, body).awake != 0;
}

// The tick after which the body sleeps; `most` if it does not.
static uint32_t ticks_to_sleep(cairn_world *world, cairn_body_id body, uint32_t most) {
    uint32_t tick = 0;
    while (tick < most && is_awake(world, body)) {
        kit_run(world, 1);
        ++tick;
    }
    return tick;
}

TEST("a body at rest sleeps after half a second, where it is") {
    FOR_BOTH_SOLVERS(solver) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = solver;
        SCOPED(cairn_world) *world = kit_world(&def);
        kit_ground(world);
        const cairn_body_id cube = kit_cube(world, vec3(3.0f, 0.5f, 0.0f));
        assert_in_range(ticks_to_sleep(world, cube, 60), 30, 45);
        const cairn_body_state before = kit_read(world, cube);
        kit_run(world, 60);
        const cairn_body_state now = kit_read(world, cube);
        expect_vec3(now.position, before.position, 0.0f);
        expect_vec3(now.position, vec3(3.0f, 0.5f, 0.0f), 5e-3f);
    }
}

TEST("a body that may not sleep does not, and keeps those awake that touch it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def def = cairn_body_def_default();
    kit_ground(world);
    def.position = vec3(0.0f, 0.5f, 0.0f);
    def.allow_sleep = 0;
    const cairn_body_id restless = kit_body(world, &def, NULL);
    const cairn_body_id on_top = kit_cube(world, vec3(0.0f, 1.5f, 0.0f));
    const cairn_body_id apart = kit_cube(world, vec3(5.0f, 0.5f, 0.0f));
    kit_run(world, 300);
    assert_true(is_awake(world, restless));
    assert_true(is_awake(world, on_top));
    assert_false(is_awake(world, apart));
}

// At the top of its flight a ball is slow for a moment.
TEST("a ball at the top of its flight does not sleep") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def def = cairn_body_def_default();
    const cairn_shape_def shape = ball(0.5f);
    def.gravity_scale = 0.03f; // slower than 5 cm/s for a third of a second
    def.linear_velocity.y = 0.3f;
    const cairn_body_id thrown = kit_body(world, &def, &shape);
    for (uint32_t tick = 0; tick < 120; ++tick) {
        kit_run(world, 1);
        assert_true(is_awake(world, thrown));
    }
}

// A heavy post stands still while a light bob swings from it. They do not touch.
TEST("bodies that are joined sleep and wake together") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_shape_def bob = ball(0.1f);
    const cairn_pose hanging = {.position = vec3(1.5f, 1.5f, 0.0f), .rotation = quat_identity()};
    cairn_joint_def joint = cairn_joint_def_default();
    kit_ground(world);
    joint.kind = CAIRN_JOINT_BALL;
    joint.body_a = kit_box(world, vec3(0.0f, 2.0f, 0.0f), vec3(1.0f, 2.0f, 1.0f), 1000.0f);
    joint.body_b = kit_drop(world, hanging.position, &bob);
    joint.anchor_a = vec3(1.5f, 0.5f, 0.0f);
    joint.anchor_b = vec3(0.0f, 1.0f, 0.0f);
    kit_joint(world, &joint);
    EXPECT_OK(cairn_body_apply_impulse_at_centre(world, joint.body_b, vec3(0.0f, 0.0f, 4.0f)));
    for (uint32_t tick = 0; tick < 240; ++tick) {
        kit_run(world, 1);
        assert_true(is_awake(world, joint.body_a)); // it has been slow for long
    }
    // Caught and hung up straight, the bob lets both sleep, in the same tick.
    EXPECT_OK(cairn_body_set_pose(world, joint.body_b, hanging));
    EXPECT_OK(cairn_body_set_velocity(world, joint.body_b, vec3_zero(), vec3_zero()));
    for (uint32_t tick = 0; tick < 120; ++tick) {
        kit_run(world, 1);
        assert_int_equal(is_awake(world, joint.body_a), is_awake(world, joint.body_b));
    }
    assert_false(is_awake(world, joint.body_b));
    // A push on one wakes the other in the next step.
    EXPECT_OK(cairn_body_apply_impulse_at_centre(world, joint.body_b, vec3(0.0f, 0.0f, 2.0f)));
    kit_run(world, 1);
    assert_true(is_awake(world, joint.body_b));
    assert_true(is_awake(world, joint.body_a));
}

TEST("bodies that touch sleep and wake together") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_body_id block =
        kit_box(world, vec3(0.0f, 0.5f, 0.0f), vec3(2.0f, 0.5f, 2.0f), 1000.0f);
    // It spins on the block without friction for ever.
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = ball(0.2f);
    shape.friction = 0.0f;
    def.position = vec3(0.0f, 1.2f, 0.0f);
    def.angular_velocity = vec3(0.0f, 3.0f, 0.0f);
    const cairn_body_id top = kit_body(world, &def, &shape);
    for (uint32_t tick = 0; tick < 240; ++tick) {
        kit_run(world, 1);
        assert_true(is_awake(world, block));
    }
    EXPECT_OK(cairn_body_set_velocity(world, top, vec3_zero(), vec3_zero()));
    const uint32_t slept = ticks_to_sleep(world, top, 300);
    assert_true(slept < 300 && !is_awake(world, block));
    EXPECT_OK(cairn_body_set_velocity(world, top, vec3(0.5f, 0.0f, 0.0f), vec3_zero()));
    kit_run(world, 1);
    assert_true(is_awake(world, block));
}

// A platform of 1 cm/s is slower than the threshold.
TEST("what a slow platform carries stays awake and moves with it") {
    FOR_BOTH_SOLVERS(solver) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = solver;
        SCOPED(cairn_world) *world = kit_world(&def);
        const cairn_body_id platform = kit_kinematic(world, vec3_zero(), vec3(0.01f, 0.0f, 0.0f));
        const cairn_body_id load = kit_cube(world, vec3(0.0f, 1.0f, 0.0f));
        kit_run(world, 10 * TICKS_PER_SECOND);
        assert_true(is_awake(world, load));
        expect_near(kit_read(world, load).position.x, 0.1f, 2e-3f);
        EXPECT_OK(cairn_body_set_velocity(world, platform, vec3_zero(), vec3_zero()));
        kit_run(world, 60);
        assert_false(is_awake(world, load));
    }
}

// ---- waking

static cairn_world *sleeping_pair(cairn_body_id *lower, cairn_body_id *upper) {
    cairn_world *world = kit_world(NULL);
    kit_ground(world);
    *lower = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    *upper = kit_cube(world, vec3(0.0f, 1.5f, 0.0f));
    kit_run(world, 120);
    assert_false(is_awake(world, *lower));
    assert_false(is_awake(world, *upper));
    assert_int_equal(cairn_world_counts_read(world).contacts, 2);
    return world;
}

TEST("a sleeping world does not change") {
    cairn_body_id lower = 0, upper = 0;
    SCOPED(cairn_world) *world = sleeping_pair(&lower, &upper);
    const cairn_world_hash before = cairn_world_hash_read(world);
    kit_run(world, 60);
    const cairn_world_hash after = cairn_world_hash_read(world);
    for (cairn_section i = CAIRN_SECTION_BODIES; i < CAIRN_SECTION_COUNT; ++i) {
        assert_true(cairn_hash_equal(before.sections[i], after.sections[i]));
    }
    assert_true(cairn_hash_equal(before.visible, after.visible));
}

TEST("a hit wakes the whole island at once") {
    cairn_body_id lower = 0, upper = 0;
    SCOPED(cairn_world) *world = sleeping_pair(&lower, &upper);
    const cairn_body_id apart = kit_cube(world, vec3(10.0f, 0.5f, 0.0f));
    kit_run(world, 120);
    kit_sphere(world, vec3(0.0f, 2.25f, 0.0f), 0.2f);
    while (!is_awake(world, upper) && cairn_world_tick(world) < 300) {
        assert_false(is_awake(world, lower));
        kit_run(world, 1);
    }
    assert_true(is_awake(world, upper));
    assert_true(is_awake(world, lower));
    assert_false(is_awake(world, apart));
}

TEST("a body that loses its support wakes") {
    cairn_body_id lower = 0, upper = 0;
    SCOPED(cairn_world) *world = sleeping_pair(&lower, &upper);
    EXPECT_OK(cairn_body_destroy(world, lower));
    assert_true(is_awake(world, upper));
    kit_run(world, 60);
    assert_float_equal(kit_read(world, upper).position.y, 0.5f, 0.02f);
}

TEST("ground that moves away wakes the bodies on it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id ground = kit_ground(world);
    const cairn_body_id cube = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    kit_run(world, 120);
    assert_false(is_awake(world, cube));
    const cairn_pose lower = {.position = vec3(0.0f, -3.0f, 0.0f), .rotation = quat_identity()};
    EXPECT_OK(cairn_body_set_pose(world, ground, lower));
    kit_run(world, 90);
    assert_float_equal(kit_read(world, cube).position.y, -2.5f, 0.02f);
}

TEST("a wall created inside a sleeping body wakes it") {
    cairn_body_id lower = 0, upper = 0;
    SCOPED(cairn_world) *world = sleeping_pair(&lower, &upper);
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_STATIC;
    def.position = vec3(0.9f, 1.5f, 0.0f);
    kit_body(world, &def, NULL);
    kit_run(world, 1);
    assert_true(is_awake(world, upper));
    assert_true(is_awake(world, lower));
}
