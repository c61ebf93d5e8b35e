// SPDX-License-Identifier: MIT
#pragma once

// The arithmetic of cairn/math.h on one SIMD vector: three components and a lane that is 0, or the
// four of a quaternion. Each lane computes what a single float would, in the same order, so the
// bits are those of cairn/math.h.

#include <stdint.h>
#include <string.h>

#include <cairn/math.h>

// Aligned as floats are, so that they may lie in memory of malloc on every target.
typedef float cairn_vec4 __attribute__((vector_size(16), aligned(4)));
typedef int32_t cairn_int4 __attribute__((vector_size(16), aligned(4)));
typedef uint32_t cairn_uint4 __attribute__((vector_size(16), aligned(4)));

// Vectors are passed in registers in all builds only if nothing is called.
#define CAIRN_VEC4_INLINE __attribute__((always_inline)) static inline

CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_of(float x, float y, float z) {
    return (cairn_vec4){x, y, z, 0.0f};
}

CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_all(float value) {
    return (cairn_vec4){value, value, value, value};
}

CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_zero(void) {
    return (cairn_vec4){0.0f, 0.0f, 0.0f, 0.0f};
}

CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_load(const float *four) {
    cairn_vec4 v;
    memcpy(&v, four, sizeof v);
    return v;
}

// a + b * s
CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_add_scaled(cairn_vec4 a, cairn_vec4 b, float s) {
    return a + b * cairn_vec4_all(s);
}

// Of the first three lanes.
CAIRN_VEC4_INLINE float cairn_vec4_length_squared(cairn_vec4 a) {
    const cairn_vec4 squares = a * a;
    return squares[0] + squares[1] + squares[2];
}

CAIRN_VEC4_INLINE float cairn_vec4_length(cairn_vec4 a) {
    return cairn_float_sqrt(cairn_vec4_length_squared(a));
}

CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_cross(cairn_vec4 a, cairn_vec4 b) {
    const cairn_vec4 a_yzx = __builtin_shufflevector(a, a, 1, 2, 0, 3);
    const cairn_vec4 b_yzx = __builtin_shufflevector(b, b, 1, 2, 0, 3);
    const cairn_vec4 a_zxy = __builtin_shufflevector(a, a, 2, 0, 1, 3);
    const cairn_vec4 b_zxy = __builtin_shufflevector(b, b, 2, 0, 1, 3);
    return a_yzx * b_zxy - a_zxy * b_yzx;
}

// The first two lanes of each, in turns; and the last two.
CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_low_lanes(cairn_vec4 a, cairn_vec4 b) {
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
}

CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_high_lanes(cairn_vec4 a, cairn_vec4 b) {
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
}

// a, negated in the lanes where `signs` is INT32_MIN and not 0.
CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_negate_lanes(cairn_vec4 a, cairn_int4 signs) {
    return (cairn_vec4)((cairn_int4)a ^ signs);
}

CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_abs(cairn_vec4 a) {
    return (cairn_vec4)((cairn_int4)a & INT32_MAX);
}

CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_without_last(cairn_vec4 a) {
    return (cairn_vec4)((cairn_int4)a & (cairn_int4){-1, -1, -1, 0});
}

// `mask` is 0 or -1 in each lane.
CAIRN_VEC4_INLINE cairn_vec4 cairn_vec4_select(cairn_int4 mask, cairn_vec4 yes, cairn_vec4 no) {
    return (cairn_vec4)(((cairn_int4)yes & mask) | ((cairn_int4)no & ~mask));
}

CAIRN_VEC4_INLINE cairn_vec4 cairn_quat4_conjugate(cairn_vec4 q) {
    return cairn_vec4_negate_lanes(q, (cairn_int4){INT32_MIN, INT32_MIN, INT32_MIN, 0});
}

// The rotation b followed by the rotation a.
CAIRN_VEC4_INLINE cairn_vec4 cairn_quat4_multiply(cairn_vec4 a, cairn_vec4 b) {
    const cairn_vec4 by_x = cairn_vec4_negate_lanes(
        __builtin_shufflevector(b, b, 3, 2, 1, 0), (cairn_int4){0, INT32_MIN, 0, INT32_MIN});
    const cairn_vec4 by_y = cairn_vec4_negate_lanes(
        __builtin_shufflevector(b, b, 2, 3, 0, 1), (cairn_int4){0, 0, INT32_MIN, INT32_MIN});
    const cairn_vec4 by_z = cairn_vec4_negate_lanes(
        __builtin_shufflevector(b, b, 1, 0, 3, 2), (cairn_int4){INT32_MIN, 0, 0, INT32_MIN});
    return cairn_vec4_all(a[3]) * b + cairn_vec4_all(a[0]) * by_x + cairn_vec4_all(a[1]) * by_y +
           cairn_vec4_all(a[2]) * by_z;
}
