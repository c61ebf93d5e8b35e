// SPDX-License-Identifier: MIT
#pragma once

// The rows that hold the anchors of joints together: a ball's three, solved at once by the inverse
// of K = J M^-1 J^T (Catto 2006), or a distance joint's one along the line between the anchors.

#include "sim/soft_step/joint_ends.h"

typedef struct point_part {
    lanes_sym3 inverse; // ball: of K
    lanes3 impulse;     // accumulated, of one substep; distance: in x
    lanes3 axis;        // distance: from a to b
    lanes mass;         // distance: effective
    lanes length;       // m, distance
    lanes error;        // m, distance: too long by
} point_part;

// One body's part of K: E / m - [r] I^-1 [r], with [r] the cross product matrix.
static inline lanes_sym3 k_part(const body_lanes *body, lanes3 arm) {
    const lanes zero = lanes_all(0.0f);
    const lanes_sym3 i = body->inverse_inertia;
    const lanes3 rx = lanes3_of(zero, zero - arm.z, arm.y);
    const lanes3 ry = lanes3_of(arm.z, zero, zero - arm.x);
    const lanes3 rz = lanes3_of(zero - arm.y, arm.x, zero);
    const lanes3 ix = lanes_sym3_apply(i, rx);
    const lanes3 iy = lanes_sym3_apply(i, ry);
    const lanes3 iz = lanes_sym3_apply(i, rz);
    const lanes m = body->inverse_mass;
    return (lanes_sym3){.xx = m + lanes3_dot(rx, ix),
        .yy = m + lanes3_dot(ry, iy),
        .zz = m + lanes3_dot(rz, iz),
        .xy = lanes3_dot(rx, iy),
        .xz = lanes3_dot(rx, iz),
        .yz = lanes3_dot(ry, iz)};
}

// By cofactors, of the matrix scaled to about unit size: the determinant of heavy bodies' K is
// smaller than the smallest float.
static inline lanes_sym3 invert(lanes_sym3 m) {
    const lanes scale = inverse_or_zero(m.xx + m.yy + m.zz);
    const lanes_sym3 s = {.xx = m.xx * scale,
        .yy = m.yy * scale,
        .zz = m.zz * scale,
        .xy = m.xy * scale,
        .xz = m.xz * scale,
        .yz = m.yz * scale};
    const lanes xx = s.yy * s.zz - s.yz * s.yz;
    const lanes xy = s.xz * s.yz - s.xy * s.zz;
    const lanes xz = s.xy * s.yz - s.xz * s.yy;
    const lanes factor = inverse_or_zero(s.xx * xx + s.xy * xy + s.xz * xz) * scale;
    return (lanes_sym3){.xx = xx * factor,
        .yy = (s.xx * s.zz - s.xz * s.xz) * factor,
        .zz = (s.xx * s.yy - s.xy * s.xy) * factor,
        .xy = xy * factor,
        .xz = xz * factor,
        .yz = (s.xy * s.xz - s.xx * s.yz) * factor};
}

static inline void aim_ball(
    point_part *point, const ends_lanes *ends, const body_lanes *a, const body_lanes *b) {
    point->inverse = invert(lanes_sym3_add(k_part(a, ends->arm_a), k_part(b, ends->arm_b)));
}

static inline void aim_distance(
    point_part *point, const ends_lanes *ends, const body_lanes *a, const body_lanes *b) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes square = lanes3_dot(ends->offset, ends->offset);
    const lanes_mask sound = lanes_less(lanes_all(1e-30f), square);
    const lanes length = lanes_sqrt(lanes_select(sound, square, one));
    point->axis =
        lanes3_select(sound, lanes3_scale(ends->offset, one / length), lanes3_of(zero, one, zero));
    point->error = lanes_select(sound, length, zero) - point->length;
    const lanes3 ra = lanes3_cross(ends->arm_a, point->axis);
    const lanes3 rb = lanes3_cross(ends->arm_b, point->axis);
    point->mass = inverse_or_zero(a->inverse_mass + b->inverse_mass +
                                  lanes3_dot(ra, lanes_sym3_apply(a->inverse_inertia, ra)) +
                                  lanes3_dot(rb, lanes_sym3_apply(b->inverse_inertia, rb)));
}

// The accumulated impulse as a vector.
static inline lanes3 point_pull(const point_part *point, uint32_t kind) {
    return kind == CAIRN_JOINT_DISTANCE ? lanes3_scale(point->axis, point->impulse.x)
                                        : point->impulse;
}

static inline void give_pull(const ends_lanes *ends, body_lanes *a, body_lanes *b, lanes3 impulse) {
    const lanes zero = lanes_all(0.0f);
    apply_impulse(a, ends->arm_a, b, ends->arm_b, impulse, lanes3_of(zero, zero, zero));
}

// The bodies were given the impulse of the last substep at the arms it had then; the difference
// that the new arms make follows. `ends` still has the old arms.
static inline void follow_point(point_part *point, uint32_t kind, ends_lanes *ends,
    const delta_lanes *delta_a, const delta_lanes *delta_b, body_lanes *a, body_lanes *b) {
    const lanes3 old = point_pull(point, kind);
    const lanes3 old_a = lanes3_cross(ends->arm_a, old);
    const lanes3 old_b = lanes3_cross(ends->arm_b, old);
    follow_ends(ends, delta_a, delta_b);
    if (kind == CAIRN_JOINT_DISTANCE) {
        aim_distance(point, ends, a, b);
    } else {
        aim_ball(point, ends, a, b);
    }
    const lanes3 now = point_pull(point, kind);
    const lanes3 change = lanes3_sub(now, old);
    a->velocity = lanes3_sub_scaled(a->velocity, change, a->inverse_mass);
    b->velocity = lanes3_add_scaled(b->velocity, change, b->inverse_mass);
    const lanes3 turn_a = lanes3_sub(lanes3_cross(ends->arm_a, now), old_a);
    const lanes3 turn_b = lanes3_sub(lanes3_cross(ends->arm_b, now), old_b);
    a->spin = lanes3_sub(a->spin, lanes_sym3_apply(a->inverse_inertia, turn_a));
    b->spin = lanes3_add(b->spin, lanes_sym3_apply(b->inverse_inertia, turn_b));
}

static inline void solve_ball(const cairn_solver_context *context, point_part *point,
    const ends_lanes *ends, body_lanes *a, body_lanes *b, bool push) {
    lanes3 wanted = velocity_between(a, ends->arm_a, b, ends->arm_b);
    lanes3 change;
    if (push) {
        const cairn_softness *soft = &context->joint_softness;
        wanted = lanes3_add_scaled(wanted, ends->offset, lanes_all(soft->rate));
        change =
            lanes3_scale(lanes_sym3_apply(point->inverse, wanted), lanes_all(soft->mass_scale));
        change = lanes3_add_scaled(change, point->impulse, lanes_all(soft->impulse_scale));
    } else {
        change = lanes_sym3_apply(point->inverse, wanted);
    }
    const lanes3 impulse = lanes3_sub(point->impulse, change);
    give_pull(ends, a, b, lanes3_sub(impulse, point->impulse));
    point->impulse = impulse;
}

static inline void solve_distance(const cairn_solver_context *context, point_part *point,
    const ends_lanes *ends, body_lanes *a, body_lanes *b, bool push) {
    lanes wanted = lanes3_dot(velocity_between(a, ends->arm_a, b, ends->arm_b), point->axis);
    lanes change;
    if (push) {
        const cairn_softness *soft = &context->joint_softness;
        wanted = wanted + point->error * lanes_all(soft->rate);
        change = point->mass * wanted * lanes_all(soft->mass_scale) +
                 point->impulse.x * lanes_all(soft->impulse_scale);
    } else {
        change = point->mass * wanted;
    }
    const lanes impulse = point->impulse.x - change;
    give_pull(ends, a, b, lanes3_scale(point->axis, impulse - point->impulse.x));
    point->impulse.x = impulse;
}
