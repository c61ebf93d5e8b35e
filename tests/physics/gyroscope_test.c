// SPDX-License-Identifier: MIT
// Bodies that rotate freely, with and without gyroscopic torque.

#include <math.h>

#include "sim/state/world.h"
#include "tests/physics/measured.h"
#include "tests/sim/world_kit.h"

// Half the edges of a box whose middle axis of inertia is y: the inertia about an axis grows with
// the squares of the edges across it.
#define BOX vec3(0.1f, 0.2f, 0.4f)

static cairn_world *space(uint32_t solver) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    def.sleep = 0;
    def.gravity = vec3_zero();
    return kit_world(&def);
}

static cairn_body_id spin(
    cairn_world *world, cairn_vec3 half, cairn_vec3 angular_velocity, uint32_t gyroscopic) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def box = cairn_shape_def_default();
    def.angular_velocity = angular_velocity;
    def.gyroscopic = gyroscopic;
    box.half_extents = half;
    return kit_body(world, &def, &box);
}

// Of the body in slot 0.
typedef struct rotation_state {
    cairn_vec3 in_body;  // rad/s, angular velocity in body axes
    cairn_vec3 momentum; // N m s, world
    double energy;       // J
} rotation_state;

static rotation_state rotation_of(const cairn_world *world) {
    const cairn_motion *motion = &world->state.motions[0];
    const cairn_sym3 inertia = sym3_inverse_scaled(world->state.bodies[0].inverse_inertia);
    const cairn_vec3 w = quat_rotate_inverse(motion->rotation, motion->angular_velocity);
    const cairn_vec3 l = sym3_apply(inertia, w);
    return (rotation_state){.in_body = w,
        .momentum = quat_rotate(motion->rotation, l),
        .energy = 0.5 * (double)vec3_dot(w, l)};
}

TEST("a body spins at its speed up to 500 rad/s") {
    static const float speeds[] = {1.0f, 50.0f, 100.0f, 150.0f, 250.0f, 500.0f};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; ++i) {
        for (uint32_t solver = CAIRN_SOLVER_SOFT_STEP; solver <= CAIRN_SOLVER_PGS; ++solver) {
            SCOPED(cairn_world) *world = space(solver);
            (void)spin(world, vec3(0.5f, 0.5f, 0.5f), vec3(0.0f, speeds[i], 0.0f), 0);
            double turned = 0.0;
            cairn_quat last = quat_identity();
            for (uint32_t k = 0; k < 60; ++k) {
                kit_run(world, 1);
                const cairn_quat now = world->state.motions[0].rotation;
                const cairn_quat turn = quat_multiply(now, quat_conjugate(last));
                // Whole turns cannot be seen, so they are taken from the speed.
                const double seen = 2.0 * atan2((double)turn.y, (double)turn.w);
                const double turns = ((double)speeds[i] / 60.0 - seen) / 6.283185307179586;
                turned += seen + 6.283185307179586 * round(turns);
                last = now;
            }
            EXPECT_MEASURED(turned, (double)speeds[i], 1e-4 * (double)speeds[i]);
        }
    }
}

TEST("without gyroscopic torque a body keeps its angular velocity") {
    SCOPED(cairn_world) *world = space(CAIRN_SOLVER_SOFT_STEP);
    const cairn_vec3 w = vec3(0.5f, 8.0f, 0.3f);
    const cairn_body_id body = spin(world, BOX, w, 0);
    kit_run(world, 600);
    assert_true(vec3_distance(kit_read(world, body).angular_velocity, w) < 1e-5f);
}

// Dzhanibekov's wing nut. Rotation about the middle axis of inertia is unstable (Euler 1758): a
// small rotation about another axis grows by exp(t w sqrt((I2 - I1) (I3 - I2) / (I1 I3))) until the
// body turns over, and over again.
TEST("a body that rotates about its middle axis turns over again and again") {
    for (uint32_t solver = CAIRN_SOLVER_SOFT_STEP; solver <= CAIRN_SOLVER_PGS; ++solver) {
        SCOPED(cairn_world) *world = space(solver);
        (void)spin(world, BOX, vec3(0.05f, 10.0f, 0.0f), 1);
        const rotation_state start = rotation_of(world);
        uint32_t flips = 0;
        float side = 1.0f;
        for (uint32_t i = 0; i < 60 * 60; ++i) {
            kit_run(world, 1);
            const rotation_state now = rotation_of(world);
            if (side * now.in_body.y < -5.0f) {
                side = -side;
                ++flips;
            }
            EXPECT_MEASURED(now.energy, start.energy, 0.01 * start.energy);
            assert_true(
                vec3_distance(now.momentum, start.momentum) < 0.01f * vec3_length(start.momentum));
        }
        assert_true(flips >= 20);
    }
}

TEST("rotation about the shortest and the longest axis is stable") {
    static const cairn_vec3 axes[] = {{8.0f, 0.2f, 0.2f}, {0.2f, 0.2f, 8.0f}};
    for (size_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = space(CAIRN_SOLVER_SOFT_STEP);
        (void)spin(world, BOX, axes[i], 1);
        for (uint32_t k = 0; k < 60 * 60; ++k) {
            kit_run(world, 1);
            const cairn_vec3 w = rotation_of(world).in_body;
            assert_true((i == 0 ? w.x : w.z) > 7.5f);
        }
    }
}

// A body with the inertia C about its axis and A across it: in body axes its angular velocity goes
// around the axis at (C - A) / A times its part along the axis (Euler's free precession).
TEST("a spinning disc wobbles at Euler's rate") {
    SCOPED(cairn_world) *world = space(CAIRN_SOLVER_SOFT_STEP);
    const cairn_vec3 half = vec3(0.5f, 0.05f, 0.5f);
    (void)spin(world, half, vec3(0.5f, 6.0f, 0.0f), 1);
    const double along = 2.0 * 0.5 * 0.5;
    const double across = 0.5 * 0.5 + 0.05 * 0.05;
    const double rate = (along - across) / across * 6.0;
    double angle = 0.0;
    double last = 0.0;
    for (uint32_t i = 0; i < 600; ++i) {
        kit_run(world, 1);
        const cairn_vec3 w = rotation_of(world).in_body;
        const double now = atan2(-(double)w.z, (double)w.x);
        const double change = now - last;
        angle += change - 6.283185307179586 * round(change / 6.283185307179586);
        last = now;
    }
    EXPECT_MEASURED(fabs(angle), 10.0 * rate, 0.002 * 10.0 * rate);
}

// A rotation by 24 degrees in each substep.
TEST("a body that turns over at 100 rad/s keeps its energy and momentum") {
    SCOPED(cairn_world) *world = space(CAIRN_SOLVER_SOFT_STEP);
    (void)spin(world, BOX, vec3(1.0f, 100.0f, 0.5f), 1);
    const rotation_state start = rotation_of(world);
    kit_run(world, 60 * 60);
    const rotation_state end = rotation_of(world);
    EXPECT_MEASURED(end.energy, start.energy, 0.01 * start.energy);
    assert_true(vec3_distance(end.momentum, start.momentum) < 0.01f * vec3_length(start.momentum));
}

// By up to 95 degrees in each substep, about axes near all three.
TEST("bodies that turn over at 400 rad/s keep their energy and momentum") {
    for (uint32_t i = 0; i < 24; ++i) {
        SCOPED(cairn_world) *world = space(CAIRN_SOLVER_SOFT_STEP);
        const float turn = 0.7f * (float)i;
        const cairn_vec3 axis = vec3(cosf(turn), sinf(turn), 0.9f * sinf(3.0f * turn));
        (void)spin(world, vec3(0.45f, 0.3f, 0.2f), vec3_scale(axis, 400.0f / vec3_length(axis)), 1);
        const rotation_state start = rotation_of(world);
        kit_run(world, 10 * 60);
        const rotation_state end = rotation_of(world);
        EXPECT_MEASURED(end.energy, start.energy, 0.01 * start.energy);
        assert_true(
            vec3_distance(end.momentum, start.momentum) < 0.01f * vec3_length(start.momentum));
    }
}

TEST("a stick thrown with any rotation keeps its energy and momentum") {
    SCOPED(cairn_world) *world = space(CAIRN_SOLVER_SOFT_STEP);
    (void)spin(world, vec3(0.01f, 0.5f, 0.02f), vec3(3.0f, 8.0f, 2.0f), 1);
    const rotation_state start = rotation_of(world);
    kit_run(world, 60 * 60);
    const rotation_state end = rotation_of(world);
    EXPECT_MEASURED(end.energy, start.energy, 0.01 * start.energy);
    assert_true(vec3_distance(end.momentum, start.momentum) < 0.01f * vec3_length(start.momentum));
}

// A top on a ball joint: its axis goes around the vertical at m g r / (I w).
TEST("a leaning top goes around the vertical instead of falling") {
    cairn_world_def def = cairn_world_def_default();
    def.sleep = 0;
    SCOPED(cairn_world) *world = kit_world(&def);
    cairn_body_def hook_def = cairn_body_def_default();
    cairn_body_id hook = 0;
    hook_def.kind = CAIRN_BODY_STATIC;
    EXPECT_OK(cairn_body_create(world, &hook_def, &hook));
    // A wheel whose axle lies along x and is held at its end, 0.5 m from the wheel.
    cairn_body_def top_def = cairn_body_def_default();
    cairn_shape_def wheel = cairn_shape_def_default();
    top_def.position = vec3(0.5f, 0.0f, 0.0f);
    top_def.angular_velocity = vec3(60.0f, 0.0f, 0.0f);
    top_def.gyroscopic = 1;
    wheel.half_extents = vec3(0.03f, 0.3f, 0.3f);
    const cairn_body_id top = kit_body(world, &top_def, &wheel);
    cairn_joint_def joint = cairn_joint_def_default();
    joint.body_a = hook;
    joint.body_b = top;
    joint.anchor_b = vec3(-0.5f, 0.0f, 0.0f);
    (void)kit_joint(world, &joint);
    const double inertia = 2.0 / 3.0 * 0.3 * 0.3; // of 1 kg about the axle
    const double rate = 9.81 * 0.5 / (inertia * 60.0);
    double angle = 0.0;
    double last = 0.0;
    for (uint32_t i = 0; i < 600; ++i) {
        kit_run(world, 1);
        const cairn_vec3 at = kit_read(world, top).position;
        // It nods at I w / A = 13 rad/s, by 2 rate / 13 on both sides together.
        assert_true(float_abs(at.y) < 0.15f);
        const double now = atan2(-(double)at.z, (double)at.x);
        const double change = now - last;
        angle += change - 6.283185307179586 * round(change / 6.283185307179586);
        last = now;
    }
    EXPECT_MEASURED(angle, 10.0 * rate, 0.06 * 10.0 * rate);
}
