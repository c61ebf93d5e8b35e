// SPDX-License-Identifier: MIT
#pragma once

// Vector, quaternion and pose arithmetic for rules and for the simulation itself. Only + - * / sqrt
// and comparisons, each expression in one fixed order, so that every build gets the same bits
// (docs/DETERMINISM.md). Minimum and maximum are selects, never fminf and fmaxf: C libraries
// disagree about those on signed zero. Compile rules without -ffast-math and with
// -ffp-contract=off.

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
