// SPDX-License-Identifier: MIT
// Vectors, rotations and matrices; rotations packed into two words; the stated errors of
// sim/math/trig.h, compared with the C library in double precision.

#include <math.h>

#include "sim/math/grid.h"
#include "sim/math/packed_rotation.h"
#include "sim/math/rotation.h"
#include "tests/sim/geometry_kit.h"

enum { ROUNDS = 2000 };

static void expect_near_vec3(cairn_vec3 actual, cairn_vec3 expected, float tolerance) {
    EXPECT_NEAR(actual.x, expected.x, tolerance);
    EXPECT_NEAR(actual.y, expected.y, tolerance);
    EXPECT_NEAR(actual.z, expected.z, tolerance);
}

TEST("whether a float is finite follows from its bits") {
    static const struct {
        uint32_t bits;
        bool finite;
    } cases[] = {
        {0x00000000u, true},  // 0
        {0x80000000u, true},  // -0
        {0x00000001u, true},  // the smallest subnormal
        {0x7f7fffffu, true},  // the largest float
        {0xff7fffffu, true},  // its negative
        {0x7f800000u, false}, // infinity
        {0xff800000u, false}, // -infinity
        {0x7f800001u, false}, // a signalling NaN
        {0xffc00000u, false}, // a quiet NaN
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        assert_int_equal(float_finite(float_of_bits(cases[i].bits)), cases[i].finite);
    }
}

TEST("clean, abs and normalize return no negative zero") {
    const float zero = float_of_bits(0x80000000u);
    const cairn_vec3 cleaned = vec3_clean(vec3(zero, zero, zero));
    assert_int_equal(float_bits(cleaned.x) | float_bits(cleaned.y) | float_bits(cleaned.z), 0);
    assert_int_equal(float_bits(float_abs(zero)), 0);
    const cairn_vec3 negated = vec3_negate(vec3_zero());
    assert_int_equal(float_bits(negated.x) | float_bits(negated.y) | float_bits(negated.z), 0);
    const cairn_quat q = quat_normalize((cairn_quat){.x = zero, .y = zero, .z = zero, .w = 2.0f});
    assert_int_equal(float_bits(q.x) | float_bits(q.y) | float_bits(q.z), 0);
}

TEST("a vector without a direction normalizes to the fallback") {
    const cairn_vec3 fallback = vec3(0.0f, 1.0f, 0.0f);
    const float infinity = float_of_bits(0x7f800000u);
    const float nan = float_of_bits(0x7fc00000u);
    const cairn_vec3 without[] = {vec3_zero(), vec3(1e-20f, 0.0f, 0.0f), vec3(infinity, 0.0f, 0.0f),
        vec3(0.0f, nan, 0.0f), vec3(3e38f, 3e38f, 0.0f)};
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); ++i) {
        expect_near_vec3(vec3_normalize(without[i], fallback), fallback, 0.0f);
    }
    expect_near_vec3(vec3_normalize(vec3(1e-10f, 0.0f, 0.0f), fallback), vec3(1, 0, 0), 1e-6f);
    expect_near_vec3(vec3_normalize(vec3(0.0f, 0.0f, -1e18f), fallback), vec3(0, 0, -1), 1e-6f);
}

TEST("tangents are orthonormal and right handed") {
    cairn_random random = cairn_random_of(1);
    for (int i = 0; i < ROUNDS; ++i) {
        const cairn_vec3 n = vec3_normalize(random_vec3(&random, 1.0f), vec3(1, 0, 0));
        cairn_vec3 first = vec3_zero();
        cairn_vec3 second = vec3_zero();
        vec3_tangents(n, &first, &second);
        EXPECT_NEAR(vec3_length(first), 1.0f, 1e-6f);
        EXPECT_NEAR(vec3_dot(first, n), 0.0f, 1e-6f);
        expect_near_vec3(vec3_cross(first, second), n, 1e-6f);
    }
}

TEST("rotation by quaternion and by matrix agree") {
    cairn_random random = cairn_random_of(2);
    for (int i = 0; i < ROUNDS; ++i) {
        const cairn_quat a = random_quat(&random);
        const cairn_quat b = random_quat(&random);
        const cairn_vec3 v = random_vec3(&random, 5.0f);
        expect_near_vec3(mat3_apply(mat3_of_quat(a), v), quat_rotate(a, v), 1e-5f);
        expect_near_vec3(quat_rotate_inverse(a, quat_rotate(a, v)), v, 1e-5f);
        expect_near_vec3(
            mat3_apply_transposed(mat3_of_quat(a), v), quat_rotate_inverse(a, v), 1e-5f);
        const cairn_mat3 product = mat3_multiply(mat3_of_quat(a), mat3_of_quat(b));
        expect_near_vec3(quat_rotate(quat_multiply(a, b), v), mat3_apply(product, v), 2e-5f);
        expect_near_vec3(
            mat3_column(product, 1), quat_rotate(quat_multiply(a, b), vec3(0, 1, 0)), 1e-5f);
    }
}

TEST("a quarter turn about y takes z to x") {
    const float half = 0.70710678f;
    const cairn_quat turn = {.x = 0.0f, .y = half, .z = 0.0f, .w = half};
    expect_near_vec3(quat_rotate(turn, vec3(0, 0, 1)), vec3(1, 0, 0), 1e-6f);
    expect_near_vec3(mat3_apply(mat3_of_quat(turn), vec3(1, 0, 0)), vec3(0, 0, -1), 1e-6f);
}

TEST("poses compose and invert") {
    cairn_random random = cairn_random_of(3);
    for (int i = 0; i < ROUNDS; ++i) {
        const cairn_pose a = random_pose(&random, 10.0f);
        const cairn_pose b = random_pose(&random, 10.0f);
        const cairn_vec3 p = random_vec3(&random, 5.0f);
        const cairn_vec3 both = pose_apply(a, pose_apply(b, p));
        expect_near_vec3(pose_apply(pose_multiply(a, b), p), both, 4e-5f);
        expect_near_vec3(pose_apply_inverse(a, pose_apply(a, p)), p, 4e-5f);
        expect_near_vec3(pose_apply(pose_inverse(a), pose_apply(a, p)), p, 4e-5f);
    }
}

TEST("one second of integration rotates by the angular velocity") {
    cairn_quat q = quat_identity();
    for (int i = 0; i < 1000; ++i) {
        q = quat_integrate(q, vec3(0.0f, 1.57079633f, 0.0f), 0.001f);
    }
    expect_near_vec3(quat_rotate(q, vec3(0, 0, 1)), vec3(1, 0, 0), 1e-4f);
    const cairn_quat small = quat_of_small_angle(vec3(0.0f, 0.01f, 0.0f));
    expect_near_vec3(quat_rotate(small, vec3(0, 0, 1)), vec3(0.00999983f, 0, 0.99995f), 1e-6f);
}

TEST("the rotation by a vector is right at any angle") {
    cairn_random random = cairn_random_of(14);
    for (int i = 0; i < ROUNDS; ++i) {
        const float size = i < 500 ? 1e-3f : i < 1000 ? 1.0f : i < 1500 ? 30.0f : 1e3f;
        const cairn_vec3 v = random_vec3(&random, size);
        const double x = (double)v.x;
        const double y = (double)v.y;
        const double z = (double)v.z;
        const double angle = sqrt(x * x + y * y + z * z);
        const double sine = angle > 0.0 ? sin(0.5 * angle) / angle : 0.5;
        const double side = cos(0.5 * angle) < 0.0 ? -1.0 : 1.0;
        const cairn_quat q = quat_of_vector(v);
        const double within = 5e-7 + 1e-7 * angle;
        assert_true(q.w >= 0.0f);
        EXPECT_NEAR(q.w, side * cos(0.5 * angle), within);
        EXPECT_NEAR(q.x, side * sine * x, within);
        EXPECT_NEAR(q.y, side * sine * y, within);
        EXPECT_NEAR(q.z, side * sine * z, within);
        const cairn_vec3 back = vector_of_quat(q);
        const double turns = angle > 0.0 ? round(angle / (2.0 * 3.141592653589793)) : 0.0;
        const double left = angle > 0.0 ? 1.0 - turns * 2.0 * 3.141592653589793 / angle : 1.0;
        EXPECT_NEAR(back.x, left * x, 2.0 * within + 1e-6);
        EXPECT_NEAR(back.y, left * y, 2.0 * within + 1e-6);
        EXPECT_NEAR(back.z, left * z, 2.0 * within + 1e-6);
    }
    const cairn_quat none = quat_of_vector(vec3_zero());
    assert_true(none.x == 0.0f && none.y == 0.0f && none.z == 0.0f && none.w == 1.0f);
}

TEST("integration keeps unit length at any angular velocity") {
    cairn_random random = cairn_random_of(4);
    cairn_quat q = quat_identity();
    for (int i = 0; i < ROUNDS; ++i) {
        q = quat_integrate(q, random_vec3(&random, 1e4f), 1.0f / 60.0f);
        EXPECT_NEAR(quat_length_squared(q), 1.0f, 1e-6f);
    }
}

TEST("inverses and solutions undo their matrices") {
    cairn_random random = cairn_random_of(5);
    for (int i = 0; i < ROUNDS; ++i) {
        const float a = random_between(&random, 0.5f, 4.0f);
        const float b = random_between(&random, 0.5f, 4.0f);
        const float c = random_between(&random, 0.5f, 4.0f);
        const cairn_mat3 r = mat3_of_quat(random_quat(&random));
        const cairn_sym3 m = sym3_rotate(sym3_diagonal(a, b, c), r);
        const cairn_vec3 v = random_vec3(&random, 2.0f);
        expect_near_vec3(sym3_apply(sym3_inverse(m), sym3_apply(m, v)), v, 2e-5f);
        expect_near_vec3(mat3_apply(sym3_full(m), v), sym3_apply(m, v), 1e-5f);
        const cairn_mat3 full = mat3_multiply(sym3_full(m), r);
        expect_near_vec3(mat3_solve(full, mat3_apply(full, v)), v, 5e-5f);
        expect_near_vec3(
            mat3_apply(mat3_transpose(full), v), mat3_apply_transposed(full, v), 1e-6f);
        // The principal axes of the rotated tensor are the columns of the rotation.
        const cairn_vec3 axis = mat3_column(r, 0);
        expect_near_vec3(sym3_apply(m, axis), vec3_scale(axis, a), 1e-5f);
    }
}

TEST("singular matrices give zero") {
    expect_near_vec3(sym3_apply(sym3_inverse(sym3_zero()), vec3(1, 2, 3)), vec3_zero(), 0.0f);
    const cairn_mat3 flat = {.x = vec3(1, 2, 3), .y = vec3(2, 4, 6), .z = vec3(0, 0, 1)};
    expect_near_vec3(mat3_solve(flat, vec3(1, 2, 3)), vec3_zero(), 0.0f);
}

TEST("the cross matrix is the cross product") {
    cairn_random random = cairn_random_of(6);
    for (int i = 0; i < ROUNDS; ++i) {
        const cairn_vec3 a = random_vec3(&random, 3.0f);
        const cairn_vec3 b = random_vec3(&random, 3.0f);
        expect_near_vec3(mat3_apply(mat3_cross(a), b), vec3_cross(a, b), 1e-6f);
        // Applied twice it is the negative of what the parallel axis theorem adds.
        const cairn_vec3 twice = vec3_cross(a, vec3_cross(a, b));
        expect_near_vec3(sym3_apply(sym3_parallel_axis(1.0f, a), b), vec3_negate(twice), 5e-5f);
    }
}

// Packed rotations

static void expect_survives_packing(cairn_quat q) {
    const cairn_quat other = packed_rotation_unpack(packed_rotation_pack(q, CAIRN_PACKED_FINE));
    // Twice the sine of half the angle between the two.
    assert_true(2.0f * vec3_length(quat_vector(quat_multiply(other, quat_conjugate(q)))) < 6e-6f);
}

TEST("a rotation survives packing to within the stated error") {
    cairn_random random = cairn_random_of(3);
    for (int i = 0; i < 20000; ++i) {
        expect_survives_packing(random_quat(&random));
    }
}

TEST("a coarse rotation is as near as stated, and has zeros where it is coarse") {
    cairn_random random = cairn_random_of(6);
    for (int i = 0; i < 20000; ++i) {
        const cairn_quat q = random_quat(&random);
        const cairn_packed_rotation packed = packed_rotation_pack(q, CAIRN_PACKED_COARSE);
        const cairn_quat other = packed_rotation_unpack(packed);
        const float off = vec3_length(quat_vector(quat_multiply(other, quat_conjugate(q))));
        assert_true(2.0f * off < 1e-4f);
        assert_int_equal(packed.words[1] & 0xfff3, 0);
    }
    // What does not turn is told exactly.
    const cairn_quat none =
        packed_rotation_unpack(packed_rotation_pack(quat_identity(), CAIRN_PACKED_COARSE));
    assert_true(none.x == 0.0f && none.y == 0.0f && none.z == 0.0f && none.w == 1.0f);
}

TEST("the grid has the nearest of its points, and leaves alone what is far away") {
    cairn_random random = cairn_random_of(7);
    for (int i = 0; i < 20000; ++i) {
        const float x = random_vec3(&random, 200.0f).x;
        const float on_grid = cairn_float_on_grid(x);
        const double steps = (double)on_grid * (double)CAIRN_GRID_PER_METRE;
        assert_true(steps == (double)(int64_t)steps);
        assert_true(fabs((double)on_grid - (double)x) <= 0.5 / (double)CAIRN_GRID_PER_METRE);
    }
    assert_int_equal(float_bits(cairn_float_on_grid(-1e-6f)), 0);
    assert_int_equal(float_bits(cairn_float_on_grid(-0.0f)), 0);
    assert_true(cairn_float_on_grid(1234.5678f) == 1234.5678f);
    assert_true(cairn_float_on_grid(-1e7f) == -1e7f);
}

// Half and quarter turns about every axis: components are equal or zero, or change their sign.
TEST("rotations with equal or zero components survive packing") {
    static const float parts[] = {0.0f, 1.0f, -1.0f, 1e-7f, -1e-7f};
    for (uint32_t i = 0; i < 625; ++i) {
        const cairn_quat raw = {
            .x = parts[i % 5], .y = parts[i / 5 % 5], .z = parts[i / 25 % 5], .w = parts[i / 125]};
        if (quat_length_squared(raw) > 0.5f) {
            const cairn_quat q = quat_normalize(raw);
            assert_false(packed_rotation_is_none(packed_rotation_pack(q, CAIRN_PACKED_FINE)));
            expect_survives_packing(q);
        }
    }
}

TEST("both quaternions of a rotation pack to the same words") {
    cairn_random random = cairn_random_of(4);
    for (int i = 0; i < 1000; ++i) {
        const cairn_quat q = random_quat(&random);
        const cairn_quat other = {.x = -q.x, .y = -q.y, .z = -q.z, .w = -q.w};
        assert_memory_equal(packed_rotation_pack(q, CAIRN_PACKED_FINE).words,
            packed_rotation_pack(other, CAIRN_PACKED_FINE).words, sizeof(cairn_packed_rotation));
    }
}

TEST("any words unpack to a unit quaternion") {
    cairn_random random = cairn_random_of(5);
    for (int i = 0; i < 20000; ++i) {
        const uint64_t bits = cairn_random_next(&random);
        const cairn_packed_rotation turn = {.words = {(uint32_t)bits, (uint32_t)(bits >> 32)}};
        const float length = quat_length_squared(packed_rotation_unpack(turn));
        assert_true(length > 0.9999f && length < 1.0001f);
    }
}

// Trigonometry

#define POINTS 20000

static const double PI = 3.14159265358979323846;

TEST("the error of the sine is at most 2e-7") {
    for (int i = -POINTS; i <= POINTS; ++i) {
        const float x = (float)(0.5 * PI * i / POINTS);
        assert_true(fabs((double)lanes_sin(x) - sin((double)x)) <= 2e-7);
    }
}

TEST("the error of the cosine is at most 3e-7") {
    for (int i = 0; i <= POINTS; ++i) {
        const float x = (float)(PI * i / POINTS);
        assert_true(fabs((double)lanes_cos(x) - cos((double)x)) <= 3e-7);
    }
}

TEST("the error of the angle of a direction is at most 5e-7") {
    for (int i = -POINTS; i < POINTS; ++i) {
        const float length = (float)(1.0 + 0.01 * (i % 100));
        const float x = length * (float)cos(PI * i / POINTS);
        const float y = length * (float)sin(PI * i / POINTS);
        const double expected = atan2((double)y, (double)x);
        assert_true(fabs((double)lanes_atan2(y, x) - expected) <= 5e-7);
    }
}

TEST("directions along the axes have exact angles") {
    assert_true(lanes_atan2(0.0f, 0.0f) == 0.0f);
    assert_true(lanes_atan2(0.0f, 2.0f) == 0.0f);
    assert_true(lanes_atan2(3.0f, 0.0f) == 0.5f * CAIRN_PI);
    assert_true(lanes_atan2(-3.0f, 0.0f) == -0.5f * CAIRN_PI);
    assert_true(lanes_atan2(0.0f, -1.0f) == CAIRN_PI);
    assert_true(lanes_sin(0.0f) == 0.0f);
}
