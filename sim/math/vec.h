// SPDX-License-Identifier: MIT
#pragma once

// The arithmetic of cairn/math.h, and the matrices that only the simulation needs, by the same
// rules: each expression in one fixed order, everything small enough to be inlined.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/math.h>
#include <cairn/sim.h>

// Rows: m.x is the first row.
typedef struct cairn_mat3 {
    cairn_vec3 x, y, z;
} cairn_mat3;

// A symmetric matrix, in the order that cairn_mass.inertia has.
typedef struct cairn_sym3 {
    float xx, yy, zz, xy, xz, yz;
} cairn_sym3;

// ---- Short names of the public functions, for the files of this module.

#define float_bits cairn_float_bits
#define float_of_bits cairn_float_of_bits
#define float_finite cairn_float_finite
#define float_abs cairn_float_abs
#define float_min cairn_float_min
#define float_max cairn_float_max
#define float_clamp cairn_float_clamp
#define float_sqrt cairn_float_sqrt
#define vec3 cairn_vec3_of
#define vec3_zero cairn_vec3_zero
#define vec3_add cairn_vec3_add
#define vec3_sub cairn_vec3_sub
#define vec3_scale cairn_vec3_scale
#define vec3_negate cairn_vec3_negate
#define vec3_add_scaled cairn_vec3_add_scaled
#define vec3_sub_scaled cairn_vec3_sub_scaled
#define vec3_multiply cairn_vec3_multiply
#define vec3_dot cairn_vec3_dot
#define vec3_cross cairn_vec3_cross
#define vec3_length_squared cairn_vec3_length_squared
#define vec3_length cairn_vec3_length
#define vec3_distance cairn_vec3_distance
#define vec3_min cairn_vec3_min
#define vec3_max cairn_vec3_max
#define vec3_abs cairn_vec3_abs
#define vec3_clamp cairn_vec3_clamp
#define vec3_select cairn_vec3_select
#define vec3_clean cairn_vec3_clean
#define vec3_finite cairn_vec3_finite
#define vec3_normalize cairn_vec3_normalize
#define quat_identity cairn_quat_identity
#define quat_vector cairn_quat_vector
#define quat_conjugate cairn_quat_conjugate
#define quat_multiply cairn_quat_multiply
#define quat_length_squared cairn_quat_length_squared
#define quat_normalize cairn_quat_normalize
#define quat_rotate cairn_quat_rotate
#define quat_rotate_inverse cairn_quat_rotate_inverse
#define pose_identity cairn_pose_identity
#define pose_apply cairn_pose_apply
#define pose_apply_inverse cairn_pose_apply_inverse
#define pose_multiply cairn_pose_multiply
#define pose_inverse cairn_pose_inverse

// ---- vec3

// +0 or -0 in every component.
static inline bool vec3_is_zero(cairn_vec3 a) {
    return a.x == 0.0f && a.y == 0.0f && a.z == 0.0f;
}

// Component 0, 1, 2 is x, y, z.
static inline float vec3_component(cairn_vec3 a, uint32_t index) {
    return index == 0 ? a.x : index == 1 ? a.y : a.z;
}

// Along axis 0, 1 or 2, which is x, y or z.
static inline cairn_vec3 vec3_along_axis(uint32_t axis, float length) {
    return vec3(axis == 0 ? length : 0.0f, axis == 1 ? length : 0.0f, axis == 2 ? length : 0.0f);
}

// The axis of the largest component, the first of equals.
static inline uint32_t vec3_largest_axis(cairn_vec3 a) {
    return a.x >= a.y && a.x >= a.z ? 0u : a.y >= a.z ? 1u : 2u;
}

// A unit vector perpendicular to the unit vector `n`. At least one component of a unit vector
// reaches 1/sqrt(3), so the divisor is never small.
static inline cairn_vec3 vec3_tangent(cairn_vec3 n) {
    const cairn_vec3 perpendicular = vec3_select(
        float_abs(n.x) >= 0.577f, vec3(n.y, 0.0f - n.x, 0.0f), vec3(0.0f, n.z, 0.0f - n.y));
    return vec3_clean(vec3_normalize(perpendicular, vec3(1.0f, 0.0f, 0.0f)));
}

// Orthonormal and right handed: *first cross *second is `n`.
static inline void vec3_tangents(cairn_vec3 n, cairn_vec3 *first, cairn_vec3 *second) {
    *first = vec3_tangent(n);
    *second = vec3_clean(vec3_cross(n, *first));
}

// At least the length, even with rounding. Without a root, and without the squares of what is
// nearly at rest: numbers that small take a CPU a hundred cycles.
static inline float vec3_length_bound(cairn_vec3 v) {
    return 1.00001f * (float_abs(v.x) + float_abs(v.y) + float_abs(v.z));
}

// ---- mat3

static inline cairn_mat3 mat3_transpose(cairn_mat3 m) {
    return (cairn_mat3){.x = vec3(m.x.x, m.y.x, m.z.x),
        .y = vec3(m.x.y, m.y.y, m.z.y),
        .z = vec3(m.x.z, m.y.z, m.z.z)};
}

static inline cairn_vec3 mat3_apply(cairn_mat3 m, cairn_vec3 v) {
    return vec3(vec3_dot(m.x, v), vec3_dot(m.y, v), vec3_dot(m.z, v));
}

// The transpose times v; for a rotation, the inverse rotation.
static inline cairn_vec3 mat3_apply_transposed(cairn_mat3 m, cairn_vec3 v) {
    return vec3(m.x.x * v.x + m.y.x * v.y + m.z.x * v.z, m.x.y * v.x + m.y.y * v.y + m.z.y * v.z,
        m.x.z * v.x + m.y.z * v.y + m.z.z * v.z);
}

static inline cairn_mat3 mat3_multiply(cairn_mat3 a, cairn_mat3 b) {
    return (cairn_mat3){.x = mat3_apply_transposed(b, a.x),
        .y = mat3_apply_transposed(b, a.y),
        .z = mat3_apply_transposed(b, a.z)};
}

static inline cairn_mat3 mat3_abs(cairn_mat3 m) {
    return (cairn_mat3){.x = vec3_abs(m.x), .y = vec3_abs(m.y), .z = vec3_abs(m.z)};
}

// Column 0, 1, 2; of a rotation, the image of that axis.
static inline cairn_vec3 mat3_column(cairn_mat3 m, uint32_t index) {
    return vec3(vec3_component(m.x, index), vec3_component(m.y, index), vec3_component(m.z, index));
}

// The matrix whose product with w is the cross product v x w.
static inline cairn_mat3 mat3_cross(cairn_vec3 v) {
    return (cairn_mat3){.x = vec3(0.0f, 0.0f - v.z, v.y),
        .y = vec3(v.z, 0.0f, 0.0f - v.x),
        .z = vec3(0.0f - v.y, v.x, 0.0f)};
}

// x with m x = b by Cramer's rule; zero when m is singular.
static inline cairn_vec3 mat3_solve(cairn_mat3 m, cairn_vec3 b) {
    const cairn_mat3 t = mat3_transpose(m);
    const cairn_vec3 yz = vec3_cross(t.y, t.z);
    const float determinant = vec3_dot(t.x, yz);
    const float inverse = determinant != 0.0f ? 1.0f / determinant : 0.0f;
    const cairn_vec3 bz = vec3_cross(b, t.z);
    const cairn_vec3 yb = vec3_cross(t.y, b);
    return vec3(
        inverse * vec3_dot(b, yz), inverse * vec3_dot(t.x, bz), inverse * vec3_dot(t.x, yb));
}

// ---- sym3

static inline cairn_sym3 sym3_zero(void) {
    return (cairn_sym3){.xx = 0.0f, .yy = 0.0f, .zz = 0.0f, .xy = 0.0f, .xz = 0.0f, .yz = 0.0f};
}

static inline cairn_sym3 sym3_diagonal(float xx, float yy, float zz) {
    return (cairn_sym3){.xx = xx, .yy = yy, .zz = zz, .xy = 0.0f, .xz = 0.0f, .yz = 0.0f};
}

static inline cairn_sym3 sym3_of(const float m[6]) {
    return (cairn_sym3){.xx = m[0], .yy = m[1], .zz = m[2], .xy = m[3], .xz = m[4], .yz = m[5]};
}

static inline cairn_sym3 sym3_add(cairn_sym3 a, cairn_sym3 b) {
    return (cairn_sym3){.xx = a.xx + b.xx,
        .yy = a.yy + b.yy,
        .zz = a.zz + b.zz,
        .xy = a.xy + b.xy,
        .xz = a.xz + b.xz,
        .yz = a.yz + b.yz};
}

static inline cairn_sym3 sym3_scale(cairn_sym3 a, float s) {
    return (cairn_sym3){.xx = a.xx * s,
        .yy = a.yy * s,
        .zz = a.zz * s,
        .xy = a.xy * s,
        .xz = a.xz * s,
        .yz = a.yz * s};
}

static inline cairn_sym3 sym3_clean(cairn_sym3 a) {
    return (cairn_sym3){.xx = a.xx + 0.0f,
        .yy = a.yy + 0.0f,
        .zz = a.zz + 0.0f,
        .xy = a.xy + 0.0f,
        .xz = a.xz + 0.0f,
        .yz = a.yz + 0.0f};
}

static inline cairn_vec3 sym3_apply(cairn_sym3 m, cairn_vec3 v) {
    return vec3(m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
        m.xz * v.x + m.yz * v.y + m.zz * v.z);
}

static inline cairn_mat3 sym3_full(cairn_sym3 m) {
    return (cairn_mat3){
        .x = vec3(m.xx, m.xy, m.xz), .y = vec3(m.xy, m.yy, m.yz), .z = vec3(m.xz, m.yz, m.zz)};
}

static inline float sym3_determinant(cairn_sym3 m) {
    return m.xx * (m.yy * m.zz - m.yz * m.yz) + m.xy * (m.xz * m.yz - m.xy * m.zz) +
           m.xz * (m.xy * m.yz - m.xz * m.yy);
}

// By cofactors; zero if the determinant is not positive, so that a body without inertia does not
// rotate. For inertia tensors and K matrices, whose determinants are positive.
static inline cairn_sym3 sym3_inverse(cairn_sym3 m) {
    const float xx = m.yy * m.zz - m.yz * m.yz;
    const float xy = m.xz * m.yz - m.xy * m.zz;
    const float xz = m.xy * m.yz - m.xz * m.yy;
    const float determinant = m.xx * xx + m.xy * xy + m.xz * xz;
    const float inverse = determinant > 0.0f ? 1.0f / determinant : 0.0f;
    return (cairn_sym3){.xx = xx * inverse,
        .yy = (m.xx * m.zz - m.xz * m.xz) * inverse,
        .zz = (m.xx * m.yy - m.xy * m.xy) * inverse,
        .xy = xy * inverse,
        .xz = xz * inverse,
        .yz = (m.xy * m.xz - m.xx * m.yz) * inverse};
}

// The inverse of a positive definite matrix, computed at about unit size, because the determinant
// of a pebble's inertia is smaller than the smallest float; zero for a matrix without an inverse.
static inline cairn_sym3 sym3_inverse_scaled(cairn_sym3 m) {
    const float size = m.xx + m.yy + m.zz;
    if (!(size > 1e-30f)) {
        return sym3_zero();
    }
    const float scale = 1.0f / size;
    return sym3_scale(sym3_inverse(sym3_scale(m, scale)), scale);
}

// R M R^T: an inertia tensor (or its inverse) transformed from body axes to world axes.
static inline cairn_sym3 sym3_rotate(cairn_sym3 m, cairn_mat3 r) {
    const cairn_vec3 x = sym3_apply(m, r.x);
    const cairn_vec3 y = sym3_apply(m, r.y);
    const cairn_vec3 z = sym3_apply(m, r.z);
    return (cairn_sym3){.xx = vec3_dot(r.x, x),
        .yy = vec3_dot(r.y, y),
        .zz = vec3_dot(r.z, z),
        .xy = vec3_dot(r.x, y),
        .xz = vec3_dot(r.x, z),
        .yz = vec3_dot(r.y, z)};
}

// What the parallel axis theorem adds to an inertia tensor about the centre of mass when it is
// taken about a point `offset` away: mass * (|d|^2 I - d d^T).
static inline cairn_sym3 sym3_parallel_axis(float mass, cairn_vec3 offset) {
    const cairn_vec3 d = offset;
    return sym3_scale((cairn_sym3){.xx = d.y * d.y + d.z * d.z,
                          .yy = d.x * d.x + d.z * d.z,
                          .zz = d.x * d.x + d.y * d.y,
                          .xy = 0.0f - d.x * d.y,
                          .xz = 0.0f - d.x * d.z,
                          .yz = 0.0f - d.y * d.z},
        mass);
}

// ---- quat

static inline cairn_mat3 mat3_of_quat(cairn_quat q) {
    const float xx = 2.0f * q.x * q.x;
    const float yy = 2.0f * q.y * q.y;
    const float zz = 2.0f * q.z * q.z;
    const float xy = 2.0f * q.x * q.y;
    const float xz = 2.0f * q.x * q.z;
    const float yz = 2.0f * q.y * q.z;
    const float wx = 2.0f * q.w * q.x;
    const float wy = 2.0f * q.w * q.y;
    const float wz = 2.0f * q.w * q.z;
    return (cairn_mat3){.x = vec3(1.0f - (yy + zz), xy - wz, xz + wy),
        .y = vec3(xy + wz, 1.0f - (xx + zz), yz - wx),
        .z = vec3(xz - wy, yz + wx, 1.0f - (xx + yy))};
}

// The rotation by the small vector `angle` (radians about its direction): (angle / 2, 1)
// normalized. Its angle is 2 atan(|angle| / 2), which is |angle|^3 / 12 less than |angle|.
static inline cairn_quat quat_of_small_angle(cairn_vec3 angle) {
    const cairn_vec3 half = vec3_scale(angle, 0.5f);
    return quat_normalize((cairn_quat){.x = half.x, .y = half.y, .z = half.z, .w = 1.0f});
}
