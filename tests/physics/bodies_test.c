// SPDX-License-Identifier: MIT
// What may be set of a body while it lives: kind, mass, damping, gravity, locks, filters, sleep,
// whether it is enabled; and what pushes it: forces, impulses, targets, explosions. Each case runs
// with both solvers.

#include "tests/physics/measured.h"
#include "tests/sim/world_kit.h"

#include <math.h>
#include <string.h>

#include <cairn/math.h>

#define GRAVITY 9.81f
#define STEP (1.0f / 60.0f)

static cairn_world *world_of(uint32_t solver, float gravity) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    def.gravity = vec3(0.0f, 0.0f - gravity, 0.0f);
    return kit_world(&def);
}

#define EACH_SOLVER(solver) for (uint32_t solver = 0; solver < 2; ++solver)

static cairn_pose pose_at(cairn_vec3 position) {
    return cairn_pose_of(position, cairn_quat_identity());
}

static cairn_vec3 velocity_of(const cairn_world *world, cairn_body_id body) {
    return kit_read(world, body).linear_velocity;
}

static cairn_vec3 spin_of(const cairn_world *world, cairn_body_id body) {
    return kit_read(world, body).angular_velocity;
}

static void expect_vec3(cairn_vec3 got, cairn_vec3 wanted, float error) {
    EXPECT_MEASURED(got.x, wanted.x, error);
    EXPECT_MEASURED(got.y, wanted.y, error);
    EXPECT_MEASURED(got.z, wanted.z, error);
}

// ---- Pushing

// A cube of 1 m and 1000 kg has the inertia m / 6. A force F at the arm r for one step of h gives
// v = F h / m and w = (r x F) h / I.
TEST("a force at a point accelerates and turns for one step") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, 0.0f);
        const cairn_body_id cube = kit_cube(world, vec3(3.0f, 2.0f, 1.0f));
        EXPECT_OK(cairn_body_apply_force_at(
            world, cube, vec3(600.0f, 0.0f, 0.0f), vec3(3.0f, 2.5f, 1.0f)));
        kit_run(world, 3);
        expect_vec3(velocity_of(world, cube), vec3(600.0f * STEP / 1000.0f, 0.0f, 0.0f), 1e-6f);
        const float turn = -0.5f * 600.0f * STEP / (1000.0f / 6.0f);
        expect_vec3(spin_of(world, cube), vec3(0.0f, 0.0f, turn), 1e-6f);
    }
}

TEST("an angular impulse turns, and nothing pushes a body that is not dynamic") {
    SCOPED(cairn_world) *world = world_of(0, 0.0f);
    const cairn_body_id cube = kit_cube(world, vec3_zero());
    EXPECT_OK(cairn_body_apply_angular_impulse(world, cube, vec3(0.0f, 500.0f, 0.0f)));
    expect_vec3(spin_of(world, cube), vec3(0.0f, 3.0f, 0.0f), 1e-5f);
    EXPECT_OK(cairn_body_set_kind(world, cube, CAIRN_BODY_KINEMATIC));
    EXPECT_OK(cairn_body_apply_angular_impulse(world, cube, vec3(0.0f, 500.0f, 0.0f)));
    EXPECT_OK(cairn_body_apply_impulse(world, cube, vec3(1.0f, 0.0f, 0.0f), vec3_zero()));
    expect_vec3(spin_of(world, cube), vec3(0.0f, 3.0f, 0.0f), 1e-5f);
    expect_vec3(velocity_of(world, cube), vec3_zero(), 0.0f);
    const cairn_vec3 bad = {NAN, 0.0f, 0.0f};
    EXPECT_OK(cairn_body_set_kind(world, cube, CAIRN_BODY_DYNAMIC));
    assert_int_equal(cairn_body_apply_angular_impulse(world, cube, bad), CAIRN_NON_FINITE);
    assert_int_equal(cairn_body_apply_force_at(world, cube, bad, bad), CAIRN_NON_FINITE);
}

// ---- Damping, gravity, mass

// Implicit damping over n substeps of h: v_n = v_0 / (1 + c h)^n, which tends to exp(-c t).
TEST("damping and gravity scale that are set act from the next step on") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, GRAVITY);
        const cairn_body_id cube = kit_cube(world, vec3(0.0f, 100.0f, 0.0f));
        EXPECT_OK(cairn_body_set_gravity_scale(world, cube, 0.0f));
        EXPECT_OK(cairn_body_set_damping(world, cube, 2.0f, 1.0f));
        EXPECT_OK(
            cairn_body_set_velocity(world, cube, vec3(10.0f, 0.0f, 0.0f), vec3(0.0f, 4.0f, 0.0f)));
        kit_run(world, 60);
        // The PGS solver has one substep.
        const float h = solver == CAIRN_SOLVER_PGS ? STEP : 0.25f * STEP;
        EXPECT_MEASURED(
            velocity_of(world, cube).x, 10.0f * powf(1.0f + 2.0f * h, -1.0f / h), 1e-3f);
        EXPECT_MEASURED(spin_of(world, cube).y, 4.0f * powf(1.0f + h, -1.0f / h), 1e-3f);
        EXPECT_MEASURED(velocity_of(world, cube).y, 0.0f, 1e-6f);
        assert_int_equal(cairn_body_set_damping(world, cube, -1.0f, 0.0f), CAIRN_INVALID_ARGUMENT);
        assert_int_equal(cairn_body_set_gravity_scale(world, cube, NAN), CAIRN_NON_FINITE);
    }
}

TEST("gravity that is set wakes what it moves, and the def stays") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, GRAVITY);
        kit_ground(world);
        const cairn_body_id cube = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
        kit_run(world, 120);
        assert_int_equal(kit_read(world, cube).awake, 0);
        EXPECT_OK(cairn_world_set_gravity(world, vec3(0.0f, 2.0f, 0.0f)));
        kit_run(world, 60);
        // v = g t.
        EXPECT_MEASURED(velocity_of(world, cube).y, 2.0f, 0.02f);
        EXPECT_MEASURED(cairn_world_gravity(world).y, 2.0f, 0.0f);
        EXPECT_MEASURED(cairn_world_settings(world)->gravity.y, -GRAVITY, 0.0f);
        assert_int_equal(
            cairn_world_set_gravity(world, vec3(0.0f, 2e4f, 0.0f)), CAIRN_INVALID_ARGUMENT);
    }
}

// A rod of inertia I about its centre that is struck at the distance r: w = r J / I, v = J / m.
TEST("mass, centre and inertia that are set replace those of the shapes") {
    SCOPED(cairn_world) *world = world_of(0, 0.0f);
    const cairn_body_id cube = kit_cube(world, vec3_zero());
    cairn_mass_properties mass = {
        .mass = 10.0f, .centre = {.y = -0.25f}, .inertia = {2.0f, 3.0f, 4.0f, 0.1f, 0.2f, 0.3f}};
    EXPECT_OK(cairn_body_set_mass_properties(world, cube, &mass));
    cairn_mass_properties read;
    EXPECT_OK(cairn_body_read_mass(world, cube, &read));
    for (int i = 0; i < 6; ++i) {
        EXPECT_MEASURED(read.inertia[i], mass.inertia[i], 1e-5f);
    }
    EXPECT_MEASURED(cairn_body_mass(world, cube), 10.0f, 0.0f);
    EXPECT_OK(
        cairn_body_apply_impulse(world, cube, vec3(20.0f, 0.0f, 0.0f), vec3(0.0f, -0.25f, 0.0f)));
    expect_vec3(velocity_of(world, cube), vec3(2.0f, 0.0f, 0.0f), 1e-5f);
    expect_vec3(spin_of(world, cube), vec3_zero(), 1e-5f);
    // Another shape does not change it; clearing gives both shapes their say.
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_shape_id id;
    EXPECT_OK(cairn_shape_create(world, cube, &shape, &id));
    EXPECT_MEASURED(cairn_body_mass(world, cube), 10.0f, 0.0f);
    EXPECT_OK(cairn_body_set_mass(world, cube, 0.0f));
    EXPECT_MEASURED(cairn_body_mass(world, cube), 2000.0f, 1e-3f);
    // Scaled to 12 kg, a cube of 1 m has the inertia 2.
    EXPECT_OK(cairn_body_set_mass(world, cube, 12.0f));
    EXPECT_OK(cairn_body_read_mass(world, cube, &read));
    EXPECT_MEASURED(read.inertia[1], 2.0f, 1e-5f);
    mass.inertia[3] = 5.0f; // no body has it: not positive definite
    assert_int_equal(cairn_body_set_mass_properties(world, cube, &mass), CAIRN_INVALID_ARGUMENT);
    mass.inertia[3] = NAN;
    assert_int_equal(cairn_body_set_mass_properties(world, cube, &mass), CAIRN_NON_FINITE);
    assert_int_equal(cairn_body_set_mass(world, cube, -1.0f), CAIRN_INVALID_ARGUMENT);
}

TEST("a body without shapes that gets a mass falls") {
    SCOPED(cairn_world) *world = world_of(0, GRAVITY);
    const cairn_body_def def = cairn_body_def_default();
    const cairn_mass_properties mass = {.mass = 2.0f, .inertia = {1.0f, 1.0f, 1.0f}};
    cairn_body_id point;
    EXPECT_OK(cairn_body_create(world, &def, &point));
    assert_int_equal(cairn_body_set_mass(world, point, 3.0f), CAIRN_WRONG_STATE);
    EXPECT_OK(cairn_body_set_mass_properties(world, point, &mass));
    kit_run(world, 60);
    EXPECT_MEASURED(velocity_of(world, point).y, -GRAVITY, 1e-3f);
}

// ---- Locks

// A cube with a lock along x slides down a slope of 45 degrees without friction as a bead on a
// vertical wire would: not at all, once it rests on the slope, because the slope holds it.
TEST("a cube locked along x neither slides down a smooth slope nor sinks into it") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, GRAVITY);
        cairn_body_def slope = cairn_body_def_default();
        slope.kind = CAIRN_BODY_STATIC;
        slope.rotation = cairn_quat_of_axis_angle(vec3(0.0f, 0.0f, 1.0f), 0.78539816f);
        cairn_shape_def plane = cairn_shape_def_default();
        plane.kind = CAIRN_SHAPE_HALF_SPACE;
        plane.friction = 0.0f;
        (void)kit_body(world, &slope, &plane);
        cairn_body_def def = cairn_body_def_default();
        def.position = vec3(0.0f, 0.73f, 0.0f);
        def.rotation = slope.rotation;
        def.locks = CAIRN_LOCK_LINEAR_X | CAIRN_LOCK_ANGULAR_X | CAIRN_LOCK_ANGULAR_Y |
                    CAIRN_LOCK_ANGULAR_Z;
        const cairn_body_id cube = kit_body(world, &def, NULL);
        kit_run(world, 120);
        const cairn_body_state state = kit_read(world, cube);
        EXPECT_MEASURED(state.position.x, 0.0f, 0.0f);
        EXPECT_MEASURED(state.position.z, 0.0f, 1e-5f);
        EXPECT_MEASURED(state.position.y, 0.7071f, 0.012f);
        EXPECT_MEASURED(state.linear_velocity.y, 0.0f, 1e-3f);
    }
}

// With the axis z locked in the world, the inertia that counts about x is that of a body whose
// rotation has no z: W_xx - W_xz^2 / W_zz, which is 1 / I_xx for a body turned about y.
TEST("locked axes keep their velocity at zero, and the others answer as if they were alone") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, 0.0f);
        cairn_body_def def = cairn_body_def_default();
        def.rotation = cairn_quat_of_axis_angle(vec3(0.0f, 1.0f, 0.0f), 0.7f);
        cairn_shape_def plank = cairn_shape_def_default();
        plank.half_extents = vec3(1.0f, 0.1f, 0.3f);
        const cairn_body_id body = kit_body(world, &def, &plank);
        EXPECT_OK(cairn_body_set_locks(world, body, CAIRN_LOCK_ANGULAR_Z | CAIRN_LOCK_LINEAR_Y));
        const float c = cosf(0.7f);
        const float s = sinf(0.7f);
        const float mass = cairn_body_mass(world, body);
        const float along = mass / 3.0f * (0.01f + 0.09f);
        const float across = mass / 3.0f * (1.0f + 0.01f);
        const float inertia = along * c * c + across * s * s; // about the world's x
        EXPECT_OK(cairn_body_apply_force(
            world, body, vec3(0.0f, 100.0f, 60.0f), vec3(50.0f, 0.0f, 70.0f)));
        kit_run(world, 1);
        expect_vec3(velocity_of(world, body), vec3(0.0f, 0.0f, 60.0f * STEP / mass), 1e-6f);
        expect_vec3(spin_of(world, body), vec3(50.0f * STEP / inertia, 0.0f, 0.0f), 1e-5f);
        EXPECT_OK(cairn_body_apply_angular_impulse(world, body, vec3(0.0f, 0.0f, 9.0f)));
        EXPECT_OK(
            cairn_body_set_velocity(world, body, vec3(1.0f, 2.0f, 3.0f), vec3(1.0f, 2.0f, 3.0f)));
        expect_vec3(velocity_of(world, body), vec3(1.0f, 0.0f, 3.0f), 0.0f);
        expect_vec3(spin_of(world, body), vec3(1.0f, 2.0f, 0.0f), 0.0f);
        assert_int_equal(cairn_body_set_locks(world, body, 64), CAIRN_INVALID_ARGUMENT);
    }
}

// Everything in one plane: what is struck from any side stays in it, to the bit.
TEST("bodies locked to a plane stay in it, and momentum within the plane is kept") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, 0.0f);
        cairn_body_id cubes[8];
        for (int i = 0; i < 8; ++i) {
            cubes[i] = kit_cube(world, vec3(1.3f * (float)(i % 3), 1.4f * (float)(i / 3), 0.0f));
            EXPECT_OK(cairn_body_set_locks(world, cubes[i],
                CAIRN_LOCK_LINEAR_Z | CAIRN_LOCK_ANGULAR_X | CAIRN_LOCK_ANGULAR_Y));
        }
        EXPECT_OK(cairn_body_apply_impulse(
            world, cubes[0], vec3(5000.0f, 3000.0f, 700.0f), vec3(0.3f, 0.2f, 0.4f)));
        kit_run(world, 120);
        cairn_vec3 momentum = vec3_zero();
        for (int i = 0; i < 8; ++i) {
            const cairn_body_state state = kit_read(world, cubes[i]);
            assert_true(state.position.z == 0.0f && state.linear_velocity.z == 0.0f);
            assert_true(state.angular_velocity.x == 0.0f && state.angular_velocity.y == 0.0f);
            momentum = vec3_add_scaled(momentum, state.linear_velocity, 1000.0f);
        }
        expect_vec3(momentum, vec3(5000.0f, 3000.0f, 0.0f), 0.5f);
    }
}

// ---- Kind, filters, sleep, enabled

TEST("a body whose kind is set falls, stops, carries") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, GRAVITY);
        kit_ground(world);
        const cairn_body_id lower = kit_cube(world, vec3(0.0f, 3.0f, 0.0f));
        const cairn_body_id upper = kit_cube(world, vec3(0.0f, 4.0f, 0.0f));
        EXPECT_OK(cairn_body_set_kind(world, lower, CAIRN_BODY_STATIC));
        kit_run(world, 60);
        EXPECT_MEASURED(kit_read(world, lower).position.y, 3.0f, 0.0f);
        EXPECT_MEASURED(kit_read(world, upper).position.y, 4.0f, 0.01f);
        EXPECT_MEASURED(cairn_body_mass(world, lower), 0.0f, 0.0f);
        kit_run(world, 120);
        assert_int_equal(kit_read(world, upper).awake, 0);
        EXPECT_OK(cairn_body_set_kind(world, lower, CAIRN_BODY_DYNAMIC));
        kit_run(world, 180);
        EXPECT_MEASURED(kit_read(world, lower).position.y, 0.5f, 0.01f);
        EXPECT_MEASURED(kit_read(world, upper).position.y, 1.5f, 0.02f);
        EXPECT_MEASURED(cairn_body_mass(world, lower), 1000.0f, 1e-3f);
    }
    SCOPED(cairn_world) *world = world_of(0, GRAVITY);
    const cairn_body_id ground = kit_ground(world);
    assert_int_equal(cairn_body_set_kind(world, ground, CAIRN_BODY_DYNAMIC), CAIRN_WRONG_STATE);
    assert_int_equal(cairn_body_set_kind(world, ground, 3), CAIRN_INVALID_ARGUMENT);
}

TEST("filters that are set end contacts and begin them") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, GRAVITY);
        kit_ground(world);
        const cairn_body_id lower = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
        const cairn_body_id upper = kit_cube(world, vec3(0.0f, 1.5f, 0.0f));
        kit_run(world, 120);
        cairn_shape_id shape;
        assert_int_equal(cairn_body_shapes(world, upper, &shape, 1), 1);
        // The upper cube no longer meets category 1, to which the lower one and the ground belong.
        EXPECT_OK(cairn_shape_set_filter(world, shape, 1, ~1u));
        kit_run(world, 30);
        EXPECT_MEASURED(kit_read(world, upper).position.y, 1.5f - 0.5f * GRAVITY * 0.25f, 0.12f);
        EXPECT_MEASURED(kit_read(world, lower).position.y, 0.5f, 0.01f);
        EXPECT_OK(cairn_body_set_pose(world, upper, pose_at(vec3(0.0f, 1.6f, 0.0f))));
        EXPECT_OK(cairn_shape_set_filter(world, shape, 1, UINT32_MAX));
        kit_run(world, 120);
        EXPECT_MEASURED(kit_read(world, upper).position.y, 1.5f, 0.01f);
    }
}

TEST("a stack is put to sleep at once, as a whole") {
    SCOPED(cairn_world) *world = world_of(0, GRAVITY);
    kit_ground(world);
    cairn_body_id cubes[5];
    for (int i = 0; i < 5; ++i) {
        cubes[i] = kit_cube(world, vec3(0.0f, 0.5f + (float)i, 0.0f));
    }
    const cairn_body_id other = kit_cube(world, vec3(5.0f, 0.5f, 0.0f));
    kit_run(world, 3);
    EXPECT_OK(cairn_body_set_awake(world, cubes[2], false));
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(kit_read(world, cubes[i]).awake, 0);
    }
    assert_int_equal(kit_read(world, other).awake, 1);
    kit_run(world, 10);
    assert_int_equal(kit_read(world, cubes[4]).awake, 0);
    EXPECT_OK(cairn_body_set_awake(world, cubes[0], true));
    kit_run(world, 1);
    assert_int_equal(kit_read(world, cubes[4]).awake, 1);
    // A platform that moves beneath it keeps it awake.
    const cairn_body_id lift = kit_kinematic(world, vec3(9.0f, 0.5f, 0.0f), vec3(0.0f, 0.1f, 0.0f));
    const cairn_body_id rider = kit_cube(world, vec3(9.0f, 1.5f, 0.0f));
    kit_run(world, 3);
    assert_int_equal(cairn_body_set_awake(world, rider, false), CAIRN_WRONG_STATE);
    assert_int_equal(cairn_body_set_awake(world, lift, false), CAIRN_WRONG_STATE);
}

TEST("a body that is not enabled keeps its place, carries nothing and is not found") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, GRAVITY);
        kit_ground(world);
        const cairn_body_id lower = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
        const cairn_body_id upper = kit_cube(world, vec3(0.0f, 1.5f, 0.0f));
        const cairn_body_id hung = kit_cube(world, vec3(0.0f, 5.0f, 0.0f));
        cairn_joint_def joint = cairn_joint_def_default();
        joint.body_a = upper;
        joint.body_b = hung;
        joint.anchor_a = vec3(0.0f, 3.5f, 0.0f);
        cairn_joint_id joined;
        EXPECT_OK(cairn_joint_create(world, &joint, &joined));
        EXPECT_OK(cairn_body_set_enabled(world, hung, false));
        kit_run(world, 60);
        EXPECT_MEASURED(kit_read(world, hung).position.y, 5.0f, 0.0f);
        EXPECT_MEASURED(kit_read(world, upper).position.y, 1.5f, 0.01f);
        EXPECT_OK(cairn_body_set_enabled(world, lower, false));
        kit_run(world, 90);
        EXPECT_MEASURED(kit_read(world, lower).position.y, 0.5f, 0.01f);
        EXPECT_MEASURED(
            kit_read(world, upper).position.y, 0.5f, 0.01f); // through it, to the ground
        cairn_ray_hit hit;
        EXPECT_OK(cairn_world_ray_cast(world, vec3(0.0f, 9.0f, 0.0f), vec3(0.0f, -9.0f, 0.0f),
            UINT32_MAX, CAIRN_ID_NULL, &hit));
        assert_int_equal(hit.body, upper);
        const cairn_body_state state = kit_read(world, lower);
        assert_int_equal(state.enabled, 0);
        assert_int_equal(state.kind, CAIRN_BODY_DYNAMIC);
        assert_int_equal(
            cairn_body_set_velocity(world, lower, vec3_zero(), vec3_zero()), CAIRN_WRONG_STATE);
        assert_int_equal(
            cairn_body_apply_impulse_at_centre(world, lower, vec3_zero()), CAIRN_WRONG_STATE);
        assert_int_equal(cairn_body_set_awake(world, lower, true), CAIRN_WRONG_STATE);
        // Enabled again it is in contact: two cubes in one place push each other away.
        EXPECT_OK(cairn_body_set_pose(world, lower, pose_at(vec3(0.0f, 1.6f, 0.0f))));
        EXPECT_OK(cairn_body_set_enabled(world, lower, true));
        kit_run(world, 60);
        EXPECT_MEASURED(kit_read(world, lower).position.y, 1.5f, 0.01f);
    }
}

// ---- Targets

TEST("a kinematic body is at its target after one step, and stays there") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, GRAVITY);
        const cairn_body_id lift = kit_kinematic(world, vec3(1.0f, 2.0f, 3.0f), vec3_zero());
        const cairn_pose target = {.position = vec3(1.5f, 1.75f, 3.0f),
            .rotation = cairn_quat_of_axis_angle(
                vec3_normalize(vec3(1.0f, 2.0f, -2.0f), vec3_zero()), 2.5f)};
        EXPECT_OK(cairn_body_set_target(world, lift, target));
        expect_vec3(velocity_of(world, lift), vec3(30.0f, -15.0f, 0.0f), 1e-4f);
        kit_run(world, 1);
        expect_vec3(velocity_of(world, lift), vec3(30.0f, -15.0f, 0.0f), 1e-4f);
        EXPECT_MEASURED(vec3_length(spin_of(world, lift)), 150.0f, 1e-3f);
        for (int i = 0; i < 3; ++i) {
            const cairn_body_state state = kit_read(world, lift);
            expect_vec3(state.position, target.position, 1e-6f);
            EXPECT_MEASURED(state.rotation.x, target.rotation.x, 1e-6f);
            EXPECT_MEASURED(state.rotation.w, target.rotation.w, 1e-6f);
            kit_run(world, 1);
        }
        expect_vec3(velocity_of(world, lift), vec3_zero(), 0.0f);
        assert_int_equal(cairn_body_set_target(world, lift, pose_at(vec3(500.0f, 0.0f, 0.0f))),
            CAIRN_INVALID_ARGUMENT);
        const cairn_body_id cube = kit_cube(world, vec3(50.0f, 0.0f, 0.0f));
        assert_int_equal(cairn_body_set_target(world, cube, target), CAIRN_WRONG_STATE);
    }
}

// A lift that gets a target each tick on y = 0.5 (1 - cos t) carries a cube: it stays on it.
TEST("a cube rides a lift that follows targets") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, GRAVITY);
        const cairn_body_id lift = kit_kinematic(world, vec3_zero(), vec3_zero());
        const cairn_body_id cube = kit_cube(world, vec3(0.0f, 1.0f, 0.0f));
        for (int i = 1; i <= 240; ++i) {
            const float height = 0.5f * (1.0f - cairn_float_cos(2.0f * (float)i * STEP));
            EXPECT_OK(cairn_body_set_target(world, lift, pose_at(vec3(0.0f, height, 0.0f))));
            kit_run(world, 1);
            EXPECT_MEASURED(kit_read(world, lift).position.y, height, 1e-6f);
            EXPECT_MEASURED(kit_read(world, cube).position.y, 1.0f + height, 0.012f);
        }
    }
}

// ---- Explosions

// A ball of radius r shows pi r^2. Its nearest point is at the distance d - r.
TEST("an explosion pushes by the area shown, and falls off beyond its radius") {
    SCOPED(cairn_world) *world = world_of(0, 0.0f);
    cairn_shape_def ball = cairn_shape_def_default();
    ball.kind = CAIRN_SHAPE_SPHERE;
    ball.radius = 0.5f;
    const cairn_body_id near = kit_drop(world, vec3(2.0f, 0.0f, 0.0f), &ball);
    const cairn_body_id middle = kit_drop(world, vec3(0.0f, 4.5f, 0.0f), &ball);
    const cairn_body_id beyond = kit_drop(world, vec3(0.0f, 0.0f, 6.6f), &ball);
    const cairn_body_id cube = kit_cube(world, vec3(-2.0f, 0.0f, 0.0f));
    const cairn_explosion explosion = {
        .radius = 2.0f, .falloff = 4.0f, .impulse_per_area = 1000.0f, .mask = UINT32_MAX};
    uint32_t pushed = 0;
    EXPECT_OK(cairn_world_explode(world, &explosion, &pushed));
    assert_int_equal(pushed, 3);
    const float full = 1000.0f * 3.14159265f * 0.25f / cairn_body_mass(world, near);
    expect_vec3(velocity_of(world, near), vec3(full, 0.0f, 0.0f), 1e-4f);
    // At 4 m: half of the falloff.
    expect_vec3(velocity_of(world, middle), vec3(0.0f, 0.5f * full, 0.0f), 1e-4f);
    expect_vec3(velocity_of(world, beyond), vec3_zero(), 0.0f);
    expect_vec3(velocity_of(world, cube), vec3(-1.0f, 0.0f, 0.0f), 1e-4f);
}

TEST("a wall shields what is behind it") {
    SCOPED(cairn_world) *world = world_of(0, 0.0f);
    cairn_body_def wall = cairn_body_def_default();
    wall.kind = CAIRN_BODY_STATIC;
    wall.position = vec3(1.0f, 0.0f, 0.0f);
    cairn_shape_def slab = cairn_shape_def_default();
    slab.half_extents = vec3(0.1f, 5.0f, 5.0f);
    (void)kit_body(world, &wall, &slab);
    const cairn_body_id behind = kit_cube(world, vec3(3.0f, 0.0f, 0.0f));
    const cairn_body_id open = kit_cube(world, vec3(-3.0f, 0.0f, 0.0f));
    cairn_explosion explosion = cairn_explosion_default();
    explosion.shield_mask = UINT32_MAX;
    EXPECT_OK(cairn_world_explode(world, &explosion, NULL));
    expect_vec3(velocity_of(world, behind), vec3_zero(), 0.0f);
    expect_vec3(velocity_of(world, open), vec3(-1.0f, 0.0f, 0.0f), 1e-4f);
    explosion.radius = NAN;
    assert_int_equal(cairn_world_explode(world, &explosion, NULL), CAIRN_NON_FINITE);
    explosion.radius = 1e5f;
    assert_int_equal(cairn_world_explode(world, &explosion, NULL), CAIRN_INVALID_ARGUMENT);
}

// ---- All of it is state

// Takes the twin through a save, through bytes, or leaves it.
static void reload(cairn_world *twin, uint32_t tick) {
    const char *where = "";
    if (tick % 3 == 0) {
        SCOPED(kit_bytes) saved = kit_save(twin);
        EXPECT_OK(cairn_world_load(twin, saved.bytes, saved.size));
    } else if (tick % 3 == 1) {
        SCOPED(kit_bytes) encoded = kit_encode(twin);
        EXPECT_OK(cairn_world_decode(twin, encoded.bytes, encoded.size, &where));
    }
}

// Calls one setter after the other, by the tick.
static void act(cairn_world *world, const cairn_body_id *bodies, uint32_t tick) {
    const cairn_body_id body = bodies[tick % 6];
    const cairn_explosion explosion = cairn_explosion_default();
    const cairn_material material = {.friction = 0.1f, .restitution = 0.5f};
    cairn_shape_id shape = 0;
    (void)cairn_body_shapes(world, body, &shape, 1);
    switch (tick % 17) {
    case 0:
        (void)cairn_body_set_enabled(world, body, (tick / 17) % 2 != 0);
        break;
    case 2:
        (void)cairn_body_set_kind(world, body, tick % 3);
        break;
    case 4:
        (void)cairn_body_set_locks(world, body, tick % 64);
        break;
    case 5:
        (void)cairn_body_set_mass(world, body, tick % 2 == 0 ? 0.0f : 50.0f);
        break;
    case 7:
        (void)cairn_shape_set_filter(world, shape, 1, tick % 2 == 0 ? UINT32_MAX : 2u);
        break;
    case 8:
        (void)cairn_shape_set_material(world, shape, &material);
        break;
    case 9:
        (void)cairn_world_set_gravity(world, vec3(0.0f, tick % 4 == 0 ? -2.0f : -9.81f, 0.0f));
        break;
    case 11:
        (void)cairn_world_explode(world, &explosion, NULL);
        break;
    case 12:
        (void)cairn_body_set_awake(world, body, false);
        break;
    case 14:
        (void)cairn_body_set_owner(world, body, tick % 5 == 0 ? CAIRN_SLOT_NONE : tick % 64);
        (void)cairn_body_set_pose(world, body, pose_at(vec3(-4.0f, 2.0f, (float)(tick % 9))));
        break;
    case 13:
        (void)cairn_body_set_kind(world, body, CAIRN_BODY_DYNAMIC);
        (void)cairn_body_apply_force_at(world, body, vec3(900.0f, 0.0f, 0.0f), vec3_zero());
        break;
    default:
        (void)cairn_body_set_target(
            world, bodies[6], pose_at(vec3(6.0f + 0.01f * (float)(tick % 50), 0.5f, 0.0f)));
        break;
    }
}

TEST("a body knows its owner, and how often it was put elsewhere") {
    SCOPED(cairn_world) *world = world_of(CAIRN_SOLVER_SOFT_STEP, GRAVITY);
    const cairn_body_id body = kit_cube(world, vec3_zero());
    cairn_body_state state;
    EXPECT_OK(cairn_body_read(world, body, &state));
    assert_int_equal(state.owner, CAIRN_SLOT_NONE);
    assert_int_equal(state.teleports, 0);
    EXPECT_OK(cairn_body_set_locks(world, body, CAIRN_LOCKS_ALL));
    EXPECT_OK(cairn_body_set_owner(world, body, CAIRN_SLOTS_MAX - 1));
    for (uint32_t i = 1; i < 20; ++i) {
        EXPECT_OK(cairn_body_set_pose(world, body, pose_at(vec3((float)i, 0.0f, 0.0f))));
        kit_run(world, 1); // motion of the step does not count
        EXPECT_OK(cairn_body_read(world, body, &state));
        assert_int_equal(state.teleports, i % 8);
        assert_int_equal(state.owner, CAIRN_SLOTS_MAX - 1);
    }
    cairn_body_def def;
    EXPECT_OK(cairn_body_read_def(world, body, &def));
    assert_int_equal(def.locks, CAIRN_LOCKS_ALL);
    EXPECT_OK(cairn_body_set_owner(world, body, CAIRN_SLOT_NONE));
    EXPECT_OK(cairn_body_read(world, body, &state));
    assert_int_equal(state.owner, CAIRN_SLOT_NONE);
}

TEST("a world whose bodies are set continues alike after a load, a decode and a fork") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver, GRAVITY);
        kit_ground(world);
        cairn_body_id bodies[7];
        for (int i = 0; i < 6; ++i) {
            bodies[i] = kit_cube(world, vec3(0.3f * (float)i, 0.6f + 1.1f * (float)i, 0.0f));
        }
        bodies[6] = kit_kinematic(world, vec3(6.0f, 0.5f, 0.0f), vec3_zero());
        SCOPED(cairn_world) *twin = kit_fork(world);
        for (uint32_t tick = 0; tick < 260; ++tick) {
            act(world, bodies, tick);
            act(twin, bodies, tick);
            const char *where = "";
            if (cairn_world_validate(world, &where) != CAIRN_OK) {
                fail_msg("tick %u: %s", tick, where);
            }
            reload(twin, tick);
            kit_run(world, 1);
            kit_run(twin, 1);
            if (!cairn_hash_equal(
                    cairn_world_hash_read(world).full, cairn_world_hash_read(twin).full)) {
                cairn_difference difference;
                (void)cairn_world_diff(world, twin, &difference, 1);
                fail_msg("solver %u tick %u: %s", solver, tick, difference.field);
            }
        }
    }
}
