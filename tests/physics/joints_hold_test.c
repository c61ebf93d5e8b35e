// SPDX-License-Identifier: MIT

// Joints that hold two bodies in a fixed relation: welds, distances, gears, pulleys, motors towards
// a pose, and the row that a game sets itself.

#include "tests/physics/joint_kit.h"

static const uint32_t solvers[] = {CAIRN_SOLVER_SOFT_STEP, CAIRN_SOLVER_PGS};

static void spin_about_x(cairn_world *world, cairn_body_id body, float speed) {
    EXPECT_OK(cairn_body_set_velocity(world, body, vec3(0, 0, 0), vec3(speed, 0, 0)));
}

// A beam of 1 m and 10 kg, welded at its end to a wall. The weld carries the weight m g and the
// moment m g L / 2.
TEST("a welded cantilever stays level, and the weld carries its weight and moment") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(solvers[i], 9.81f);
        const cairn_body_id base = joint_base(world);
        cairn_shape_def shape = box(0.5f, 0.05f, 0.05f);
        shape.density = 1000.0f;
        const cairn_body_id beam = put(world, CAIRN_BODY_DYNAMIC, vec3(0.5f, 0, 0), &shape);
        cairn_joint_def def = joint_between(CAIRN_JOINT_WELD, base, beam, vec3(0, 0, 0));
        def.anchor_b = vec3(-0.5f, 0, 0);
        const cairn_joint_id joint = kit_joint(world, &def);
        kit_run(world, 5 * JOINT_TICK_RATE);
        const cairn_body_state state = kit_read(world, beam);
        expect_near(state.position.y, 0.0f, i == 0 ? 1e-3f : 5e-3f);
        const cairn_joint_reaction reaction = joint_reaction(world, joint);
        expect_near(reaction.force.y, 98.1f, 0.2f);
        expect_near(reaction.torque.z, 98.1f * 0.5f, 0.3f);
    }
}

// Cubes of 1 kg and 20 cm in a row, welded to each other and to a wall. Each weld is as firm as the
// world's joints, which are springs: four cubes sag by 2 % of their length, ten by 30 %. Long beams
// are better made as one body.
static float cantilever_sag(int cubes) {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 9.81f);
    cairn_body_id last = joint_base(world);
    for (int i = 0; i < cubes; ++i) {
        const cairn_body_id next = joint_cube(world, vec3(0.2f * (float)(i + 1), 0, 0), 0.1f, 1.0f);
        cairn_joint_def def = joint_between(CAIRN_JOINT_WELD, last, next, vec3(0.1f, 0, 0));
        def.anchor_b = vec3(-0.1f, 0, 0);
        kit_joint(world, &def);
        last = next;
    }
    kit_run(world, 20 * JOINT_TICK_RATE);
    expect_near(vec3_length(kit_read(world, last).linear_velocity), 0.0f, 0.01f);
    return -kit_read(world, last).position.y;
}

TEST("a cantilever of welded cubes comes to rest, and four sag by 2 % of their length") {
    expect_near(cantilever_sag(4), 0.0f, 0.02f);
    expect_near(cantilever_sag(10), 0.0f, 0.7f);
}

// A weld of frequency f under its own weight is a spring: it sags by g / (2 pi f)^2.
TEST("a soft weld sags like a spring") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 9.81f);
    const cairn_body_id base = joint_base(world);
    const cairn_body_id cube = joint_cube(world, vec3(0, -1, 0), 0.1f, 1.0f);
    cairn_joint_def def = joint_between(CAIRN_JOINT_WELD, base, cube, vec3(0, -1, 0));
    def.hertz = 2.0f;
    def.damping = 0.5f;
    kit_joint(world, &def);
    kit_run(world, 5 * JOINT_TICK_RATE);
    expect_near(kit_read(world, cube).position.y, -1.0f - 9.81f / 157.91f, 1e-3f);
}

TEST("a distance joint with a spring has the period 1 / f, and one with a range hangs at its end") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(solvers[i], 0.0f);
        const cairn_body_id base = joint_base(world);
        const cairn_body_id cube = joint_cube(world, vec3(0, -2, 0), 0.1f, 1.0f);
        cairn_joint_def def = joint_between(CAIRN_JOINT_DISTANCE, base, cube, vec3(0, 0, 0));
        def.length = 2.0f;
        def.spring = 1;
        def.spring_hertz = 1.0f;
        def.spring_damping = 0.0f;
        const cairn_joint_id joint = kit_joint(world, &def);
        EXPECT_OK(cairn_body_set_velocity(world, cube, vec3(0, -1, 0), vec3(0, 0, 0)));
        float last = 2.0f;
        float passages[2] = {0};
        for (int n = 1, found = 0; found < 2; ++n) {
            kit_run(world, 1);
            const float now = joint_travel(world, joint).position;
            if (last > 2.0f && now <= 2.0f) {
                passages[found++] = ((float)n - (2.0f - now) / (last - now)) / JOINT_TICK_RATE;
            }
            last = now;
            assert_true(n < 600);
        }
        expect_near(passages[1] - passages[0], 1.0f, i == 0 ? 0.003f : 0.01f);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(solvers[i], 9.81f);
        const cairn_body_id base = joint_base(world);
        const cairn_body_id cube = joint_cube(world, vec3(0, -1, 0), 0.1f, 1.0f);
        cairn_joint_def def = joint_between(CAIRN_JOINT_DISTANCE, base, cube, vec3(0, 0, 0));
        def.limited = 1;
        def.lower = 0.5f;
        def.upper = 1.5f;
        const cairn_joint_id joint = kit_joint(world, &def);
        kit_run(world, 12); // falls freely inside the range
        expect_near(joint_travel(world, joint).velocity, 9.81f * 0.2f, 1e-3f);
        kit_run(world, 3 * JOINT_TICK_RATE);
        expect_near(joint_travel(world, joint).position, 1.5f, 2e-3f);
        expect_near(joint_reaction(world, joint).force.y, 9.81f, 0.02f);
    }
}

// Atwood's machine: a = g (m1 - m2) / (m1 + m2), and the rope pulls with 2 m1 m2 g / (m1 + m2).
TEST("two weights on a pulley accelerate by g (m1 - m2) / (m1 + m2)") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(solvers[i], 9.81f);
        const cairn_body_id a = joint_cube(world, vec3(-1, -5, 0), 0.1f, 3.0f);
        const cairn_body_id b = joint_cube(world, vec3(1, -5, 0), 0.1f, 2.0f);
        cairn_joint_def def = joint_between(CAIRN_JOINT_PULLEY, a, b, vec3(0, 0, 0));
        def.fixed_a = vec3(-1, 0, 0);
        def.fixed_b = vec3(1, 0, 0);
        def.length = 10.0f;
        const cairn_joint_id joint = kit_joint(world, &def);
        kit_run(world, JOINT_TICK_RATE);
        expect_near(kit_read(world, a).linear_velocity.y, -9.81f / 5.0f, 0.005f);
        expect_near(kit_read(world, b).linear_velocity.y, 9.81f / 5.0f, 0.005f);
        expect_near(joint_reaction(world, joint).force.y, 2.0f * 6.0f * 9.81f / 5.0f, 0.05f);
        expect_near(joint_travel(world, joint).position, 10.0f, 2e-3f);
    }
}

// A block and tackle of ratio 2: b moves half as far as a, and is in balance at twice its weight.
TEST("a pulley of ratio 2 balances twice the weight") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 9.81f);
    const cairn_body_id a = joint_cube(world, vec3(-1, -5, 0), 0.1f, 2.0f);
    const cairn_body_id b = joint_cube(world, vec3(1, -5, 0), 0.1f, 4.0f);
    cairn_joint_def def = joint_between(CAIRN_JOINT_PULLEY, a, b, vec3(0, 0, 0));
    def.fixed_a = vec3(-1, 0, 0);
    def.fixed_b = vec3(1, 0, 0);
    def.ratio = 2.0f;
    def.length = 15.0f;
    kit_joint(world, &def);
    kit_run(world, JOINT_TICK_RATE);
    expect_near(kit_read(world, a).linear_velocity.y, 0.0f, 5e-3f);
    EXPECT_OK(cairn_body_set_velocity(world, a, vec3(0, -1, 0), vec3(0, 0, 0)));
    EXPECT_OK(cairn_body_set_velocity(world, b, vec3(0, 0.5f, 0), vec3(0, 0, 0)));
    kit_run(world, JOINT_TICK_RATE);
    expect_near(kit_read(world, a).linear_velocity.y, -1.0f, 5e-3f);
    expect_near(kit_read(world, b).linear_velocity.y, 0.5f, 5e-3f);
}

// A rope does not push: a weight that is thrown up goes up freely.
TEST("a slack rope pulls nothing") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 9.81f);
    const cairn_body_id a = joint_cube(world, vec3(-1, -5, 0), 0.1f, 3.0f);
    const cairn_body_id b = joint_cube(world, vec3(1, -5, 0), 0.1f, 2.0f);
    cairn_joint_def def = joint_between(CAIRN_JOINT_PULLEY, a, b, vec3(0, 0, 0));
    def.fixed_a = vec3(-1, 0, 0);
    def.fixed_b = vec3(1, 0, 0);
    def.length = 30.0f;
    kit_joint(world, &def);
    kit_run(world, JOINT_TICK_RATE);
    expect_near(kit_read(world, a).linear_velocity.y, -9.81f, 1e-3f);
    expect_near(kit_read(world, b).linear_velocity.y, -9.81f, 1e-3f);
}

// Two wheels on hinges, b geared to a by the ratio -3. For a torque on a the inertia is
// I_a + ratio^2 I_b; with I_a = I_b a spin of w0 that a brings along becomes w0 / 10.
TEST("a gear keeps its ratio, and does not drift in a hundred turns") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(solvers[i], 0.0f);
        const cairn_body_id base = joint_base(world);
        const cairn_body_id a = joint_cube(world, vec3(0, 1, 0), 0.2f, 1.0f);
        const cairn_body_id b = joint_cube(world, vec3(0, 3, 0), 0.2f, 1.0f);
        const cairn_joint_def hinge_a = joint_between(CAIRN_JOINT_HINGE, base, a, vec3(0, 1, 0));
        const cairn_joint_def hinge_b = joint_between(CAIRN_JOINT_HINGE, base, b, vec3(0, 3, 0));
        kit_joint(world, &hinge_a);
        kit_joint(world, &hinge_b);
        cairn_joint_def gear = joint_between(CAIRN_JOINT_GEAR, a, b, vec3(0, 0, 0));
        gear.ratio = 3.0f;
        kit_joint(world, &gear);
        spin_about_x(world, a, 20.0f);
        double turned[2] = {0};
        for (int n = 0; n < 30 * JOINT_TICK_RATE; ++n) {
            kit_run(world, 1);
            turned[0] += (double)kit_read(world, a).angular_velocity.x / JOINT_TICK_RATE;
            turned[1] += (double)kit_read(world, b).angular_velocity.x / JOINT_TICK_RATE;
        }
        expect_near(kit_read(world, a).angular_velocity.x, 2.0f, 0.02f);
        expect_near(kit_read(world, b).angular_velocity.x, -6.0f, 0.06f);
        expect_near((float)(turned[1] / turned[0]), -3.0f, 0.005f);
    }
}

// The motor joint moves its body to the target and holds it there, with its force at most.
TEST("a motor joint moves a body to a pose, and yields to a greater force") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(solvers[i], 9.81f);
        const cairn_body_id base = joint_base(world);
        const cairn_body_id cube = joint_cube(world, vec3(0, 1, 0), 0.2f, 1.0f);
        cairn_joint_def def = joint_between(CAIRN_JOINT_MOTOR, base, cube, vec3(0, 0, 0));
        def.hertz = 2.0f;
        def.damping = 1.0f;
        def.target_position = vec3(1, 2, 0);
        def.target_rotation = (cairn_quat){.z = 0.38268343f, .w = 0.92387953f}; // 45 degrees
        def.motor_force = 50.0f;
        def.motor_torque = 10.0f;
        const cairn_joint_id joint = kit_joint(world, &def);
        kit_run(world, 5 * JOINT_TICK_RATE);
        const cairn_body_state state = kit_read(world, cube);
        // A spring: it hangs g / (2 pi f)^2 below.
        expect_vec3(state.position, vec3(1, 2 - 9.81f / 157.91f, 0), 3e-3f);
        expect_near(state.rotation.z, 0.38268343f, 2e-3f);
        def.motor_force = 5.0f; // less than its weight: it falls with what is left of g
        EXPECT_OK(cairn_joint_set(world, joint, &def));
        const float before = kit_read(world, cube).linear_velocity.y;
        kit_run(world, 30);
        expect_near(kit_read(world, cube).linear_velocity.y - before, -(9.81f - 5.0f) * 0.5f, 0.3f);
    }
}

// Catto 2005, section 4: J V = velocity with a bounded multiplier. Here a game's own constraint:
// body b moves up twice as fast as a moves right, with at most 100 N along J.
TEST("a row of a game holds J V at its velocity, and bounds its force") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(solvers[i], 0.0f);
        const cairn_body_id a = joint_cube(world, vec3(0, 0, 0), 0.2f, 1.0f);
        const cairn_body_id b = joint_cube(world, vec3(3, 0, 0), 0.2f, 1.0f);
        cairn_joint_def def = joint_between(CAIRN_JOINT_ROW, a, b, vec3(0, 0, 0));
        def.row.linear_a = vec3(-2, 0, 0);
        def.row.linear_b = vec3(0, 1, 0);
        def.row.lower = -100.0f;
        def.row.upper = 100.0f;
        const cairn_joint_id joint = kit_joint(world, &def);
        EXPECT_OK(cairn_body_set_velocity(world, a, vec3(5, 0, 0), vec3(0, 0, 0)));
        kit_run(world, 30);
        // The impulse along J takes 2 l from a and gives l to b: 5 - 2 l = x, l = 2 x.
        expect_near(kit_read(world, a).linear_velocity.x, 1.0f, 2e-3f);
        expect_near(kit_read(world, b).linear_velocity.y, 2.0f, 2e-3f);
        cairn_joint_row row = def.row;
        row.upper = 3.0f; // one-sided: b may be driven up with 3 N, never braked
        row.lower = 0.0f;
        row.velocity = 50.0f;
        EXPECT_OK(cairn_joint_set_row(world, joint, &row));
        kit_run(world, JOINT_TICK_RATE);
        expect_near(kit_read(world, b).linear_velocity.y, 2.0f + 3.0f, 2e-3f);
        expect_near(kit_read(world, a).linear_velocity.x, 1.0f - 6.0f, 2e-3f);
    }
}
