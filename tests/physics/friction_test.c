// SPDX-License-Identifier: MIT
// Friction between unlike surfaces, friction against spin, and gravity scaled for each body.

#include "tests/physics/mechanics_kit.h"

// How far a box slides in its first second on a slope of that tangent.
static float slide(
    uint32_t solver, float slope, float box_friction, float ground_friction, bool ground_first) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    SCOPED(cairn_world) *world = kit_world(&def);
    cairn_body_def body[2] = {cairn_body_def_default(), cairn_body_def_default()};
    cairn_shape_def shape[2] = {cairn_shape_def_default(), cairn_shape_def_default()};
    const double half = atan((double)slope) / 2.0;
    const cairn_quat turn = {.z = (float)sin(half), .w = (float)cos(half)};
    body[0].rotation = body[1].rotation = turn;
    body[0].position = quat_rotate(turn, vec3(0.0f, 0.2f, 0.0f));
    shape[0].half_extents = vec3(0.5f, 0.2f, 0.5f);
    shape[0].friction = box_friction;
    body[1].kind = CAIRN_BODY_STATIC;
    shape[1].kind = CAIRN_SHAPE_HALF_SPACE;
    shape[1].friction = ground_friction;
    const size_t first = ground_first ? 1 : 0;
    cairn_body_id ids[2];
    ids[first] = kit_body(world, &body[first], &shape[first]);
    ids[1 - first] = kit_body(world, &body[1 - first], &shape[1 - first]);
    kit_run(world, 60);
    return vec3_distance(kit_read(world, ids[0]).position, body[0].position);
}

TEST("two surfaces have the geometric mean of their frictions") {
    static const struct {
        float a, b, mean;
    } rows[] = {{0.2f, 0.8f, 0.4f}, {0.1f, 0.9f, 0.3f}, {0.5f, 0.5f, 0.5f}, {0.0f, 1.0f, 0.0f}};
    for (size_t i = 0; i < 8 * sizeof rows / sizeof rows[0]; ++i) {
        const float mean = rows[i / 8].mean;
        const float a = (i & 1u) != 0 ? rows[i / 8].a : rows[i / 8].b;
        const float b = (i & 1u) != 0 ? rows[i / 8].b : rows[i / 8].a;
        const bool ground_first = (i & 2u) != 0;
        const uint32_t solver = (i & 4u) != 0 ? CAIRN_SOLVER_PGS : CAIRN_SOLVER_SOFT_STEP;
        const float slope = mean + 0.05f;
        const float cosine = 1.0f / sqrtf(1.0f + slope * slope);
        EXPECT_MEASURED(slide(solver, slope, a, b, ground_first),
            0.5f * GRAVITY * (slope - mean) * cosine, 0.015f);
        if (mean > 0.05f) {
            assert_true(slide(solver, mean - 0.05f, a, b, ground_first) < 0.005f);
        }
    }
}

// Friction is the same in every direction and has the direction of the motion: a box that is thrown
// along the ground stops after v^2 / (2 mu g), straight ahead, however it is turned.
TEST("friction acts against the motion, in every direction alike") {
    for (uint32_t i = 0; i < 2 * 12; ++i) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = i % 2;
        SCOPED(cairn_world) *world = kit_world(&def);
        cairn_body_def body = cairn_body_def_default();
        cairn_shape_def shape = cairn_shape_def_default();
        const float angle = 0.2617994f * (float)(i / 2); // 15 degrees
        const cairn_vec3 ahead = vec3(cosf(angle), 0.0f, sinf(angle));
        kit_ground(world);
        shape.half_extents = vec3(0.5f, 0.1f, 0.5f);
        shape.friction = 0.5f;
        body.position.y = 0.1f;
        body.linear_velocity = vec3_scale(ahead, 4.0f);
        const cairn_body_id box = kit_body(world, &body, &shape);
        kit_run(world, 90);
        const cairn_vec3 slid = kit_read(world, box).position;
        const float wanted = 16.0f / (2.0f * sqrtf(0.5f * 0.5f) * GRAVITY);
        // The ground of the kit has the default friction, which is the box's.
        EXPECT_MEASURED(vec3_dot(slid, ahead), wanted, 0.03f * wanted);
        EXPECT_MEASURED(slid.x * ahead.z - slid.z * ahead.x, 0.0f, 0.02f);
    }
}

// A cube that spins about the vertical rests on its four corners at distance r = sqrt(2) a, a half
// of its width. Friction mu m g there has the torque mu m g r, against the inertia 2/3 m a^2.
TEST("friction stops the spin of a cube at the rate of its four corners") {
    FOR_BOTH_SOLVERS(solver) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = solver;
        SCOPED(cairn_world) *world = kit_world(&def);
        kit_ground(world);
        const cairn_body_id cube = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
        kit_run(world, 30);
        EXPECT_OK(cairn_body_set_velocity(world, cube, vec3_zero(), vec3(0.0f, 20.0f, 0.0f)));
        kit_run(world, 30);
        const float slowed = 20.0f - kit_read(world, cube).angular_velocity.y;
        const float rate = 0.5f * GRAVITY * 1.41421356f * 0.5f / (2.0f / 3.0f * 0.25f);
        EXPECT_MEASURED(slowed, 0.5f * rate, 0.08f * 0.5f * rate);
        kit_run(world, 60);
        assert_true(fabsf(kit_read(world, cube).angular_velocity.y) < 0.01f);
    }
}

// A ball touches the ground in one point, which has no lever arm against its spin.
TEST("a ball keeps its spin about the vertical") {
    FOR_BOTH_SOLVERS(solver) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = solver;
        SCOPED(cairn_world) *world = kit_world(&def);
        kit_ground(world);
        const cairn_body_id ball = kit_sphere(world, vec3(0.0f, 0.5f, 0.0f), 0.5f);
        EXPECT_OK(cairn_body_set_velocity(world, ball, vec3_zero(), vec3(0.0f, 5.0f, 0.0f)));
        kit_run(world, 300);
        EXPECT_MEASURED(kit_read(world, ball).angular_velocity.y, 5.0f, 0.01f);
        assert_int_equal(kit_read(world, ball).awake, 1); // spin alone keeps a body awake
    }
}

TEST("a body falls with gravity times its scale") {
    static const float scales[] = {0.0f, 0.5f, 1.0f, 2.0f, -1.0f};
    for (size_t i = 0; i < 2 * sizeof scales / sizeof scales[0]; ++i) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = i % 2;
        SCOPED(cairn_world) *world = kit_world(&def);
        cairn_body_def body = cairn_body_def_default();
        body.gravity_scale = scales[i / 2];
        const cairn_body_id cube = kit_body(world, &body, NULL);
        kit_run(world, 60);
        const cairn_body_state now = kit_read(world, cube);
        EXPECT_MEASURED(now.linear_velocity.y, -GRAVITY * scales[i / 2], 1e-3f);
        // Semi-implicit Euler falls g h t / 2 further than g t^2 / 2.
        EXPECT_MEASURED(now.position.y, -0.5f * GRAVITY * scales[i / 2],
            0.5f * GRAVITY * fabsf(scales[i / 2]) / 60.0f + 1e-3f);
    }
}

// A body that is spawned inside another is pushed out at 3 m/s, and no speed is left when it is.
TEST("overlap pushes two bodies apart at three metres per second at most") {
    FOR_BOTH_SOLVERS(solver) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = solver;
        def.gravity = vec3_zero();
        SCOPED(cairn_world) *world = kit_world(&def);
        kit_ground(world);
        const cairn_body_id cube = kit_cube(world, vec3(0.0f, 0.1f, 0.0f));
        float last = 0.1f;
        for (uint32_t tick = 0; tick < 120; ++tick) {
            kit_run(world, 1);
            const float y = kit_read(world, cube).position.y;
            assert_true(y - last <= 3.01f / 60.0f);
            last = y;
        }
        assert_true(last > 0.48f && last < (solver == CAIRN_SOLVER_PGS ? 8.0f : 0.52f));
    }
}
