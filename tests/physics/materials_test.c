// SPDX-License-Identifier: MIT
// Materials: how two surfaces become one contact, static and sliding friction, resistance to
// rolling and spinning, belts. Each case runs with both solvers.

#include "tests/physics/measured.h"
#include "tests/sim/world_kit.h"

#include <math.h>

#include <cairn/math.h>

#define GRAVITY 9.81f
#define STEP (1.0f / 60.0f)
#define EACH_SOLVER(solver) for (uint32_t solver = 0; solver < 2; ++solver)

static cairn_world *world_of(uint32_t solver) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    return kit_world(&def);
}

static cairn_body_id add(cairn_world *world, uint32_t kind, cairn_vec3 position,
    cairn_quat rotation, const cairn_shape_def *shape) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = kind;
    def.position = position;
    def.rotation = rotation;
    return kit_body(world, &def, shape);
}

// The upper side of a plane through the origin, which falls towards -x by this angle.
static cairn_shape_def plane_of(const cairn_material *material) {
    cairn_shape_def plane = cairn_shape_def_default();
    plane.kind = CAIRN_SHAPE_HALF_SPACE;
    plane.friction = material->friction;
    plane.static_friction = material->static_friction;
    plane.friction_combine = material->friction_combine;
    plane.surface_velocity = material->surface_velocity;
    plane.restitution = material->restitution;
    plane.restitution_combine = material->restitution_combine;
    return plane;
}

// ---- Combining

// A box that slides on the level slows by mu g: mu from how much it has lost after half a second.
static float measured_friction(
    uint32_t solver, float p, uint32_t mode_p, float q, uint32_t mode_q) {
    SCOPED(cairn_world) *world = world_of(solver);
    const cairn_material ground = {.friction = p, .friction_combine = mode_p};
    const cairn_shape_def plane = plane_of(&ground);
    (void)add(world, CAIRN_BODY_STATIC, vec3_zero(), quat_identity(), &plane);
    cairn_shape_def box = cairn_shape_def_default();
    box.half_extents = vec3(0.5f, 0.1f, 0.5f);
    box.friction = q;
    box.friction_combine = mode_q;
    const cairn_body_id body =
        add(world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 0.1f, 0.0f), quat_identity(), &box);
    kit_run(world, 10);
    EXPECT_OK(cairn_body_set_velocity(world, body, vec3(9.0f, 0.0f, 0.0f), vec3_zero()));
    kit_run(world, 30);
    return (9.0f - kit_read(world, body).linear_velocity.x) / (0.5f * GRAVITY);
}

TEST("frictions are combined by the stronger mode of the two shapes, whichever comes first") {
    static const struct {
        uint32_t p, q;
        float mean; // of 0.2 and 0.8
    } rows[] = {{CAIRN_COMBINE_USUAL, CAIRN_COMBINE_USUAL, 0.4f},
        {CAIRN_COMBINE_AVERAGE, CAIRN_COMBINE_USUAL, 0.5f},
        {CAIRN_COMBINE_MINIMUM, CAIRN_COMBINE_AVERAGE, 0.2f},
        {CAIRN_COMBINE_MULTIPLY, CAIRN_COMBINE_MINIMUM, 0.16f},
        {CAIRN_COMBINE_MAXIMUM, CAIRN_COMBINE_MULTIPLY, 0.8f}};
    EACH_SOLVER(solver) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
            const float wanted = rows[i].mean;
            EXPECT_MEASURED(
                measured_friction(solver, 0.2f, rows[i].p, 0.8f, rows[i].q), wanted, 0.01f);
            EXPECT_MEASURED(
                measured_friction(solver, 0.8f, rows[i].q, 0.2f, rows[i].p), wanted, 0.01f);
        }
    }
}

// A ball that falls from h climbs to e^2 h.
TEST("restitutions are combined by the stronger mode of the two shapes") {
    static const float wanted[] = {0.9f, 0.7f, 0.5f, 0.45f, 0.9f};
    EACH_SOLVER(solver) {
        for (uint32_t mode = 0; mode <= CAIRN_COMBINE_LAST; ++mode) {
            SCOPED(cairn_world) *world = world_of(solver);
            const cairn_material ground = {.restitution = 0.5f, .restitution_combine = mode};
            const cairn_shape_def plane = plane_of(&ground);
            (void)add(world, CAIRN_BODY_STATIC, vec3_zero(), quat_identity(), &plane);
            cairn_shape_def ball = cairn_shape_def_default();
            ball.kind = CAIRN_SHAPE_SPHERE;
            ball.restitution = 0.9f;
            const cairn_body_id body =
                add(world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 4.5f, 0.0f), quat_identity(), &ball);
            float fastest = 0.0f;
            for (int i = 0; i < 120; ++i) {
                kit_run(world, 1);
                fastest = float_max(fastest, kit_read(world, body).linear_velocity.y);
            }
            EXPECT_MEASURED(fastest / sqrtf(2.0f * GRAVITY * 4.0f), wanted[mode], 0.025f);
        }
    }
}

// ---- Static friction

// On a slope of tan = 0.5 between a static friction of 0.6 and a sliding one of 0.3, a box at rest
// stays, and one that was pushed slides with a = g (sin - 0.3 cos).
TEST("a slope holds by static friction and lets slide by the other") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver);
        const float angle = cairn_float_atan2(0.5f, 1.0f);
        const cairn_quat turn = cairn_quat_of_axis_angle(vec3(0.0f, 0.0f, 1.0f), angle);
        const cairn_vec3 down = quat_rotate(turn, vec3(-1.0f, 0.0f, 0.0f));
        const cairn_material material = {.friction = 0.3f, .static_friction = 0.6f};
        const cairn_shape_def plane = plane_of(&material);
        (void)add(world, CAIRN_BODY_STATIC, vec3_zero(), turn, &plane);
        cairn_shape_def box = cairn_shape_def_default();
        box.half_extents = vec3(0.5f, 0.1f, 0.5f);
        box.friction = material.friction;
        box.static_friction = material.static_friction;
        const cairn_vec3 start = quat_rotate(turn, vec3(0.0f, 0.1f, 0.0f));
        const cairn_vec3 beside = quat_rotate(turn, vec3(0.0f, 0.1f, 3.0f));
        const cairn_body_id held = add(world, CAIRN_BODY_DYNAMIC, start, turn, &box);
        const cairn_body_id pushed = add(world, CAIRN_BODY_DYNAMIC, beside, turn, &box);
        kit_run(world, 30);
        EXPECT_OK(cairn_body_set_velocity(world, pushed, vec3_scale(down, 0.5f), vec3_zero()));
        kit_run(world, 60);
        const float slid = vec3_dot(kit_read(world, pushed).linear_velocity, down);
        EXPECT_MEASURED(slid, 0.5f + GRAVITY * (sinf(angle) - 0.3f * cosf(angle)), 0.03f);
        assert_true(vec3_distance(kit_read(world, held).position, start) < 0.005f);
    }
}

// ---- Rolling and spinning

// The torque c N of a ball that rolls takes energy at the rate c m g w, of 0.7 m v^2: it stops
// after 0.7 v^2 r / (c g).
TEST("a ball rolls to rest after the distance that its resistance says") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver);
        kit_ground(world);
        cairn_shape_def ball = cairn_shape_def_default();
        ball.kind = CAIRN_SHAPE_SPHERE;
        ball.radius = 0.25f;
        ball.rolling_resistance = 0.01f;
        const cairn_body_id body =
            add(world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 0.25f, 0.0f), quat_identity(), &ball);
        EXPECT_OK(
            cairn_body_set_velocity(world, body, vec3(1.2f, 0.0f, 1.6f), vec3(6.4f, 0.0f, -4.8f)));
        kit_run(world, 600);
        const cairn_body_state state = kit_read(world, body);
        const float distance = 0.7f * 4.0f * 0.25f / (0.01f * GRAVITY);
        EXPECT_MEASURED(
            sqrtf(state.position.x * state.position.x + state.position.z * state.position.z),
            distance, 0.02f * distance);
        EXPECT_MEASURED(state.position.z, state.position.x * 4.0f / 3.0f, 0.02f);
        assert_true(vec3_length(state.linear_velocity) < 1e-3f);
        assert_int_equal(state.awake, 0);
    }
}

// On a slope whose tangent is less than c / r a ball stays, on a steeper one it rolls with
// a = 5/7 (g sin - c g cos / r).
TEST("a ball with resistance to rolling stays on a gentle slope") {
    EACH_SOLVER(solver) {
        for (int steep = 0; steep < 2; ++steep) {
            SCOPED(cairn_world) *world = world_of(solver);
            const float angle = steep != 0 ? 0.2f : 0.05f;
            const cairn_quat turn = cairn_quat_of_axis_angle(vec3(0.0f, 0.0f, 1.0f), angle);
            const cairn_material material = {.friction = 0.8f};
            const cairn_shape_def plane = plane_of(&material);
            (void)add(world, CAIRN_BODY_STATIC, vec3_zero(), turn, &plane);
            cairn_shape_def ball = cairn_shape_def_default();
            ball.kind = CAIRN_SHAPE_SPHERE;
            ball.rolling_resistance = 0.05f;
            const cairn_vec3 start = quat_rotate(turn, vec3(0.0f, 0.5f, 0.0f));
            const cairn_body_id body =
                add(world, CAIRN_BODY_DYNAMIC, start, quat_identity(), &ball);
            kit_run(world, 120);
            const float speed = vec3_length(kit_read(world, body).linear_velocity);
            const float rate = 5.0f / 7.0f * GRAVITY * (sinf(angle) - 0.1f * cosf(angle));
            if (steep != 0) {
                EXPECT_MEASURED(speed, 2.0f * rate, 0.03f * 2.0f * rate);
            } else {
                assert_true(vec3_distance(kit_read(world, body).position, start) < 0.02f);
            }
        }
    }
}

// A ball of inertia 0.4 m r^2 that spins about the vertical slows by c m g / I; a coin without
// friction, of inertia m (a^2 + a^2) / 3, likewise.
TEST("resistance to spinning slows a ball and a coin evenly") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver);
        kit_ground(world);
        cairn_shape_def ball = cairn_shape_def_default();
        ball.kind = CAIRN_SHAPE_SPHERE;
        ball.spin_resistance = 0.02f;
        cairn_shape_def coin = cairn_shape_def_default();
        coin.half_extents = vec3(0.4f, 0.05f, 0.4f);
        coin.friction = 0.0f;
        coin.spin_resistance = 0.02f;
        const cairn_body_id bodies[2] = {
            add(world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 0.5f, 0.0f), quat_identity(), &ball),
            add(world, CAIRN_BODY_DYNAMIC, vec3(4.0f, 0.05f, 0.0f), quat_identity(), &coin)};
        const float arm[2] = {0.4f * 0.25f, 2.0f / 3.0f * 0.16f}; // inertia / mass
        kit_run(world, 30);
        for (int i = 0; i < 2; ++i) {
            EXPECT_OK(
                cairn_body_set_velocity(world, bodies[i], vec3_zero(), vec3(0.0f, 10.0f, 0.0f)));
        }
        kit_run(world, 120);
        for (int i = 0; i < 2; ++i) {
            const float wanted = 10.0f - 2.0f * 0.02f * GRAVITY / arm[i];
            EXPECT_MEASURED(kit_read(world, bodies[i]).angular_velocity.y, wanted, 0.1f);
        }
        kit_run(world, 300);
        for (int i = 0; i < 2; ++i) {
            EXPECT_MEASURED(kit_read(world, bodies[i]).angular_velocity.y, 0.0f, 1e-3f);
        }
    }
}

// ---- Belts

// A box on a belt of speed v gains mu g until it has the speed of the belt, after v / (mu g); it
// then rests on it. On a body that turns, the belt turns with it.
TEST("a belt brings a box to its speed after v over mu g") {
    EACH_SOLVER(solver) {
        // The friction of the PGS solver is weaker, by a tenth, across the corners of its frame.
        for (int turned = 0; turned < (solver == CAIRN_SOLVER_PGS ? 1 : 2); ++turned) {
            SCOPED(cairn_world) *world = world_of(solver);
            const cairn_quat turn =
                cairn_quat_of_axis_angle(vec3(0.0f, 1.0f, 0.0f), 0.6f * (float)turned);
            const cairn_vec3 along = quat_rotate(turn, vec3(1.0f, 0.0f, 0.0f));
            cairn_shape_def belt = cairn_shape_def_default();
            belt.half_extents = vec3(20.0f, 0.5f, 2.0f);
            belt.friction = 0.3f;
            belt.surface_velocity = vec3(2.0f, 5.0f, 0.0f); // upwards is nothing
            (void)add(world, CAIRN_BODY_STATIC, vec3_zero(), turn, &belt);
            cairn_shape_def box = cairn_shape_def_default();
            box.half_extents = vec3(0.5f, 0.1f, 0.5f);
            box.friction = 0.3f;
            const cairn_body_id body =
                add(world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 0.6f, 0.0f), turn, &box);
            const float reached = 2.0f / (0.3f * GRAVITY);
            for (int i = 1; i <= 90; ++i) {
                kit_run(world, 1);
                const float time = (float)i * STEP;
                const float wanted = time < reached ? 0.3f * GRAVITY * time : 2.0f;
                EXPECT_MEASURED(
                    vec3_dot(kit_read(world, body).linear_velocity, along), wanted, 0.05f);
            }
            const cairn_vec3 end = kit_read(world, body).position;
            EXPECT_MEASURED(vec3_dot(end, along), 2.0f * 1.5f - 0.5f * 2.0f * reached, 0.05f);
            EXPECT_MEASURED(end.y, 0.6f, 0.01f);
            EXPECT_MEASURED(
                vec3_length(vec3_sub(end, vec3_scale(along, vec3_dot(end, along)))), 0.6f, 0.01f);
            assert_int_equal(kit_read(world, body).awake, 1);
        }
    }
}

// Two boxes on each other: the lower one, free to move, is itself a belt. Momentum is kept: m v of
// the upper is minus that of the lower, and their surfaces come to rest on each other.
TEST("a belt on a free body pushes back") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver);
        cairn_shape_def ice = cairn_shape_def_default();
        ice.kind = CAIRN_SHAPE_HALF_SPACE;
        ice.friction = 0.0f;
        (void)add(world, CAIRN_BODY_STATIC, vec3_zero(), quat_identity(), &ice);
        cairn_shape_def box = cairn_shape_def_default();
        box.half_extents = vec3(2.0f, 0.1f, 1.0f);
        box.surface_velocity = vec3(1.0f, 0.0f, 0.0f);
        const cairn_body_id lower =
            add(world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 0.1f, 0.0f), quat_identity(), &box);
        box.half_extents = vec3(0.5f, 0.1f, 0.5f);
        box.surface_velocity = vec3_zero();
        const cairn_body_id upper =
            add(world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 0.3f, 0.0f), quat_identity(), &box);
        kit_run(world, 60);
        const float low = kit_read(world, lower).linear_velocity.x;
        const float high = kit_read(world, upper).linear_velocity.x;
        EXPECT_MEASURED(high - low, 1.0f, 0.02f);
        EXPECT_MEASURED(
            low * cairn_body_mass(world, lower) + high * cairn_body_mass(world, upper), 0.0f, 1.0f);
    }
}

// ---- State

TEST("numbers out of range are refused") {
    SCOPED(cairn_world) *world = world_of(0);
    const cairn_body_id cube = kit_cube(world, vec3_zero());
    cairn_shape_id shape;
    assert_int_equal(cairn_body_shapes(world, cube, &shape, 1), 1);
    const cairn_material good = {.friction = 0.5f,
        .static_friction = 0.7f,
        .rolling_resistance = 0.1f,
        .surface_velocity = {1.0f, 2.0f, 3.0f}};
    cairn_material read;
    EXPECT_OK(cairn_shape_set_material(world, shape, &good));
    EXPECT_OK(cairn_shape_read_material(world, shape, &read));
    assert_memory_equal(&read, &good, sizeof good);
    cairn_material bad = good;
    bad.static_friction = 0.4f; // less than sliding
    assert_int_equal(cairn_shape_set_material(world, shape, &bad), CAIRN_INVALID_ARGUMENT);
    bad = good;
    bad.friction_combine = 5;
    assert_int_equal(cairn_shape_set_material(world, shape, &bad), CAIRN_INVALID_ARGUMENT);
    bad = good;
    bad.spin_resistance = -1.0f;
    assert_int_equal(cairn_shape_set_material(world, shape, &bad), CAIRN_INVALID_ARGUMENT);
    bad = good;
    bad.surface_velocity.y = NAN;
    assert_int_equal(cairn_shape_set_material(world, shape, &bad), CAIRN_NON_FINITE);
    assert_int_equal(cairn_shape_set_material(world, 77777, &good), CAIRN_NOT_FOUND);
}

// Balls and boxes of all materials on a belt, among others without: reloaded at every tick, and in
// vectors of another width.
TEST("a world of many materials continues alike after a load, and in every width") {
    EACH_SOLVER(solver) {
        SCOPED(cairn_world) *world = world_of(solver);
        cairn_shape_def belt = cairn_shape_def_default();
        belt.half_extents = vec3(6.0f, 0.5f, 6.0f);
        belt.surface_velocity = vec3(1.0f, 0.0f, 0.5f);
        (void)add(world, CAIRN_BODY_STATIC, vec3_zero(), quat_identity(), &belt);
        kit_ground(world);
        for (uint32_t i = 0; i < 40; ++i) {
            cairn_shape_def shape = cairn_shape_def_default();
            shape.kind = i % 2 == 0 ? CAIRN_SHAPE_SPHERE : CAIRN_SHAPE_BOX;
            shape.radius = 0.3f;
            shape.half_extents = vec3(0.3f, 0.2f, 0.3f);
            shape.rolling_resistance = i % 3 == 0 ? 0.02f : 0.0f;
            shape.spin_resistance = i % 5 == 0 ? 0.02f : 0.0f;
            shape.static_friction = i % 7 == 0 ? 0.9f : 0.0f;
            shape.friction_combine = i % 3 == 0 ? i % 5 : 0;
            (void)add(world, CAIRN_BODY_DYNAMIC,
                vec3(1.1f * (float)(i % 5) - 2.0f, 1.0f + 0.7f * (float)(i / 5), 0.1f * (float)i),
                quat_identity(), &shape);
        }
        SCOPED(cairn_world) *twin = kit_fork(world);
        SCOPED(cairn_world) *narrow = kit_fork(world);
        EXPECT_OK(cairn_world_set_lanes(narrow, 1));
        for (int tick = 0; tick < 150; ++tick) {
            kit_step_beside_reloaded(world, twin);
            kit_run(narrow, 1);
            assert_true(kit_equal(world, narrow));
        }
    }
}
