// SPDX-License-Identifier: MIT
// The functions of <cairn/math.h> beside those of the C library in double precision, which are
// right to far less than half a unit in the last place (ulp) of a float.

#include "tests/kit/test.h"

#include <math.h>

#include "base/random.h"
#include <cairn/math.h>

// The header promises 0.501; the reference itself adds nothing that counts.
#define LENGTH_OF(array) (sizeof(array) / sizeof(array)[0])
#define ULP_MAX 0.501
#define ROUNDS 60000

// One ulp of a float near `value`.
static double ulp_of(double value) {
    int exponent;
    (void)frexp(fabs(value) < 1.1754943508222875e-38 ? 1.1754943508222875e-38 : value, &exponent);
    return ldexp(1.0, exponent - 24);
}

static void expect(const char *name, float x, float y, float got, double wanted) {
    const double error = fabs((double)got - wanted) / ulp_of(wanted);
    if (!(error <= ULP_MAX)) {
        fail_msg("%s(%.9g, %.9g) is %.9g, wanted %.17g: %.4f ulp", name, (double)x, (double)y,
            (double)got, wanted, error);
    }
}

static float between(cairn_random *random, float lower, float upper) {
    return lower + (upper - lower) * cairn_random_unit(random);
}

// Of every size from 1e-20 to 1e6, of either sign.
static float any_size(cairn_random *random) {
    const float size = powf(10.0f, between(random, -20.0f, 6.0f));
    return cairn_random_below(random, 2) == 0 ? size : 0.0f - size;
}

TEST("trigonometry is right to half a unit in the last place") {
    cairn_random random = cairn_random_of(1);
    for (int i = 0; i < ROUNDS; ++i) {
        const float x = i % 2 == 0 ? between(&random, -7.0f, 7.0f) : any_size(&random);
        const float y = i % 3 == 0 ? between(&random, -1.0f, 1.0f) : any_size(&random);
        const float u = between(&random, -1.0f, 1.0f);
        expect("sin", x, 0.0f, cairn_float_sin(x), sin((double)x));
        expect("cos", x, 0.0f, cairn_float_cos(x), cos((double)x));
        expect("tan", x, 0.0f, cairn_float_tan(x), tan((double)x));
        expect("atan2", y, x, cairn_float_atan2(y, x), atan2((double)y, (double)x));
        expect("asin", u, 0.0f, cairn_float_asin(u), asin((double)u));
        expect("acos", u, 0.0f, cairn_float_acos(u), acos((double)u));
    }
}

TEST("exponential, logarithm and power are right to half a unit in the last place") {
    cairn_random random = cairn_random_of(2);
    for (int i = 0; i < ROUNDS; ++i) {
        const float x = between(&random, -103.0f, 88.7f);
        const float base = fabsf(any_size(&random));
        const float exponent = between(&random, -8.0f, 8.0f);
        const double power = pow((double)base, (double)exponent);
        expect("exp", x, 0.0f, cairn_float_exp(x), exp((double)x));
        expect("log", base, 0.0f, cairn_float_log(base), log((double)base));
        if (power < 3.4e38) {
            expect("pow", base, exponent, cairn_float_pow(base, exponent), power);
        }
    }
}

TEST("whole powers, roots and signs") {
    for (int i = -9; i <= 9; ++i) {
        assert_true(cairn_float_pow(-2.0f, (float)i) == (float)pow(-2.0, (double)i));
        assert_true(cairn_float_pow((float)i, 2.0f) == (float)(i * i));
    }
    assert_true(cairn_float_pow(2.0f, 0.5f) == 1.41421356f);
    assert_true(cairn_float_pow(-1.0f, 1e30f) == 1.0f);
}

// What rules store must neither be NaN nor infinite nor -0.
TEST("every result is finite and no zero is negative") {
    static const uint32_t odd[] = {0u, 0x80000000u, 1u, 0x80000001u, 0x7f7fffffu, 0xff7fffffu,
        0x7f800000u, 0xff800000u, 0x7fc00000u, 0x3f800000u, 0xbf800000u, 0x4b800000u, 0x42b17218u,
        0xc2d00000u, 0x49742400u, 0x49742401u};
    for (size_t i = 0; i < LENGTH_OF(odd); ++i) {
        for (size_t k = 0; k < LENGTH_OF(odd); ++k) {
            const float x = cairn_float_of_bits(odd[i]);
            const float y = cairn_float_of_bits(odd[k]);
            const float got[] = {cairn_float_sin(x), cairn_float_cos(x), cairn_float_tan(x),
                cairn_float_atan2(x, y), cairn_float_asin(x), cairn_float_acos(x),
                cairn_float_exp(x), cairn_float_log(x), cairn_float_pow(x, y)};
            for (size_t n = 0; n < LENGTH_OF(got); ++n) {
                assert_true(cairn_float_finite(got[n]));
                assert_int_not_equal(cairn_float_bits(got[n]), 0x80000000u);
            }
        }
    }
}

// A hash of the bits of many results: every build has to find the same.
TEST("the bits are the same on every machine") {
    cairn_random random = cairn_random_of(3);
    uint64_t sum = 0;
    for (int i = 0; i < 20000; ++i) {
        const float x = cairn_float_of_bits((uint32_t)cairn_random_next(&random));
        const float y = cairn_float_of_bits((uint32_t)cairn_random_next(&random));
        const float got[] = {cairn_float_sin(x), cairn_float_cos(x), cairn_float_tan(x),
            cairn_float_atan2(x, y), cairn_float_asin(x), cairn_float_acos(x), cairn_float_exp(x),
            cairn_float_log(x), cairn_float_pow(x, y)};
        for (size_t n = 0; n < LENGTH_OF(got); ++n) {
            sum = sum * UINT64_C(0x9e3779b97f4a7c15) + cairn_float_bits(got[n]);
        }
    }
    assert_true(sum == UINT64_C(0x40a112a1704447c5));
}

TEST("rotations of vectors and of axes are each other's inverse") {
    cairn_random random = cairn_random_of(4);
    for (int i = 0; i < 1000; ++i) {
        const float size = i % 4 == 0 ? 1e-5f : 3.1f;
        const cairn_vec3 axis =
            cairn_vec3_normalize(cairn_vec3_of(between(&random, -1.0f, 1.0f),
                                     between(&random, -1.0f, 1.0f), between(&random, -1.0f, 1.0f)),
                cairn_vec3_of(1.0f, 0.0f, 0.0f));
        const cairn_vec3 rotation = cairn_vec3_scale(axis, size);
        const cairn_quat q = cairn_quat_of_rotation_vector(rotation);
        const cairn_quat p = cairn_quat_of_axis_angle(axis, size);
        assert_true(
            cairn_vec3_distance(cairn_quat_rotation_vector(q), rotation) < 1e-6f * size + 1e-9f);
        assert_true(cairn_float_abs(q.x - p.x) < 1e-6f && cairn_float_abs(q.w - p.w) < 1e-6f);
    }
}
