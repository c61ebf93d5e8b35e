// SPDX-License-Identifier: MIT
#pragma once

// Axes along or about which a body does not move (cairn_body_locks), as what impulses do to it. A
// lock is a constraint with an infinite impulse along a world axis, so it needs no row: the
// response of the body to every other impulse is that of a body that cannot move this way.
//
// Linear: the inverse mass is one number for each axis, 0 if the axis is locked. Angular: with
// W = I^-1 in world axes and l a locked axis, the torque that keeps w_l at 0 leaves
// W - W_l W_l^T / W_ll, the inverse inertia within the free axes.

#include "sim/state/world.h"

static inline cairn_vec3 lock_vector(uint32_t bits, cairn_vec3 v) {
    return vec3((bits & 1u) != 0 ? 0.0f : v.x, (bits & 2u) != 0 ? 0.0f : v.y,
        (bits & 4u) != 0 ? 0.0f : v.z);
}
static inline cairn_vec3 lock_linear(uint32_t flags, cairn_vec3 v) {
    return lock_vector(flags, v);
}
static inline cairn_vec3 lock_angular(uint32_t flags, cairn_vec3 v) {
    return lock_vector(flags >> 3, v);
}

// The inverse inertia (world axes) that remains about the axes that are free.
static inline cairn_sym3 lock_inertia(uint32_t flags, cairn_sym3 inertia) {
    cairn_mat3 m = sym3_full(inertia);
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const cairn_vec3 column = mat3_column(m, axis);
        const float pivot = vec3_component(column, axis);
        if ((flags >> (3 + axis) & 1u) == 0) {
            continue;
        }
        const float scale = pivot > 0.0f ? 1.0f / pivot : 0.0f;
        m.x = lock_vector(1u << axis, vec3_sub_scaled(m.x, column, column.x * scale));
        m.y = lock_vector(1u << axis, vec3_sub_scaled(m.y, column, column.y * scale));
        m.z = lock_vector(1u << axis, vec3_sub_scaled(m.z, column, column.z * scale));
        m.x = vec3_select(axis == 0, vec3_zero(), m.x);
        m.y = vec3_select(axis == 1, vec3_zero(), m.y);
        m.z = vec3_select(axis == 2, vec3_zero(), m.z);
    }
    return (cairn_sym3){
        .xx = m.x.x, .yy = m.y.y, .zz = m.z.z, .xy = m.x.y, .xz = m.x.z, .yz = m.y.z};
}

// What impulses do to a body now.
typedef struct cairn_response {
    cairn_vec3 inverse_mass;    // 1/kg, along the axes of the world
    cairn_sym3 inverse_inertia; // world axes
} cairn_response;

static inline cairn_response body_response(const cairn_body *body, cairn_quat rotation) {
    const float m = body->inverse_mass;
    const cairn_sym3 inertia = body->inverse_mass > 0.0f
                                   ? sym3_rotate(body->inverse_inertia, mat3_of_quat(rotation))
                                   : sym3_zero();
    const uint32_t locks = body->flags & CAIRN_LOCKS_ALL;
    return (cairn_response){.inverse_mass = lock_linear(locks, vec3(m, m, m)),
        .inverse_inertia = locks == 0 ? inertia : lock_inertia(locks, inertia)};
}
