// SPDX-License-Identifier: MIT
#pragma once

// How rows of every kind act on two bodies. Bodies that take no impulses are read but not written:
// a NaN times zero would spread through the ground to all bodies that rest on it.

#include "sim/pgs/pgs.h"

static inline void add_impulse(cairn_pgs_body *body, cairn_vec3 arm, cairn_vec3 impulse) {
    if (body->takes_impulses == 0) {
        return;
    }
    const cairn_vec3 turn = sym3_apply(body->inverse_inertia, vec3_cross(arm, impulse));
    body->linear_velocity =
        vec3_add(body->linear_velocity, vec3_multiply(impulse, body->inverse_mass_axes));
    body->angular_velocity = vec3_add(body->angular_velocity, turn);
}

static inline void subtract_impulse(cairn_pgs_body *body, cairn_vec3 arm, cairn_vec3 impulse) {
    if (body->takes_impulses == 0) {
        return;
    }
    const cairn_vec3 turn = sym3_apply(body->inverse_inertia, vec3_cross(arm, impulse));
    body->linear_velocity =
        vec3_sub(body->linear_velocity, vec3_multiply(impulse, body->inverse_mass_axes));
    body->angular_velocity = vec3_sub(body->angular_velocity, turn);
}

// An impulse about an axis: b gets it, a the opposite.
static inline void apply_angular_impulse(cairn_pgs_body *a, cairn_pgs_body *b, cairn_vec3 impulse) {
    if (a->takes_impulses != 0) {
        a->angular_velocity =
            vec3_sub(a->angular_velocity, sym3_apply(a->inverse_inertia, impulse));
    }
    if (b->takes_impulses != 0) {
        b->angular_velocity =
            vec3_add(b->angular_velocity, sym3_apply(b->inverse_inertia, impulse));
    }
}

// Velocity of the body's point: v + w x r. Of a body at rest it is +0 in either form.
static inline cairn_vec3 velocity_at(const cairn_pgs_body *body, cairn_vec3 arm) {
    if (body->at_rest != 0) {
        return vec3_zero();
    }
    return vec3_add(body->linear_velocity, vec3_cross(body->angular_velocity, arm));
}

// Velocity of b's point as seen from a's.
static inline cairn_vec3 point_velocity(
    const cairn_pgs_body *a, cairn_vec3 arm_a, const cairn_pgs_body *b, cairn_vec3 arm_b) {
    return vec3_sub(velocity_at(b, arm_b), velocity_at(a, arm_a));
}

// The velocity along `axis` that one newton second along it, at the end of the arm, adds there by
// rotation.
static inline float angular_response(const cairn_pgs_body *body, cairn_vec3 arm, cairn_vec3 axis) {
    if (body->takes_impulses == 0) {
        return 0.0f;
    }
    const cairn_vec3 lever = vec3_cross(arm, axis);
    return vec3_dot(lever, sym3_apply(body->inverse_inertia, lever));
}

// An effective mass of a response; 0 if nothing responds.
static inline float inverse_or_zero(float response) {
    return response > 0.0f ? 1.0f / response : 0.0f;
}

// The effective mass: the inverse of what one newton second along `axis` at both points adds to
// their relative speed along it (Catto 2005, J M^-1 J^T); 0 if neither body takes impulses.
static inline float row_mass(const cairn_pgs_body *a, cairn_vec3 arm_a, const cairn_pgs_body *b,
    cairn_vec3 arm_b, cairn_vec3 axis) {
    const float linear = a->inverse_mass + b->inverse_mass;
    const float angular_a = angular_response(a, arm_a, axis);
    const float angular_b = angular_response(b, arm_b, axis);
    const float sum = linear + angular_a + angular_b;
    return inverse_or_zero(sum);
}

// An impulse as it may be stored: the value if it is finite, otherwise +0; +0 also for -0.
static inline float impulse_clean(float impulse) {
    return float_finite(impulse) ? impulse + 0.0f : 0.0f;
}
