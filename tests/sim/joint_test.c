// SPDX-License-Identifier: MIT
// Hinges and cones in both solvers: which motion they allow and which they prevent.

#include "tests/sim/world_kit.h"

#include <math.h>
#include <string.h>

#include "sim/debug/poison.h"
#include "sim/state/world.h"

static const cairn_vec3 X = {1.0f, 0.0f, 0.0f};
static const cairn_vec3 Y = {0.0f, 1.0f, 0.0f};
static const cairn_vec3 Z = {0.0f, 0.0f, 1.0f};

static cairn_world *solved_by(uint32_t solver) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    def.sleep = 0;
    return kit_world(&def);
}

static cairn_body_id add_anchor(cairn_world *world) {
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id body = 0;
    def.kind = CAIRN_BODY_STATIC;
    EXPECT_OK(cairn_body_create(world, &def, &body));
    return body;
}

// A joint at the origin between two bodies that are not turned.
static cairn_joint_def joint_at_origin(const cairn_world *world, uint32_t kind, cairn_body_id a,
    cairn_body_id b, cairn_vec3 axis, cairn_vec3 normal) {
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kind;
    def.body_a = a;
    def.body_b = b;
    def.anchor_a = vec3_negate(kit_read(world, a).position);
    def.anchor_b = vec3_negate(kit_read(world, b).position);
    def.axis_a = axis;
    def.axis_b = axis;
    def.normal_a = normal;
    def.normal_b = normal;
    return def;
}

// The extremes of a joint's angles and error while the world ran; NO_EXTREMES before.
typedef struct extremes {
    float least_twist;
    float most_twist;
    float most_swing;
    float most_error; // m
} extremes;

#define NO_EXTREMES                                                                                \
    { .least_twist = 10.0f, .most_twist = -10.0f }

static void watch(cairn_world *world, cairn_joint_id joint, uint32_t ticks, extremes *seen) {
    for (uint32_t i = 0; i < ticks; ++i) {
        float error = 0.0f;
        cairn_joint_angles now;
        kit_run(world, 1);
        EXPECT_OK(cairn_joint_angles_read(world, joint, &now));
        EXPECT_OK(cairn_joint_error(world, joint, &error));
        seen->least_twist = float_min(seen->least_twist, now.twist);
        seen->most_twist = float_max(seen->most_twist, now.twist);
        seen->most_swing = float_max(seen->most_swing, now.swing);
        seen->most_error = float_max(seen->most_error, error);
    }
}

#define FOR_BOTH_SOLVERS(solver)                                                                   \
    for (uint32_t solver = CAIRN_SOLVER_SOFT_STEP; solver <= CAIRN_SOLVER_PGS; ++solver)

TEST("a door stops at its limits") {
    FOR_BOTH_SOLVERS(solver) {
        for (uint32_t side = 0; side < 2; ++side) {
            cairn_world_def undamped = cairn_world_def_default();
            undamped.solver = solver;
            undamped.sleep = 0;
            undamped.limit_damping = 0.0f;
            SCOPED(cairn_world) *world = kit_world(&undamped);
            const cairn_body_id frame = add_anchor(world);
            const cairn_body_id door =
                kit_box(world, vec3(0.5f, 0.0f, 0.0f), vec3(0.45f, 1.0f, 0.03f), 500.0f);
            cairn_joint_def def = joint_at_origin(world, CAIRN_JOINT_HINGE, frame, door, Y, X);
            def.limited = 1;
            def.lower = -0.25f;
            def.upper = 1.5f;
            const cairn_joint_id hinge = kit_joint(world, &def);
            const float spin = side == 0 ? 8.0f : -8.0f;
            // Of the origin, so that the door turns about the hinge from the start.
            EXPECT_OK(cairn_body_set_velocity(
                world, door, vec3(0.0f, 0.0f, -0.5f * spin), vec3(0.0f, spin, 0.0f)));
            extremes seen = NO_EXTREMES;
            watch(world, hinge, 60, &seen);
            if (side == 0) {
                assert_float_equal(seen.most_twist, 1.5f, 0.02f);
            } else {
                assert_float_equal(seen.least_twist, -0.25f, 0.02f);
            }
            assert_true(seen.most_swing < 0.01f);
            // The PGS solver solves one row at a time, and the door bounces a little.
            const bool pgs = solver == CAIRN_SOLVER_PGS;
            const float spin_left = vec3_length(kit_read(world, door).angular_velocity);
            assert_true(seen.most_error < (pgs ? 0.05f : 0.01f));
            assert_true(spin_left < (pgs ? 1.0f : 0.001f));
        }
    }
}

TEST("a trapdoor at its limit carries a weight") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = solved_by(solver);
        const cairn_body_id frame = add_anchor(world);
        const cairn_body_id flap =
            kit_box(world, vec3(0.5f, 0.0f, 0.0f), vec3(0.45f, 0.05f, 0.45f), 500.0f);
        cairn_shape_def load = cairn_shape_def_default();
        load.half_extents = vec3(0.2f, 0.2f, 0.2f);
        load.density = 2000.0f;
        load.friction = 0.9f;
        const cairn_body_id weight = kit_drop(world, vec3(0.7f, 0.25f, 0.0f), &load);
        // Falling, the flap turns about z from +x to -y: the angle shrinks.
        cairn_joint_def def = joint_at_origin(world, CAIRN_JOINT_HINGE, frame, flap, Z, X);
        def.limited = 1;
        def.lower = -0.1f;
        def.upper = 1.0f;
        const cairn_joint_id hinge = kit_joint(world, &def);
        kit_run(world, 60);
        extremes seen = NO_EXTREMES;
        watch(world, hinge, 120, &seen);
        assert_float_equal(seen.least_twist, -0.1f, 0.01f);
        assert_float_equal(seen.most_twist, -0.1f, 0.01f);
        assert_true(kit_read(world, weight).position.y > 0.1f);
        assert_true(vec3_length(kit_read(world, flap).angular_velocity) <
                    (solver == CAIRN_SOLVER_PGS ? 0.1f : 0.004f));
    }
}

TEST("a pendulum on a hinge stays in its plane") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = solved_by(solver);
        const cairn_body_id hook = add_anchor(world);
        const cairn_body_id bob =
            kit_box(world, vec3(1.0f, 0.0f, 0.0f), vec3(0.9f, 0.05f, 0.1f), 1000.0f);
        const cairn_joint_def def = joint_at_origin(world, CAIRN_JOINT_HINGE, hook, bob, Z, X);
        const cairn_joint_id hinge = kit_joint(world, &def);
        const cairn_vec3 aside =
            vec3_scale(vec3(0.3f, -0.2f, 1.0f), 2.0f * cairn_body_mass(world, bob));
        EXPECT_OK(cairn_body_apply_impulse(world, bob, aside, vec3(1.8f, 0.05f, 0.1f)));
        extremes seen = NO_EXTREMES;
        float off = 0.0f;
        for (uint32_t i = 0; i < 600; ++i) {
            watch(world, hinge, 1, &seen);
            off = float_max(off, float_abs(kit_read(world, bob).position.z));
        }
        assert_true(seen.most_swing < 0.01f);
        assert_true(off < 0.01f);
        assert_true(seen.least_twist < -1.5f); // and it does swing
    }
}

TEST("a hinge between tumbling bodies keeps its axes together") {
    FOR_BOTH_SOLVERS(solver) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = solver;
        def.gravity = vec3_zero();
        SCOPED(cairn_world) *world = kit_world(&def);
        const cairn_vec3 half = vec3(0.3f, 0.1f, 0.2f);
        const cairn_body_id a = kit_box(world, vec3(-0.4f, 0.0f, 0.0f), half, 1000.0f);
        const cairn_body_id b = kit_box(world, vec3(0.4f, 0.0f, 0.0f), half, 1000.0f);
        const cairn_joint_def joint = joint_at_origin(world, CAIRN_JOINT_HINGE, a, b, Z, X);
        const cairn_joint_id hinge = kit_joint(world, &joint);
        EXPECT_OK(cairn_body_set_velocity(world, a, vec3_zero(), vec3(1.0f, 3.0f, 2.0f)));
        EXPECT_OK(cairn_body_set_velocity(world, b, vec3_zero(), vec3(1.0f, 3.0f, -6.0f)));
        extremes seen = NO_EXTREMES;
        watch(world, hinge, 240, &seen);
        assert_true(seen.most_swing < (solver == CAIRN_SOLVER_PGS ? 0.1f : 0.02f));
        assert_true(seen.most_error < (solver == CAIRN_SOLVER_PGS ? 0.1f : 0.01f));
        // Impulses and torques come in pairs: the sum of momenta stays what it was.
        const cairn_vec3 sum =
            vec3_add(kit_read(world, a).linear_velocity, kit_read(world, b).linear_velocity);
        assert_true(vec3_length(sum) < 1e-3f);
    }
}

// An arm along its axis from a joint at the origin.
static cairn_body_id add_arm(cairn_world *world, cairn_vec3 axis) {
    const cairn_vec3 half = vec3_add(vec3(0.05f, 0.05f, 0.05f), vec3_scale(vec3_abs(axis), 0.45f));
    return kit_box(world, vec3_scale(axis, 0.5f), half, 1000.0f);
}

// The def of a joint at the origin between a static body and a new arm, which is its body_b.
static cairn_joint_def arm_on_anchor(
    cairn_world *world, uint32_t kind, cairn_vec3 along, cairn_vec3 axis, cairn_vec3 normal) {
    const cairn_body_id anchor = add_anchor(world);
    return joint_at_origin(world, kind, anchor, add_arm(world, along), axis, normal);
}

TEST("an arm stays in its cone") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = solved_by(solver);
        cairn_joint_def def = arm_on_anchor(world, CAIRN_JOINT_CONE, X, X, Y);
        def.cone = 0.4f;
        const cairn_joint_id cone = kit_joint(world, &def);
        // Gravity pulls the arm onto the edge of the cone, and the arm circles along it.
        EXPECT_OK(cairn_body_apply_impulse(world, def.body_b, vec3(0.0f, 0.0f, 25.0f), X));
        extremes seen = NO_EXTREMES;
        watch(world, cone, 300, &seen);
        assert_true(seen.most_swing < 0.4f + 0.02f);
        assert_true(seen.most_swing > 0.4f - 0.001f);
        assert_true(seen.most_error < 0.01f);
    }
}

TEST("an arm rests on its cone") {
    FOR_BOTH_SOLVERS(solver) {
        for (uint32_t i = 0; i < 2; ++i) {
            const float widest = i == 0 ? 0.3f : 0.0f;
            SCOPED(cairn_world) *world = solved_by(solver);
            cairn_joint_def def = arm_on_anchor(world, CAIRN_JOINT_CONE, X, X, Y);
            def.cone = widest;
            const cairn_joint_id cone = kit_joint(world, &def);
            kit_run(world, 60);
            extremes seen = NO_EXTREMES;
            watch(world, cone, 60, &seen);
            assert_float_equal(seen.most_swing, widest, 0.01f);
            assert_true(vec3_length(kit_read(world, def.body_b).linear_velocity) < 0.02f);
        }
    }
}

TEST("a twist stops at its limits at any swing") {
    FOR_BOTH_SOLVERS(solver) {
        for (uint32_t side = 0; side < 2; ++side) {
            SCOPED(cairn_world) *world = solved_by(solver);
            cairn_joint_def def =
                arm_on_anchor(world, CAIRN_JOINT_CONE, vec3_negate(Y), vec3_negate(Y), X);
            def.cone = 2.0f;
            def.limited = 1;
            def.lower = -0.2f;
            def.upper = 0.5f;
            const cairn_joint_id cone = kit_joint(world, &def);
            const float torque = side == 0 ? -2.0f : 2.0f; // about y, while the axis is -y
            EXPECT_OK(cairn_body_apply_impulse(
                world, def.body_b, vec3(20.0f, 0.0f, 0.0f), vec3(0.0f, -1.0f, 0.0f)));
            extremes seen = NO_EXTREMES;
            for (uint32_t k = 0; k < 240; ++k) {
                EXPECT_OK(cairn_body_apply_force(
                    world, def.body_b, vec3_zero(), vec3(0.0f, torque, 0.0f)));
                watch(world, cone, 1, &seen);
            }
            if (side == 0) {
                assert_float_equal(seen.most_twist, 0.5f, 0.03f);
            } else {
                assert_float_equal(seen.least_twist, -0.2f, 0.03f);
            }
            assert_true(seen.most_swing > 0.5f);
        }
    }
}

TEST("equal limits fix the angle") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = solved_by(solver);
        cairn_joint_def def = arm_on_anchor(world, CAIRN_JOINT_HINGE, X, Z, X);
        def.limited = 1;
        const cairn_joint_id hinge = kit_joint(world, &def);
        extremes seen = NO_EXTREMES;
        watch(world, hinge, 120, &seen);
        assert_true(seen.least_twist > -0.01f && seen.most_twist < 0.01f);
    }
}

TEST("the angles of a joint are those of its axes") {
    static const struct {
        cairn_vec3 axis; // of the turn of b
        float angle;
        float swing;
        float twist;
    } cases[] = {{{1.0f, 0.0f, 0.0f}, 0.7f, 0.0f, 0.7f}, {{1.0f, 0.0f, 0.0f}, -2.9f, 0.0f, -2.9f},
        {{0.0f, 1.0f, 0.0f}, 1.1f, 1.1f, 0.0f}, {{0.0f, 0.6f, 0.8f}, 2.5f, 2.5f, 0.0f},
        {{0.57735027f, 0.57735027f, 0.57735027f}, 2.0943951f, 1.5707963f, 1.5707963f}};
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_joint_def def = arm_on_anchor(world, CAIRN_JOINT_CONE, X, X, Y);
    const cairn_joint_id cone = kit_joint(world, &def);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const float half = 0.5f * cases[i].angle;
        const cairn_vec3 v = vec3_scale(cases[i].axis, sinf(half));
        const cairn_pose pose = {.rotation = {.x = v.x, .y = v.y, .z = v.z, .w = cosf(half)}};
        EXPECT_OK(cairn_body_set_pose(world, def.body_b, pose));
        cairn_joint_angles now;
        EXPECT_OK(cairn_joint_angles_read(world, cone, &now));
        assert_float_equal(now.swing, cases[i].swing, 2e-6f);
        assert_float_equal(now.twist, cases[i].twist, 2e-6f);
    }
}

TEST("only joints with axes have angles") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_joint_def def = arm_on_anchor(world, CAIRN_JOINT_BALL, X, X, Y);
    const cairn_joint_id ball = kit_joint(world, &def);
    cairn_joint_angles out = {.swing = 1.0f};
    assert_int_equal(cairn_joint_angles_read(world, ball, &out), CAIRN_INVALID_ARGUMENT);
    assert_true(out.swing == 0.0f);
    assert_int_equal(cairn_joint_angles_read(world, ball + 1, &out), CAIRN_NOT_FOUND);
}

// A value of one field, and the status of a joint with it.
typedef struct def_case {
    const char *name;
    size_t offset;
    float value;
    cairn_status status;
} def_case;

#define FIELD(member) #member, offsetof(cairn_joint_def, member)

TEST("a joint with one bad field is refused") {
    static const def_case cases[] = {
        {FIELD(cone), 0.0f, CAIRN_OK},
        {FIELD(cone), 3.2f, CAIRN_INVALID_ARGUMENT},
        {FIELD(cone), -0.1f, CAIRN_INVALID_ARGUMENT},
        {FIELD(cone), NAN, CAIRN_NON_FINITE},
        {FIELD(lower), 0.5f, CAIRN_OK},
        {FIELD(lower), 1.5f, CAIRN_INVALID_ARGUMENT}, // above `upper`
        {FIELD(lower), -3.2f, CAIRN_INVALID_ARGUMENT},
        {FIELD(lower), NAN, CAIRN_NON_FINITE},
        {FIELD(upper), 3.2f, CAIRN_INVALID_ARGUMENT},
        {FIELD(upper), INFINITY, CAIRN_NON_FINITE},
        {FIELD(axis_a.x), 1.05f, CAIRN_OK},
        {FIELD(axis_a.x), 1.2f, CAIRN_INVALID_ARGUMENT},
        {FIELD(axis_a.x), 0.0f, CAIRN_INVALID_ARGUMENT},
        {FIELD(axis_a.y), 0.05f, CAIRN_OK},
        {FIELD(axis_a.y), 0.3f, CAIRN_INVALID_ARGUMENT}, // no longer across the normal
        {FIELD(axis_b.z), NAN, CAIRN_NON_FINITE},
        {FIELD(axis_b.x), 0.5f, CAIRN_INVALID_ARGUMENT},
        {FIELD(normal_a.y), 0.8f, CAIRN_INVALID_ARGUMENT},
        {FIELD(normal_b.y), -INFINITY, CAIRN_NON_FINITE},
        {FIELD(normal_b.x), -0.2f, CAIRN_INVALID_ARGUMENT},
    };
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id a = add_anchor(world);
    const cairn_body_id b = add_arm(world, X);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        cairn_joint_def def = joint_at_origin(world, CAIRN_JOINT_CONE, a, b, X, Y);
        cairn_joint_id joint = 7;
        def.limited = 1;
        def.lower = -1.0f;
        def.upper = 1.0f;
        memcpy((char *)&def + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        const cairn_status status = cairn_joint_create(world, &def, &joint);
        if (status != cases[i].status) {
            fail_msg("%s = %g: status %d", cases[i].name, (double)cases[i].value, (int)status);
        }
        assert_true((joint != 0) == (status == CAIRN_OK));
        // Kinds without axes do not read them.
        def.kind = CAIRN_JOINT_BALL;
        EXPECT_OK(cairn_joint_create(world, &def, &joint));
    }
    cairn_joint_def def = joint_at_origin(world, CAIRN_JOINT_HINGE, a, b, X, Y);
    cairn_joint_id joint = 7;
    def.limited = 2;
    assert_int_equal(cairn_joint_create(world, &def, &joint), CAIRN_INVALID_ARGUMENT);
    def.limited = 1;
    def.kind = CAIRN_JOINT_ROW + 1;
    assert_int_equal(cairn_joint_create(world, &def, &joint), CAIRN_INVALID_ARGUMENT);
}

TEST("a joint is read back with the axes that the library uses") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_joint_def def = arm_on_anchor(world, CAIRN_JOINT_CONE, X, X, Y);
    cairn_joint_def read;
    def.axis_b = vec3(1.1f, 0.0f, 0.0f);
    def.normal_b = vec3(0.05f, 1.0f, 0.0f);
    def.cone = 0.5f;
    def.lower = -0.25f;
    def.upper = 0.75f;
    def.limited = 1;
    EXPECT_OK(cairn_joint_read(world, kit_joint(world, &def), &read));
    assert_true(read.axis_b.x == 1.0f && read.normal_b.x == 0.0f && read.normal_b.y == 1.0f);
    assert_true(read.cone == 0.5f && read.lower == -0.25f && read.upper == 0.75f);
    assert_int_equal(read.limited, 1);
    assert_true(read.length == 0.0f);
    def.kind = CAIRN_JOINT_BALL;
    EXPECT_OK(cairn_joint_read(world, kit_joint(world, &def), &read));
    assert_true(vec3_is_zero(read.axis_a) && read.upper == 0.0f && read.limited == 0);
}

// A tumbling chain with every kind of joint.
static cairn_world *chain_of_all_kinds(uint32_t solver) {
    cairn_world *world = solved_by(solver);
    cairn_body_id last = add_anchor(world);
    for (uint32_t i = 0; i < 11; ++i) {
        const cairn_vec3 at = vec3(0.3f + 0.6f * (float)i, 0.0f, 0.0f);
        const cairn_body_id next =
            kit_box(world, at, vec3(0.25f, 0.1f, 0.15f), 500.0f + 100.0f * (float)i);
        cairn_joint_def def = cairn_joint_def_default();
        def.kind = CAIRN_JOINT_BALL + i % 4;
        def.body_a = last;
        def.body_b = next;
        def.anchor_a = i == 0 ? vec3_zero() : vec3(0.3f, 0.0f, 0.0f);
        def.anchor_b = vec3(-0.3f, 0.0f, 0.0f);
        def.axis_a = def.axis_b = i % 8 == 2 ? Z : X;
        def.cone = 0.5f;
        def.lower = -0.3f;
        def.upper = 0.4f;
        def.limited = 1;
        (void)kit_joint(world, &def);
        last = next;
    }
    return world;
}

TEST("hinges and cones continue equally after a load and a decode") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = chain_of_all_kinds(solver);
        SCOPED(cairn_world) *loaded = chain_of_all_kinds(solver);
        SCOPED(cairn_world) *decoded = chain_of_all_kinds(solver);
        kit_run(world, 45);
        SCOPED(kit_bytes) saved = kit_save(world);
        SCOPED(kit_bytes) encoded = kit_encode(world);
        kit_run(loaded, 3);
        EXPECT_OK(cairn_world_load(loaded, saved.bytes, saved.size));
        EXPECT_OK(cairn_world_decode(decoded, encoded.bytes, encoded.size, NULL));
        cairn_world_poison(loaded, 0xff);
        for (uint32_t i = 0; i < 60; ++i) {
            kit_run(world, 1);
            kit_run(loaded, 1);
            kit_run(decoded, 1);
            assert_true(kit_equal(world, loaded));
            assert_true(kit_equal(world, decoded));
        }
    }
}

TEST("hinges and cones have the same bits at every SIMD width") {
    static const uint32_t widths[] = {0, 4, 8, 16}; // 0: the kernel of this CPU
    SCOPED(cairn_world) *narrow = chain_of_all_kinds(CAIRN_SOLVER_SOFT_STEP);
    EXPECT_OK(cairn_world_set_lanes(narrow, 1));
    kit_run(narrow, 60);
    for (uint32_t i = 0; i < 4; ++i) {
        SCOPED(cairn_world) *wide = chain_of_all_kinds(CAIRN_SOLVER_SOFT_STEP);
        if (cairn_world_set_lanes(wide, widths[i]) != CAIRN_OK) {
            assert_true(widths[i] > 4); // a CPU without the instructions
            continue;
        }
        kit_run(wide, 60);
        assert_true(kit_equal(narrow, wide));
    }
}
