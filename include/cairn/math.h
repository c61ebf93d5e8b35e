// SPDX-License-Identifier: MIT
#pragma once

// Arithmetic for rules and for the simulation itself: vectors, quaternions, poses, trigonometry,
// exponentials. Only + - * / sqrt, comparisons and conversions, each expression in one fixed order,
// so that every build gets the same bits (docs/DETERMINISM.md). Minimum and maximum are selects,
// never fminf and fmaxf: C libraries disagree about those on signed zero. Compile rules without
// -ffast-math and with -ffp-contract=off; the exported CMake targets pass these flags on, to C and
// to C++.

#include <stdbool.h>
#include <stdint.h>
#ifndef __GNUC__
#include <math.h>
#endif

#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------- float

typedef union cairn_float_word {
    float value;
    uint32_t bits;
} cairn_float_word;

static inline uint32_t cairn_float_bits(float a) {
    cairn_float_word word;
    word.value = a;
    return word.bits;
}

static inline float cairn_float_of_bits(uint32_t bits) {
    cairn_float_word word;
    word.bits = bits;
    return word.value;
}

// Tested by its bits: a fast-math build removes comparisons with NaN.
static inline bool cairn_float_finite(float a) {
    return (cairn_float_bits(a) & 0x7f800000u) != 0x7f800000u;
}

// Clears the sign bit; never -0.
static inline float cairn_float_abs(float a) {
    return cairn_float_of_bits(cairn_float_bits(a) & 0x7fffffffu);
}

static inline float cairn_float_min(float a, float b) {
    return a < b ? a : b;
}

static inline float cairn_float_max(float a, float b) {
    return a > b ? a : b;
}

static inline float cairn_float_clamp(float a, float lower, float upper) {
    return cairn_float_min(cairn_float_max(a, lower), upper);
}

static inline float cairn_float_sqrt(float a) {
#ifdef __GNUC__
    return __builtin_sqrtf(a);
#else
    return sqrtf(a);
#endif
}

// ------------------------------------------------------------- trigonometry and exponentials

// In double precision inside and rounded to float once, so that the error is little more than the
// half unit in the last place (ulp) of that rounding: at most 0.501 ulp in the ranges given, as
// tests/sim/math_functions_test.c measures. They return a finite number for every finite argument,
// and for infinity and NaN one that the comments name.

// The greatest finite float.
#define CAIRN_FLOAT_MAX 3.40282347e38f

// double, inside of the functions below only.

static inline uint64_t cairn_double_bits(double a) {
    union {
        double value;
        uint64_t bits;
    } word;
    word.value = a;
    return word.bits;
}

static inline double cairn_double_of_bits(uint64_t bits) {
    union {
        double value;
        uint64_t bits;
    } word;
    word.bits = bits;
    return word.value;
}

static inline double cairn_double_sqrt(double a) {
#ifdef __GNUC__
    return __builtin_sqrt(a);
#else
    return sqrt(a);
#endif
}

// The nearest whole number, ties away from zero. |a| <= 1e18.
static inline double cairn_double_round(double a) {
    return (double)(int64_t)(a < 0.0 ? a - 0.5 : a + 0.5);
}

// x as a number of quarter turns (its lowest two bits) and a remainder in [-pi/4, pi/4]. Beyond
// 1e6, infinity and NaN: as 0.
static inline uint32_t cairn_quarter_turns(float x, double *remainder) {
    const bool inside = x >= -1e6f && x <= 1e6f;
    const double wide = inside ? (double)x : 0.0;
    const double turns = cairn_double_round(wide * 0.63661977236758134308);
    // pi / 2 in two parts; the first has 33 bits, so that its product with `turns` is exact.
    const double most = wide - turns * 1.57079632673412561417e+00;
    *remainder = most - turns * 6.07710050650619224932e-11;
    return (uint32_t)((int64_t)turns & 3);
}

// Taylor polynomials on [-pi/4, pi/4]. The first omitted term is below 1e-13.
static inline double cairn_sine_near_zero(double x) {
    const double u = x * x;
    double p = 1.0 / 6227020800.0;
    p = p * u - 1.0 / 39916800.0;
    p = p * u + 1.0 / 362880.0;
    p = p * u - 1.0 / 5040.0;
    p = p * u + 1.0 / 120.0;
    p = p * u - 1.0 / 6.0;
    return x + x * u * p;
}

static inline double cairn_cosine_near_zero(double x) {
    const double u = x * x;
    double p = 1.0 / 479001600.0;
    p = p * u - 1.0 / 3628800.0;
    p = p * u + 1.0 / 40320.0;
    p = p * u - 1.0 / 720.0;
    p = p * u + 1.0 / 24.0;
    p = p * u - 1.0 / 2.0;
    return 1.0 + u * p;
}

// x in rad, |x| <= 1e6; sin 0 and cos 0 for other arguments.
static inline float cairn_float_sin(float x) {
    double r;
    const uint32_t turns = cairn_quarter_turns(x, &r);
    const double value = (turns & 1u) != 0 ? cairn_cosine_near_zero(r) : cairn_sine_near_zero(r);
    return (float)((turns & 2u) != 0 ? 0.0 - value : value) + 0.0f;
}

static inline float cairn_float_cos(float x) {
    double r;
    const uint32_t turns = cairn_quarter_turns(x, &r) + 1u;
    const double value = (turns & 1u) != 0 ? cairn_cosine_near_zero(r) : cairn_sine_near_zero(r);
    return (float)((turns & 2u) != 0 ? 0.0 - value : value) + 0.0f;
}

// |x| <= 1e6, as above. Near a pole it is large, but finite.
static inline float cairn_float_tan(float x) {
    double r;
    const uint32_t turns = cairn_quarter_turns(x, &r);
    const double sine = cairn_sine_near_zero(r);
    const double cosine = cairn_cosine_near_zero(r);
    return (float)((turns & 1u) != 0 ? 0.0 - cosine / sine : sine / cosine) + 0.0f;
}

// The angle of a slope in [0, 1]. Above tan(pi/8) the angle is pi/4 + that of (t - 1)/(t + 1).
static inline double cairn_angle_of_slope(double slope) {
    const bool steep = slope > 0.41421356237309503;
    const double t = steep ? (slope - 1.0) / (slope + 1.0) : slope;
    const double u = t * t;
    double p = 1.0 / 27.0;
    p = 1.0 / 25.0 - p * u;
    p = 1.0 / 23.0 - p * u;
    p = 1.0 / 21.0 - p * u;
    p = 1.0 / 19.0 - p * u;
    p = 1.0 / 17.0 - p * u;
    p = 1.0 / 15.0 - p * u;
    p = 1.0 / 13.0 - p * u;
    p = 1.0 / 11.0 - p * u;
    p = 1.0 / 9.0 - p * u;
    p = 1.0 / 7.0 - p * u;
    p = 1.0 / 5.0 - p * u;
    p = 1.0 / 3.0 - p * u;
    p = t - t * u * p;
    return steep ? 0.78539816339744830962 + p : p;
}

static inline double cairn_double_atan2(double y, double x) {
    const double across = x < 0.0 ? 0.0 - x : x;
    const double up = y < 0.0 ? 0.0 - y : y;
    const double longer = across < up ? up : across;
    const double shorter = across < up ? across : up;
    if (!(longer > 0.0)) {
        return 0.0;
    }
    double angle = cairn_angle_of_slope(shorter / longer);
    angle = across < up ? 1.57079632679489661923 - angle : angle;
    angle = x < 0.0 ? 3.14159265358979323846 - angle : angle;
    return y < 0.0 ? 0.0 - angle : angle;
}

// The angle from the x axis to (x, y), in [-pi, pi]; 0 for (0, 0) and if either is not finite.
static inline float cairn_float_atan2(float y, float x) {
    const bool finite = cairn_float_finite(x) && cairn_float_finite(y);
    return finite ? (float)cairn_double_atan2((double)y, (double)x) + 0.0f : 0.0f;
}

// x is taken as the nearest number in [-1, 1]; 0 for NaN. asin in [-pi/2, pi/2], acos in [0, pi].
static inline float cairn_float_asin(float x) {
    const double s = (double)(x >= -1.0f ? cairn_float_min(x, 1.0f) : x < -1.0f ? -1.0f : 0.0f);
    const double c = cairn_double_sqrt((1.0 - s) * (1.0 + s));
    return (float)cairn_double_atan2(s, c) + 0.0f;
}

static inline float cairn_float_acos(float x) {
    const double c = (double)(x >= -1.0f ? cairn_float_min(x, 1.0f) : x < -1.0f ? -1.0f : 1.0f);
    const double s = cairn_double_sqrt((1.0 - c) * (1.0 + c));
    return (float)cairn_double_atan2(s, c) + 0.0f;
}

// e^x for |x| <= 700, by x = n ln 2 + r with |r| <= ln 2 / 2 and 2^n written as bits.
static inline double cairn_double_exp(double x) {
    const double n = cairn_double_round(x * 1.44269504088896340736);
    const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    double p = 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    return p * cairn_double_of_bits((uint64_t)((int64_t)n + 1023) << 52);
}

// The natural logarithm of a positive, finite, normal number m 2^e with m in [sqrt(1/2), sqrt(2)):
// e ln 2 + 2 artanh((m - 1) / (m + 1)).
static inline double cairn_double_log(double x) {
    const uint64_t bits = cairn_double_bits(x);
    int64_t e = (int64_t)(bits >> 52) - 1023;
    double m =
        cairn_double_of_bits((bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000));
    const bool large = m > 1.4142135623730951;
    e += large ? 1 : 0;
    m = large ? 0.5 * m : m;
    const double s = (m - 1.0) / (m + 1.0);
    const double u = s * s;
    double p = 1.0 / 19.0;
    p = p * u + 1.0 / 17.0;
    p = p * u + 1.0 / 15.0;
    p = p * u + 1.0 / 13.0;
    p = p * u + 1.0 / 11.0;
    p = p * u + 1.0 / 9.0;
    p = p * u + 1.0 / 7.0;
    p = p * u + 1.0 / 5.0;
    p = p * u + 1.0 / 3.0;
    const double small = 2.0 * s + 2.0 * s * u * p;
    return (double)e * 6.93147180369123816490e-01 +
           (small + (double)e * 1.90821492927058770002e-10);
}

static inline float cairn_float_of_exponent(double x) {
    if (!(x > -104.0)) {
        return 0.0f;
    }
    const double value = cairn_double_exp(x < 89.0 ? x : 89.0);
    return value < 3.4028234663852886e38 ? (float)value : CAIRN_FLOAT_MAX;
}

// Beyond the range of a float CAIRN_FLOAT_MAX; 0 for NaN.
static inline float cairn_float_exp(float x) {
    return cairn_float_of_exponent(x <= 100.0f ? (double)x : x > 100.0f ? 100.0 : -200.0);
}

// -CAIRN_FLOAT_MAX for x <= 0 and NaN, CAIRN_FLOAT_MAX for infinity.
static inline float cairn_float_log(float x) {
    if (!(x > 0.0f)) {
        return -CAIRN_FLOAT_MAX;
    }
    return cairn_float_finite(x) ? (float)cairn_double_log((double)x) : CAIRN_FLOAT_MAX;
}

// x^y. x^0 is 1. Of a negative x only whole y have a power; other y give 0. 0^y is 0 for y > 0 and
// CAIRN_FLOAT_MAX for y < 0. Beyond the range of a float CAIRN_FLOAT_MAX with the sign. 0 if either
// is infinite or NaN.
static inline float cairn_float_pow(float x, float y) {
    if (!cairn_float_finite(x) || !cairn_float_finite(y)) {
        return 0.0f;
    }
    if (y == 0.0f || x == 1.0f) {
        return 1.0f;
    }
    if (x == 0.0f) {
        return y > 0.0f ? 0.0f : CAIRN_FLOAT_MAX;
    }
    // From 2^24 on every float is whole and even or beyond the range where it matters.
    const float size = cairn_float_abs(y);
    const bool huge = size >= 16777216.0f;
    const int64_t whole = huge ? 0 : (int64_t)size;
    const bool is_whole = huge || (float)whole == size;
    if (x < 0.0f && !is_whole) {
        return 0.0f;
    }
    const double exponent = (double)y * cairn_double_log((double)cairn_float_abs(x));
    const float value =
        cairn_float_of_exponent(exponent < 200.0 ? (exponent > -200.0 ? exponent : -200.0) : 200.0);
    return x < 0.0f && (whole & 1) != 0 ? 0.0f - value : value;
}

// -------------------------------------------------------------------------------------- vec3

static inline cairn_vec3 cairn_vec3_of(float x, float y, float z) {
    cairn_vec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

static inline cairn_vec3 cairn_vec3_zero(void) {
    return cairn_vec3_of(0.0f, 0.0f, 0.0f);
}

static inline cairn_vec3 cairn_vec3_add(cairn_vec3 a, cairn_vec3 b) {
    return cairn_vec3_of(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline cairn_vec3 cairn_vec3_sub(cairn_vec3 a, cairn_vec3 b) {
    return cairn_vec3_of(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline cairn_vec3 cairn_vec3_scale(cairn_vec3 a, float s) {
    return cairn_vec3_of(a.x * s, a.y * s, a.z * s);
}

static inline cairn_vec3 cairn_vec3_negate(cairn_vec3 a) {
    return cairn_vec3_of(0.0f - a.x, 0.0f - a.y, 0.0f - a.z);
}

// a + b * s
static inline cairn_vec3 cairn_vec3_add_scaled(cairn_vec3 a, cairn_vec3 b, float s) {
    return cairn_vec3_of(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}

// a - b * s
static inline cairn_vec3 cairn_vec3_sub_scaled(cairn_vec3 a, cairn_vec3 b, float s) {
    return cairn_vec3_of(a.x - b.x * s, a.y - b.y * s, a.z - b.z * s);
}

// Component by component.
static inline cairn_vec3 cairn_vec3_multiply(cairn_vec3 a, cairn_vec3 b) {
    return cairn_vec3_of(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline float cairn_vec3_dot(cairn_vec3 a, cairn_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline cairn_vec3 cairn_vec3_cross(cairn_vec3 a, cairn_vec3 b) {
    return cairn_vec3_of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline float cairn_vec3_length_squared(cairn_vec3 a) {
    return cairn_vec3_dot(a, a);
}

static inline float cairn_vec3_length(cairn_vec3 a) {
    return cairn_float_sqrt(cairn_vec3_dot(a, a));
}

static inline float cairn_vec3_distance(cairn_vec3 a, cairn_vec3 b) {
    return cairn_vec3_length(cairn_vec3_sub(a, b));
}

static inline cairn_vec3 cairn_vec3_min(cairn_vec3 a, cairn_vec3 b) {
    return cairn_vec3_of(
        cairn_float_min(a.x, b.x), cairn_float_min(a.y, b.y), cairn_float_min(a.z, b.z));
}

static inline cairn_vec3 cairn_vec3_max(cairn_vec3 a, cairn_vec3 b) {
    return cairn_vec3_of(
        cairn_float_max(a.x, b.x), cairn_float_max(a.y, b.y), cairn_float_max(a.z, b.z));
}

static inline cairn_vec3 cairn_vec3_abs(cairn_vec3 a) {
    return cairn_vec3_of(cairn_float_abs(a.x), cairn_float_abs(a.y), cairn_float_abs(a.z));
}

static inline cairn_vec3 cairn_vec3_clamp(cairn_vec3 a, cairn_vec3 lower, cairn_vec3 upper) {
    return cairn_vec3_min(cairn_vec3_max(a, lower), upper);
}

static inline cairn_vec3 cairn_vec3_select(bool condition, cairn_vec3 yes, cairn_vec3 no) {
    return cairn_vec3_of(
        condition ? yes.x : no.x, condition ? yes.y : no.y, condition ? yes.z : no.z);
}

// a * (1 - t) + b * t
static inline cairn_vec3 cairn_vec3_lerp(cairn_vec3 a, cairn_vec3 b, float t) {
    return cairn_vec3_add(cairn_vec3_scale(a, 1.0f - t), cairn_vec3_scale(b, t));
}

// Turns every -0 into +0. Everything stored in state goes through here, because an encoder may drop
// the sign of zero and the hash would differ.
static inline cairn_vec3 cairn_vec3_clean(cairn_vec3 a) {
    return cairn_vec3_of(a.x + 0.0f, a.y + 0.0f, a.z + 0.0f);
}

static inline bool cairn_vec3_finite(cairn_vec3 a) {
    return cairn_float_finite(a.x) && cairn_float_finite(a.y) && cairn_float_finite(a.z);
}

// The unit vector along `a`, or `fallback` if `a` is too short (under 1e-15) to have a direction
// with full precision, or too long (over 1e19) to be squared.
static inline cairn_vec3 cairn_vec3_normalize(cairn_vec3 a, cairn_vec3 fallback) {
    const float length_squared = cairn_vec3_dot(a, a);
    const bool valid = length_squared > 1e-30f && cairn_float_finite(length_squared);
    const float inverse = 1.0f / cairn_float_sqrt(valid ? length_squared : 1.0f);
    return cairn_vec3_select(valid, cairn_vec3_scale(a, inverse), fallback);
}

// -------------------------------------------------------------------------------------- quat

static inline cairn_quat cairn_quat_of(float x, float y, float z, float w) {
    cairn_quat q;
    q.x = x;
    q.y = y;
    q.z = z;
    q.w = w;
    return q;
}

static inline cairn_quat cairn_quat_identity(void) {
    return cairn_quat_of(0.0f, 0.0f, 0.0f, 1.0f);
}

static inline cairn_vec3 cairn_quat_vector(cairn_quat q) {
    return cairn_vec3_of(q.x, q.y, q.z);
}

static inline cairn_quat cairn_quat_conjugate(cairn_quat q) {
    return cairn_quat_of(0.0f - q.x, 0.0f - q.y, 0.0f - q.z, q.w);
}

// The rotation b followed by the rotation a.
static inline cairn_quat cairn_quat_multiply(cairn_quat a, cairn_quat b) {
    return cairn_quat_of(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
}

static inline float cairn_quat_length_squared(cairn_quat q) {
    return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
}

static inline bool cairn_quat_finite(cairn_quat q) {
    return cairn_vec3_finite(cairn_quat_vector(q)) && cairn_float_finite(q.w);
}

// Unit length and no -0; the identity if `q` is too short or too long to normalise.
static inline cairn_quat cairn_quat_normalize(cairn_quat q) {
    const float length_squared = cairn_quat_length_squared(q);
    const bool valid = length_squared > 1e-30f && cairn_float_finite(length_squared);
    const float inverse = 1.0f / cairn_float_sqrt(valid ? length_squared : 1.0f);
    return cairn_quat_of((valid ? q.x * inverse : 0.0f) + 0.0f,
        (valid ? q.y * inverse : 0.0f) + 0.0f, (valid ? q.z * inverse : 0.0f) + 0.0f,
        (valid ? q.w * inverse : 1.0f) + 0.0f);
}

// q v q*, as v + 2 w (u x v) + 2 u x (u x v), u the vector part.
static inline cairn_vec3 cairn_quat_rotate(cairn_quat q, cairn_vec3 v) {
    const cairn_vec3 u = cairn_quat_vector(q);
    const cairn_vec3 t = cairn_vec3_scale(cairn_vec3_cross(u, v), 2.0f);
    return cairn_vec3_add(cairn_vec3_add_scaled(v, t, q.w), cairn_vec3_cross(u, t));
}

static inline cairn_vec3 cairn_quat_rotate_inverse(cairn_quat q, cairn_vec3 v) {
    return cairn_quat_rotate(cairn_quat_conjugate(q), v);
}

// The rotation by an angle (rad) about a unit axis.
static inline cairn_quat cairn_quat_of_axis_angle(cairn_vec3 axis, float angle) {
    const float sine = cairn_float_sin(0.5f * angle);
    return cairn_quat_normalize(
        cairn_quat_of(axis.x * sine, axis.y * sine, axis.z * sine, cairn_float_cos(0.5f * angle)));
}

// The rotation by a rotation vector: its direction is the axis, its length the angle, rad.
static inline cairn_quat cairn_quat_of_rotation_vector(cairn_vec3 rotation) {
    const float angle = cairn_vec3_length(rotation);
    // sin(a / 2) / a, which is 1 / 2 where a float cannot tell it from that.
    const float factor = angle > 1e-4f ? cairn_float_sin(0.5f * angle) / angle : 0.5f;
    return cairn_quat_normalize(cairn_quat_of(rotation.x * factor, rotation.y * factor,
        rotation.z * factor, cairn_float_cos(0.5f * angle)));
}

// The inverse: the shortest rotation vector of a unit quaternion, at most pi long.
static inline cairn_vec3 cairn_quat_rotation_vector(cairn_quat q) {
    const cairn_vec3 v = cairn_quat_vector(q);
    const float sine = cairn_vec3_length(v);
    const float cosine = cairn_float_abs(q.w);
    const float factor = sine > 1e-6f ? 2.0f * cairn_float_atan2(sine, cosine) / sine : 2.0f;
    return cairn_vec3_scale(v, q.w < 0.0f ? 0.0f - factor : factor);
}

// -------------------------------------------------------------------------------------- pose

static inline cairn_pose cairn_pose_of(cairn_vec3 position, cairn_quat rotation) {
    cairn_pose pose;
    pose.position = position;
    pose.rotation = rotation;
    return pose;
}

static inline cairn_pose cairn_pose_identity(void) {
    return cairn_pose_of(cairn_vec3_zero(), cairn_quat_identity());
}

// A local point in the world.
static inline cairn_vec3 cairn_pose_apply(cairn_pose pose, cairn_vec3 point) {
    return cairn_vec3_add(cairn_quat_rotate(pose.rotation, point), pose.position);
}

// A world point in the pose's frame.
static inline cairn_vec3 cairn_pose_apply_inverse(cairn_pose pose, cairn_vec3 point) {
    return cairn_quat_rotate_inverse(pose.rotation, cairn_vec3_sub(point, pose.position));
}

// b followed by a: a child's pose b in its parent's frame a, in the world. The rotation is
// normalised, so chains do not drift.
static inline cairn_pose cairn_pose_multiply(cairn_pose a, cairn_pose b) {
    return cairn_pose_of(cairn_pose_apply(a, b.position),
        cairn_quat_normalize(cairn_quat_multiply(a.rotation, b.rotation)));
}

static inline cairn_pose cairn_pose_inverse(cairn_pose pose) {
    const cairn_quat inverse = cairn_quat_conjugate(pose.rotation);
    return cairn_pose_of(cairn_quat_rotate(inverse, cairn_vec3_negate(pose.position)), inverse);
}

static inline bool cairn_pose_finite(cairn_pose pose) {
    return cairn_vec3_finite(pose.position) && cairn_quat_finite(pose.rotation);
}

#ifdef __cplusplus
}
#endif
