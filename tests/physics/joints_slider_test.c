// SPDX-License-Identifier: MIT

// Prismatic joints: a body that slides along an axis of another, with a spring, a motor and limits.
// Everything here is one degree of freedom, so it has a closed form.

#include "tests/physics/joint_kit.h"

static const uint32_t solvers[] = {CAIRN_SOLVER_SOFT_STEP, CAIRN_SOLVER_PGS};

typedef struct slider {
    cairn_world *world;
    cairn_body_id base;
    cairn_body_id body;
    cairn_joint_id joint;
} slider;

static void slider_destroy(slider *s) {
    cairn_world_destroy(s->world);
}
SCOPE_ENDS(slider, slider_destroy)

// 2 kg on a slider along `axis` through the origin of a static base.
static slider slider_create(
    uint32_t solver, cairn_vec3 axis, cairn_joint_def change, float gravity) {
    slider s = {.world = joint_world(solver, gravity)};
    s.base = joint_base(s.world);
    s.body = joint_cube(s.world, vec3(0, 0, 0), 0.2f, 2.0f);
    change.kind = CAIRN_JOINT_PRISMATIC;
    change.body_a = s.base;
    change.body_b = s.body;
    change.axis_a = axis;
    change.axis_b = axis;
    change.normal_a = vec3(0, 0, 1);
    change.normal_b = vec3(0, 0, 1);
    s.joint = kit_joint(s.world, &change);
    return s;
}

// A spring of frequency f on a mass m has the stiffness k = m (2 pi f)^2, so its period is
// 2 pi sqrt(m / k) = 1 / f. Without damping it must not lose its amplitude either.
TEST("a spring of frequency f has the period 1 / f and keeps its amplitude") {
    for (uint32_t i = 0; i < 2; ++i) {
        const float hertz[] = {0.5f, 1.0f, 2.0f};
        for (uint32_t k = 0; k < 3; ++k) {
            cairn_joint_def def = cairn_joint_def_default();
            def.spring = 1;
            def.spring_hertz = hertz[k];
            def.spring_damping = 0.0f;
            SCOPED(slider) s = slider_create(solvers[i], vec3(1, 0, 0), def, 0.0f);
            EXPECT_OK(cairn_body_set_velocity(s.world, s.body, vec3(1, 0, 0), vec3(0, 0, 0)));
            const float period = joint_period(s.world, s.joint, 5);
            expect_near(period * hertz[k], 1.0f, i == 0 ? 0.002f : 0.01f);
            float fastest = 0.0f;
            for (int n = 0; n < 2 * JOINT_TICK_RATE; ++n) {
                kit_run(s.world, 1);
                fastest = fmaxf(fastest, fabsf(joint_travel(s.world, s.joint).velocity));
            }
            expect_near(fastest, 1.0f, i == 0 ? 0.02f : 0.25f);
        }
    }
}

// Critically damped: x = x0 (1 + w t) e^(-w t) after a release at rest.
TEST("a critically damped spring comes to rest as (1 + w t) e^(-w t)") {
    cairn_joint_def def = cairn_joint_def_default();
    def.spring = 1;
    def.spring_hertz = 1.0f;
    def.spring_damping = 1.0f;
    def.target = 1.0f;
    SCOPED(slider) s = slider_create(CAIRN_SOLVER_SOFT_STEP, vec3(1, 0, 0), def, 0.0f);
    for (int i = 1; i <= 60; ++i) {
        kit_run(s.world, 1);
        const float angle = 6.2831853f * (float)i / JOINT_TICK_RATE;
        const float expected = 1.0f - (1.0f + angle) * expf(-angle);
        expect_near(joint_travel(s.world, s.joint).position, expected, 0.02f);
    }
}

// A weight on a spring sinks by m g / k = g / (2 pi f)^2.
TEST("a weight on a spring sinks by g / (2 pi f)^2") {
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_joint_def def = cairn_joint_def_default();
        def.spring = 1;
        def.spring_hertz = 1.0f;
        def.spring_damping = 1.0f;
        SCOPED(slider) s = slider_create(solvers[i], vec3(0, 1, 0), def, 9.81f);
        kit_run(s.world, 600);
        expect_near(joint_travel(s.world, s.joint).position, -9.81f / 39.478f, 2e-3f);
        expect_near(joint_reaction(s.world, s.joint).force.y, 2.0f * 9.81f, 0.05f);
    }
}

// A motor of force F accelerates m by F / m until it has its speed, which it then keeps.
TEST("a motor of force F accelerates by F / m up to its speed") {
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_joint_def def = cairn_joint_def_default();
        def.motor = 1;
        def.motor_speed = 3.0f;
        def.motor_force = 4.0f;
        SCOPED(slider) s = slider_create(solvers[i], vec3(1, 0, 0), def, 0.0f);
        kit_run(s.world, JOINT_TICK_RATE);
        expect_near(joint_travel(s.world, s.joint).velocity, 2.0f, 1e-3f);
        kit_run(s.world, JOINT_TICK_RATE);
        expect_near(joint_travel(s.world, s.joint).velocity, 3.0f, 1e-3f);
    }
}

// A motor holds a weight below its force and sinks with the difference above it: stall force.
TEST("a motor holds a weight below its force, and sinks with the difference above it") {
    for (uint32_t i = 0; i < 2; ++i) {
        const float forces[] = {20.0f, 19.0f}; // the weight is 19.62 N
        for (uint32_t k = 0; k < 2; ++k) {
            cairn_joint_def def = cairn_joint_def_default();
            def.motor = 1;
            def.motor_force = forces[k];
            SCOPED(slider) s = slider_create(solvers[i], vec3(0, 1, 0), def, 9.81f);
            kit_run(s.world, JOINT_TICK_RATE);
            const float expected = k == 0 ? 0.0f : (forces[k] - 19.62f) / 2.0f;
            expect_near(joint_travel(s.world, s.joint).velocity, expected, 2e-3f);
        }
    }
}

// A weight rests on its lower limit, which carries m g.
TEST("a weight rests on a limit, which carries m g") {
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_joint_def def = cairn_joint_def_default();
        def.limited = 1;
        def.lower = -0.5f;
        def.upper = 0.25f;
        SCOPED(slider) s = slider_create(solvers[i], vec3(0, 1, 0), def, 9.81f);
        kit_run(s.world, 2 * JOINT_TICK_RATE);
        expect_near(joint_travel(s.world, s.joint).position, -0.5f, 1e-3f);
        expect_near(joint_travel(s.world, s.joint).velocity, 0.0f, 1e-3f);
        expect_near(joint_reaction(s.world, s.joint).force.y, 19.62f, 0.02f);
    }
}

// What is not along the axis is held: a body with any velocity and spin stays on its line.
TEST("a slider stays on its line and falls along it with the part of g along it") {
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_vec3 axis = vec3_normalize(vec3(1, 1, 0), vec3(1, 0, 0));
        SCOPED(slider) s = slider_create(solvers[i], axis, cairn_joint_def_default(), 9.81f);
        EXPECT_OK(cairn_body_set_velocity(s.world, s.body, vec3(3, -1, 2), vec3(5, 2, -3)));
        for (int n = 1; n <= JOINT_TICK_RATE; ++n) {
            kit_run(s.world, 1);
            float error;
            cairn_joint_angles angles;
            EXPECT_OK(cairn_joint_error(s.world, s.joint, &error));
            EXPECT_OK(cairn_joint_angles_read(s.world, s.joint, &angles));
            expect_near(error, 0.0f, n < 5 ? 0.02f : 1e-3f);
            expect_near(angles.swing, 0.0f, n < 5 ? 0.02f : 2e-3f);
            expect_near(angles.twist, 0.0f, n < 5 ? 0.02f : 2e-3f);
        }
        // Along the axis it falls freely: v0 - g sin(45 degrees) t.
        const float along = (3.0f - 1.0f) * 0.70710678f;
        expect_near(joint_travel(s.world, s.joint).velocity, along - 9.81f * 0.70710678f, 0.02f);
    }
}

// Two free bodies: the spring works on the reduced mass, and the common centre stays where it is.
TEST("a spring between two free bodies works on their reduced mass") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 0.0f);
    const cairn_body_id a = joint_cube(world, vec3(0, 0, 0), 0.2f, 6.0f);
    const cairn_body_id b = joint_cube(world, vec3(1, 0, 0), 0.2f, 2.0f);
    cairn_joint_def def = joint_between(CAIRN_JOINT_PRISMATIC, a, b, vec3(1, 0, 0));
    def.spring = 1;
    def.spring_hertz = 1.0f;
    def.spring_damping = 0.0f;
    const cairn_joint_id joint = kit_joint(world, &def);
    EXPECT_OK(cairn_body_set_velocity(world, a, vec3(-0.25f, 0, 0), vec3(0, 0, 0)));
    EXPECT_OK(cairn_body_set_velocity(world, b, vec3(0.75f, 0, 0), vec3(0, 0, 0)));
    expect_near(joint_period(world, joint, 5), 1.0f, 0.002f);
    const float centre =
        (6.0f * kit_read(world, a).position.x + 2.0f * kit_read(world, b).position.x) / 8.0f;
    expect_near(centre, 0.25f, 1e-4f);
}

// A locked axis stays locked, whatever a joint pulls: here a spring along (1, 1, 0) moves a body
// that may not move along y. Along x it feels half the stiffness, since the rope is at 45 degrees.
TEST("a spring moves a body along its free axes alone") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = joint_world(solvers[i], 0.0f);
        const cairn_body_id base = joint_base(world);
        const cairn_body_id body = joint_cube(world, vec3(1, 1, 0), 0.1f, 1.0f);
        EXPECT_OK(cairn_body_set_locks(world, body,
            CAIRN_LOCK_LINEAR_Y | CAIRN_LOCK_ANGULAR_X | CAIRN_LOCK_ANGULAR_Y |
                CAIRN_LOCK_ANGULAR_Z));
        cairn_joint_def def = joint_between(CAIRN_JOINT_DISTANCE, base, body, vec3(0, 0, 0));
        def.length = 1.0f;
        def.spring = 1;
        def.spring_hertz = 1.0f;
        def.spring_damping = 0.5f;
        kit_joint(world, &def);
        for (int n = 0; n < 10 * JOINT_TICK_RATE; ++n) {
            kit_run(world, 1);
            assert_true(kit_read(world, body).position.y == 1.0f);
        }
        // The shortest rope: straight above the base.
        expect_near(kit_read(world, body).position.x, 0.0f, 0.05f);
    }
}

// On a wire that turns at w the only force is across it, so r'' = w^2 r: from rest on the wire,
// r = r0 cosh(w t). What slides out at v is pushed aside by 2 m w v, and stays on the wire.
TEST("a bead slides out along a turning wire as r0 cosh(w t)") {
    const float rate = 4.0f;
    const float start = 0.2f;
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 0.0f);
    const cairn_body_id wire = kit_kinematic(world, vec3(0, 0, 0), vec3(0, 0, 0));
    EXPECT_OK(cairn_body_set_velocity(world, wire, vec3(0, 0, 0), vec3(0, 0, rate)));
    const cairn_body_id bead = joint_cube(world, vec3(start, 0, 0), 0.02f, 0.1f);
    EXPECT_OK(cairn_body_set_velocity(world, bead, vec3(0, start * rate, 0), vec3(0, 0, rate)));
    cairn_joint_def def = joint_between(CAIRN_JOINT_PRISMATIC, wire, bead, vec3(start, 0, 0));
    const cairn_joint_id joint = kit_joint(world, &def);
    float open = 0.0f;
    for (int k = 0; k < JOINT_TICK_RATE; ++k) {
        float error = 0.0f;
        kit_run(world, 1);
        EXPECT_OK(cairn_joint_error(world, joint, &error));
        open = fmaxf(open, error);
    }
    const float way = start * coshf(rate);
    EXPECT_MEASURED(joint_travel(world, joint).position + start, way, 0.01f * way);
    EXPECT_MEASURED(open, 0.0f, 1e-3f);
}
