// SPDX-License-Identifier: MIT
#pragma once

// The linear rows of joints, which act at the anchors: three that keep them together, solved at
// once by the inverse of K = J M^-1 J^T (Catto 2006), or for a distance joint one along the line
// between them. The anchors follow the bodies through the substeps.

#include "sim/soft_step/body_gather.h"

typedef struct anchor_lanes {
    lanes3 arm_a0; // at the start of the step
    lanes3 arm_b0;
    lanes3 arm_a; // in this substep
    lanes3 arm_b;
    lanes3 centres; // m, from a's centre of mass to b's at the start of the step
    lanes3 offset;  // m, from anchor a to anchor b in this substep
} anchor_lanes;

// A body at the start of the step.
typedef struct joint_pose {
    lanes3 position; // of the centre of mass
    lanes_mat3 rotation;
    lanes3 anchor; // from the centre of mass, body axes
} joint_pose;

typedef struct joint_pose_source {
    const cairn_motion *motion;
    cairn_vec3 anchor;
} joint_pose_source;

static inline joint_pose load_joint_poses(const joint_pose_source *sources) {
    float words[10][CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_motion *motion = sources[i].motion;
        const float values[10] = {motion->position.x, motion->position.y, motion->position.z,
            motion->rotation.x, motion->rotation.y, motion->rotation.z, motion->rotation.w,
            sources[i].anchor.x, sources[i].anchor.y, sources[i].anchor.z};
        for (uint32_t k = 0; k < 10; ++k) {
            words[k][i] = values[k];
        }
    }
    lanes in[10];
    memcpy(in, words, sizeof in);
    return (joint_pose){.position = lanes3_of(in[0], in[1], in[2]),
        .rotation = lanes_mat3_of_quat(in[3], in[4], in[5], in[6]),
        .anchor = lanes3_of(in[7], in[8], in[9])};
}

static inline void prepare_anchors(
    anchor_lanes *anchors, const joint_pose *a, const joint_pose *b) {
    anchors->arm_a0 = lanes_mat3_apply(a->rotation, a->anchor);
    anchors->arm_b0 = lanes_mat3_apply(b->rotation, b->anchor);
    anchors->arm_a = anchors->arm_a0;
    anchors->arm_b = anchors->arm_b0;
    anchors->centres = lanes3_sub(b->position, a->position);
    anchors->offset = lanes3_add(anchors->centres, lanes3_sub(anchors->arm_b, anchors->arm_a));
}

// Rotates v by a small rotation vector, to the second order.
static inline lanes3 rotate_by_vector(lanes3 v, lanes3 rotation) {
    const lanes3 first = lanes3_cross(rotation, v);
    const lanes3 second = lanes3_cross(rotation, first);
    return lanes3_add(v, lanes3_add_scaled(first, second, lanes_all(0.5f)));
}

typedef struct linear_part {
    lanes_sym3 inverse; // of K; not for distance joints
    lanes3 impulse;     // N s, accumulated in one substep; distance: in x
    lanes3 axis;        // distance: from a to b
    lanes mass;         // distance: effective
    lanes length;       // m, distance
    lanes error;        // m, distance: how much too long it is
} linear_part;

// One body's part of K: E / m - [r] I^-1 [r], with [r] the cross product matrix.
static inline lanes_sym3 point_response(const body_lanes *body, lanes3 arm) {
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
static inline lanes_sym3 inverse_of_k(lanes_sym3 m) {
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

static inline void update_ball_mass(
    linear_part *linear, const anchor_lanes *anchors, const body_lanes *a, const body_lanes *b) {
    linear->inverse = inverse_of_k(
        lanes_sym3_add(point_response(a, anchors->arm_a), point_response(b, anchors->arm_b)));
}

static inline void update_distance_row(
    linear_part *linear, const anchor_lanes *anchors, const body_lanes *a, const body_lanes *b) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes square = lanes3_dot(anchors->offset, anchors->offset);
    const lanes_mask valid = lanes_less(lanes_all(1e-30f), square);
    const lanes length = lanes_sqrt(lanes_select(valid, square, one));
    linear->axis = lanes3_select(
        valid, lanes3_scale(anchors->offset, one / length), lanes3_of(zero, one, zero));
    linear->error = lanes_select(valid, length, zero) - linear->length;
    const lanes3 ra = lanes3_cross(anchors->arm_a, linear->axis);
    const lanes3 rb = lanes3_cross(anchors->arm_b, linear->axis);
    linear->mass = inverse_or_zero(a->inverse_mass + b->inverse_mass +
                                   lanes3_dot(ra, lanes_sym3_apply(a->inverse_inertia, ra)) +
                                   lanes3_dot(rb, lanes_sym3_apply(b->inverse_inertia, rb)));
}

// The accumulated impulse as a vector.
static inline lanes3 accumulated_impulse(const linear_part *linear, uint32_t kind) {
    return kind == CAIRN_JOINT_DISTANCE ? lanes3_scale(linear->axis, linear->impulse.x)
                                        : linear->impulse;
}

static inline void apply_linear_impulse(
    const anchor_lanes *anchors, body_lanes *a, body_lanes *b, lanes3 impulse) {
    const lanes zero = lanes_all(0.0f);
    apply_impulse(a, anchors->arm_a, b, anchors->arm_b, impulse, lanes3_of(zero, zero, zero));
}

// Updates arms, axis and masses to the bodies' poses. The bodies already have the impulses of the
// last substep, but at the arms of that substep; the difference is applied here.
static inline void rotate_linear_rows(linear_part *linear, uint32_t kind, anchor_lanes *anchors,
    const delta_lanes *delta_a, const delta_lanes *delta_b, body_lanes *a, body_lanes *b) {
    const lanes3 old = accumulated_impulse(linear, kind);
    const lanes3 old_a = lanes3_cross(anchors->arm_a, old);
    const lanes3 old_b = lanes3_cross(anchors->arm_b, old);
    anchors->arm_a = rotate_by_vector(anchors->arm_a0, delta_a->rotation);
    anchors->arm_b = rotate_by_vector(anchors->arm_b0, delta_b->rotation);
    const lanes3 dp = lanes3_sub(delta_b->position, delta_a->position);
    anchors->offset =
        lanes3_add(lanes3_add(anchors->centres, dp), lanes3_sub(anchors->arm_b, anchors->arm_a));
    if (kind == CAIRN_JOINT_DISTANCE) {
        update_distance_row(linear, anchors, a, b);
    } else {
        update_ball_mass(linear, anchors, a, b);
    }
    const lanes3 current = accumulated_impulse(linear, kind);
    const lanes3 change = lanes3_sub(current, old);
    a->velocity = lanes3_sub_scaled(a->velocity, change, a->inverse_mass);
    b->velocity = lanes3_add_scaled(b->velocity, change, b->inverse_mass);
    const lanes3 torque_a = lanes3_sub(lanes3_cross(anchors->arm_a, current), old_a);
    const lanes3 torque_b = lanes3_sub(lanes3_cross(anchors->arm_b, current), old_b);
    a->angular_velocity =
        lanes3_sub(a->angular_velocity, lanes_sym3_apply(a->inverse_inertia, torque_a));
    b->angular_velocity =
        lanes3_add(b->angular_velocity, lanes_sym3_apply(b->inverse_inertia, torque_b));
}

static inline void solve_ball(const cairn_solver_context *context, linear_part *linear,
    const anchor_lanes *anchors, body_lanes *a, body_lanes *b, bool biased) {
    lanes3 velocity_error = velocity_between(a, anchors->arm_a, b, anchors->arm_b);
    lanes3 change;
    if (biased) {
        const cairn_softness *soft = &context->joint_softness;
        velocity_error = lanes3_add_scaled(velocity_error, anchors->offset, lanes_all(soft->rate));
        change = lanes3_scale(
            lanes_sym3_apply(linear->inverse, velocity_error), lanes_all(soft->mass_scale));
        change = lanes3_add_scaled(change, linear->impulse, lanes_all(soft->impulse_scale));
    } else {
        change = lanes_sym3_apply(linear->inverse, velocity_error);
    }
    const lanes3 impulse = lanes3_sub(linear->impulse, change);
    apply_linear_impulse(anchors, a, b, lanes3_sub(impulse, linear->impulse));
    linear->impulse = impulse;
}

static inline void solve_distance(const cairn_solver_context *context, linear_part *linear,
    const anchor_lanes *anchors, body_lanes *a, body_lanes *b, bool biased) {
    lanes velocity_error =
        lanes3_dot(velocity_between(a, anchors->arm_a, b, anchors->arm_b), linear->axis);
    lanes change;
    if (biased) {
        const cairn_softness *soft = &context->joint_softness;
        velocity_error = velocity_error + linear->error * lanes_all(soft->rate);
        change = linear->mass * velocity_error * lanes_all(soft->mass_scale) +
                 linear->impulse.x * lanes_all(soft->impulse_scale);
    } else {
        change = linear->mass * velocity_error;
    }
    const lanes impulse = linear->impulse.x - change;
    apply_linear_impulse(anchors, a, b, lanes3_scale(linear->axis, impulse - linear->impulse.x));
    linear->impulse.x = impulse;
}
