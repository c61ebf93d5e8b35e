// SPDX-License-Identifier: MIT

// Springs and motors of hinges, balls and cones.

#include "tests/physics/joint_kit.h"

static const uint32_t solvers[] = {CAIRN_SOLVER_SOFT_STEP, CAIRN_SOLVER_PGS};

// A door of 1 m and 12 kg on a vertical hinge at its edge: I = m L^2 / 3 = 4 kg m^2 about the
// hinge.
static cairn_body_id door_create(
    cairn_world *world, cairn_joint_def change, cairn_joint_id *joint) {
    const cairn_body_id base = joint_base(world);
    cairn_shape_def shape = box(0.5f, 0.5f, 0.02f);
    shape.density = 12.0f / 0.04f;
    const cairn_body_id door = put(world, CAIRN_BODY_DYNAMIC, vec3(0.5f, 0, 0), &shape);
    change.kind = CAIRN_JOINT_HINGE;
    change.body_a = base;
    change.body_b = door;
    change.anchor_b = vec3(-0.5f, 0, 0);
    change.axis_a = vec3(0, 1, 0);
    change.axis_b = vec3(0, 1, 0);
    change.normal_a = vec3(1, 0, 0);
    change.normal_b = vec3(1, 0, 0);
    *joint = kit_joint(world, &change);
    return door;
}

TEST("the motor of a hinge turns a door with the inertia about the hinge") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(solvers[i], 9.81f);
        cairn_joint_def def = cairn_joint_def_default();
        cairn_joint_id joint;
        def.motor = 1;
        def.motor_speed = 1.5f;
        def.motor_force = 4.0f;
        door_create(world, def, &joint);
        kit_run(world, JOINT_TICK_RATE);
        expect_near(joint_travel(world, joint).velocity, 1.0f, i == 0 ? 0.01f : 0.02f);
        kit_run(world, JOINT_TICK_RATE);
        expect_near(joint_travel(world, joint).velocity, 1.5f, 0.01f);
        EXPECT_OK(cairn_joint_set_motor(world, joint, -0.5f, 100.0f));
        kit_run(world, 30);
        expect_near(joint_travel(world, joint).velocity, -0.5f, 0.01f);
    }
}

TEST("a door with limits swings on until it meets one") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 9.81f);
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint;
    def.limited = 1;
    def.lower = 0.0f;
    def.upper = 2.5f;
    const cairn_body_id door = door_create(world, def, &joint);
    EXPECT_OK(cairn_body_set_velocity(world, door, vec3(0, 0, -0.25f), vec3(0, 0.5f, 0)));
    kit_run(world, 4 * JOINT_TICK_RATE);
    expect_near(joint_travel(world, joint).position, 2.0f, 0.01f);
    expect_near(joint_travel(world, joint).velocity, 0.5f, 0.005f);
    kit_run(world, 2 * JOINT_TICK_RATE);
    expect_near(joint_travel(world, joint).position, 2.5f, 0.01f);
    expect_near(joint_travel(world, joint).velocity, 0.0f, 0.01f);
}

// Twice as fast as where the damping of free joints ends, and then four times.
TEST("a cone that turns free is slowed to six radians a second, and no further") {
    for (uint32_t i = 1; i <= 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 0.0f);
        const cairn_body_id base = joint_base(world);
        const cairn_body_id top = joint_cube(world, vec3(1, 0, 0), 0.1f, 1.0f);
        const cairn_joint_def def = joint_between(CAIRN_JOINT_CONE, base, top, vec3(1, 0, 0));
        (void)kit_joint(world, &def);
        EXPECT_OK(cairn_body_set_velocity(world, top, vec3(0, 0, 0), vec3(12.0f * (float)i, 0, 0)));
        kit_run(world, 3 * JOINT_TICK_RATE);
        expect_near(kit_read(world, top).angular_velocity.x, 6.0f, 0.05f);
    }
}

// A post on the floor, a hook that a hinge holds fast on it, and a bob that swings on the hook: no
// contact pushes hook or bob, and no limit holds the bob.
TEST("what swings on a post that stands on the floor comes to rest") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 9.81f);
    kit_ground(world);
    const cairn_shape_def shape = box(0.3f, 1.0f, 0.3f);
    const cairn_body_id post = put(world, CAIRN_BODY_DYNAMIC, vec3(0, 1, 0), &shape);
    const cairn_body_id hook = joint_cube(world, vec3(0.6f, 1.8f, 0), 0.1f, 5.0f);
    const cairn_body_id bob = joint_cube(world, vec3(0.9f, 1.8f, 0), 0.1f, 1.0f);
    cairn_joint_def def = joint_between(CAIRN_JOINT_HINGE, post, hook, vec3(0.6f, 0.8f, 0));
    def.axis_a = def.axis_b = vec3(0, 0, 1);
    def.normal_a = def.normal_b = vec3(1, 0, 0);
    def.limited = 1;
    (void)kit_joint(world, &def);
    def.body_a = hook;
    def.body_b = bob;
    def.anchor_a = vec3(0, 0, 0);
    def.anchor_b = vec3(-0.3f, 0, 0);
    def.lower = -3.0f;
    def.upper = 3.0f;
    (void)kit_joint(world, &def);
    kit_run(world, 10);
    assert_true(vec3_length(kit_read(world, bob).angular_velocity) > 0.5f);
    kit_run(world, 10 * JOINT_TICK_RATE);
    assert_true(vec3_length(kit_read(world, bob).angular_velocity) < 0.05f);
    expect_near(kit_read(world, bob).position.y, 1.5f, 0.01f);
}

TEST("the spring of a hinge has the period 1 / f, and closes a door at its target") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 0.0f);
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint;
    def.spring = 1;
    def.spring_damping = 0.0f;
    const cairn_body_id door = door_create(world, def, &joint);
    EXPECT_OK(cairn_body_set_velocity(world, door, vec3(0, 0, -0.5f), vec3(0, 1, 0)));
    expect_near(joint_period(world, joint, 5), 1.0f, 0.003f);
    EXPECT_OK(cairn_joint_set_spring(world, joint, 2.0f, 1.0f));
    EXPECT_OK(cairn_joint_set_target(world, joint, 1.0f));
    kit_run(world, 3 * JOINT_TICK_RATE);
    expect_near(joint_travel(world, joint).position, 1.0f, 1e-3f);
}

TEST("a driven hinge stops at a limit that is set later") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 0.0f);
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint;
    def.motor = 1;
    def.motor_speed = 1.0f;
    def.motor_force = 20.0f;
    door_create(world, def, &joint);
    EXPECT_OK(cairn_joint_set_limits(world, joint, -0.5f, 0.75f));
    kit_run(world, 3 * JOINT_TICK_RATE);
    expect_near(joint_travel(world, joint).position, 0.75f, 2e-3f);
    expect_near(joint_travel(world, joint).velocity, 0.0f, 2e-3f);
}

// A pendulum on a hinge that has a drive is solved by rows, not in lanes: it must keep its energy,
// too.
TEST("a pendulum on a driven hinge rises as high after ten seconds") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 9.81f);
    const cairn_body_id base = joint_base(world);
    const cairn_body_id bob = joint_cube(world, vec3(1, 0, 0), 0.05f, 1.0f);
    cairn_joint_def def = joint_between(CAIRN_JOINT_HINGE, base, bob, vec3(0, 0, 0));
    def.anchor_b = vec3(-1, 0, 0);
    def.axis_a = vec3(0, 0, 1);
    def.axis_b = vec3(0, 0, 1);
    def.normal_a = vec3(1, 0, 0);
    def.normal_b = vec3(1, 0, 0);
    def.spring = 1;
    def.spring_hertz = 0.0f;
    kit_joint(world, &def);
    float top = -1.0f;
    for (int i = 0; i < 12 * JOINT_TICK_RATE; ++i) {
        kit_run(world, 1);
        top = i > 10 * JOINT_TICK_RATE ? fmaxf(top, kit_read(world, bob).position.y) : -1.0f;
    }
    expect_near(top, 0.0f, 0.01f);
}

// The spring of a ball joint turns a body to a rotation about any axis.
TEST("a ball joint with a spring comes to rest at its target, a cone stops before it") {
    for (uint32_t i = 0; i < 2; ++i) {
        for (int cone = 0; cone < 2; ++cone) {
            SCOPED(cairn_world) *world = joint_world(solvers[i], 0.0f);
            const cairn_body_id base = joint_base(world);
            const cairn_body_id cube = joint_cube(world, vec3(0, 0, 0), 0.2f, 1.0f);
            cairn_joint_def def = joint_between(
                cone != 0 ? CAIRN_JOINT_CONE : CAIRN_JOINT_BALL, base, cube, vec3(0, 0, 0));
            def.cone = 0.5f;
            def.spring = 1;
            def.spring_hertz = 2.0f;
            def.target_rotation = (cairn_quat){.z = 0.47942554f, .w = 0.87758256f}; // 1 rad about z
            kit_joint(world, &def);
            kit_run(world, 3 * JOINT_TICK_RATE);
            const cairn_quat q = kit_read(world, cube).rotation;
            expect_near(2.0f * asinf(q.z), cone != 0 ? 0.5f : 1.0f, 5e-3f);
        }
    }
}

TEST("the motor of a ball joint reaches its velocity with its torque") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(solvers[i], 0.0f);
        const cairn_body_id base = joint_base(world);
        const cairn_body_id cube = joint_cube(world, vec3(0, 0, 0), 0.5f, 6.0f); // I = 1
        cairn_joint_def def = joint_between(CAIRN_JOINT_BALL, base, cube, vec3(0, 0, 0));
        def.motor = 1;
        def.motor_velocity = vec3(3, 0, 4);
        def.motor_force = 2.5f;
        kit_joint(world, &def);
        kit_run(world, JOINT_TICK_RATE);
        expect_vec3(kit_read(world, cube).angular_velocity, vec3(1.5f, 0, 2.0f), 0.01f);
        kit_run(world, 2 * JOINT_TICK_RATE);
        expect_vec3(kit_read(world, cube).angular_velocity, vec3(3, 0, 4), 0.01f);
    }
}
