// SPDX-License-Identifier: MIT
#pragma once

// The linear rows of joints, which act at the anchors: three that keep them together, solved at
// once by the inverse of K = J M^-1 J^T (Catto 2006), or for a distance joint one along the line
// between them.
//
// Energy. A body of a pendulum of length r moves on a circle at the speed v, by the angle f = v h /
// r in a substep. A velocity along the tangent at the start of a substep leaves the circle. The
// velocity along the chord stays on it: it points inward by f / 2. A relaxing pass that removes
// what is not along the tangent at the new place, another f / 2 inward, then leaves the speed as it
// was, up to v f^4 / 8. Without the chord, or with the tangent at the old place, each substep
// takes the fraction f^2 of the energy, whatever the stiffness: an error of the first order. So
//
// - a biased row asks for the velocity of the chord (chord_velocity), and
// - the rows are updated to the new poses before they are relaxed, not after
//   (RATTLE: Andersen 1983).
//
// Warm start. In a steady swing one half of the impulse that turns the velocity is then the biased
// pass's and the other half the relax pass's. So each pass starts with what that pass had given in
// the last substep. If the biased pass started with both, it would have to take one half out again,
// and what a few sweeps leave of that feeds energy into chains: a double pendulum gained as much
// in a minute as two of its arms hold.
//
// Open joints. A pass starts with an impulse that is one substep old. If it rotates with the
// bodies, as the pull toward the centre of a swing does, it lags by the angle f: the fraction f of
// it pushes along the swing. Where the sweeps converge, they remove that. They do not converge at a
// small body with long arms: there each substep adds the fraction f^2 of the energy, and three
// bodies on two hinges reached 1e5 m/s. Such joints open. So the more a joint is open, the smaller
// is the part of the old impulse that the relax pass starts with; the biased pass gets the rest
// (linear_part.faded).

#include "sim/math/limits.h"
#include "sim/soft_step/body_gather.h"

typedef struct anchor_lanes {
    lanes3 arm_a0; // at the start of the step
    lanes3 arm_b0;
    lanes3 arm_a; // now: updated after each substep
    lanes3 arm_b;
    lanes3 centres; // m, from a's centre of mass to b's at the start of the step
    lanes3 offset;  // m, from anchor a to anchor b now
} anchor_lanes;

static inline lanes3 lanes3_at(const lanes *words) {
    return lanes3_of(words[0], words[1], words[2]);
}

// A body at the start of the step.
typedef struct joint_pose {
    lanes3 position; // of the centre of mass
    lanes_mat3 rotation;
    lanes3 anchor; // from the centre of mass, body axes
} joint_pose;

// The rows of eight floats that are read of a motion and of a body: this and what follows it.
#define MOTION_POSITION 3 // position, rotation
#define BODY_CENTRE 11

_Static_assert(offsetof(cairn_motion, position) == 4 * MOTION_POSITION, "a row begins here");
_Static_assert(offsetof(cairn_motion, rotation) == 4 * (MOTION_POSITION + 3), "follows it");
_Static_assert(offsetof(cairn_body, centre) == 4 * BODY_CENTRE, "a row begins here");

// The bodies in these slots, with anchors in body axes, from the bodies' origins.
static inline joint_pose load_joint_pose(
    const cairn_solver_context *context, const uint32_t *slots, lanes3 anchor) {
    const void *motions[CAIRN_LANES];
    const void *bodies[CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        motions[i] = &context->motions[slots[i]];
        bodies[i] = &context->body_params[slots[i]];
    }
    lanes motion[CAIRN_ROW_FLOATS];
    lanes body[CAIRN_ROW_FLOATS];
    load_struct_row(motions, MOTION_POSITION, motion);
    load_struct_row(bodies, BODY_CENTRE, body);
    return (joint_pose){.position = lanes3_at(motion),
        .rotation = lanes_mat3_of_quat(motion[3], motion[4], motion[5], motion[6]),
        .anchor = lanes3_sub(anchor, lanes3_at(body))};
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

// A rotation by a vector: the tangent of half the angle, to the fifth order, times the axis. So it
// keeps lengths at any angle, and its error is 5e-4 rad at 1 rad, far less at what a body with
// joints rotates by in a step.
typedef struct half_tangent {
    lanes3 axis;
    lanes factor; // 2 / (1 + axis^2)
} half_tangent;

INLINE half_tangent half_tangent_of(lanes3 rotation) {
    const lanes square = lanes3_dot(rotation, rotation);
    const lanes factor =
        lanes_all(0.5f) + square * (lanes_all(1.0f / 24.0f) + square * lanes_all(1.0f / 240.0f));
    const lanes3 axis = lanes3_scale(rotation, factor);
    return (half_tangent){
        .axis = axis, .factor = lanes_all(2.0f) / (lanes_all(1.0f) + lanes3_dot(axis, axis))};
}

INLINE lanes3 rotate_by_half_tangent(const half_tangent *t, lanes3 v) {
    const lanes3 across = lanes3_cross(t->axis, v);
    const lanes3 change = lanes3_add(across, lanes3_cross(t->axis, across));
    return lanes3_add_scaled(v, change, t->factor);
}

// Both bodies of a constraint now.
typedef struct pair_motion {
    lanes3 dp_a, dp_b; // m, since the step began
    half_tangent turn_a, turn_b;
    lanes3 rotation_a, rotation_b; // rad, the same as vectors
} pair_motion;

INLINE pair_motion load_pair_motion(const cairn_solver_context *context, const pair_lanes *pair) {
    const delta_lanes a = load_delta(context, pair->offset_a);
    const delta_lanes b = load_delta(context, pair->offset_b);
    return (pair_motion){.dp_a = a.position,
        .dp_b = b.position,
        .turn_a = half_tangent_of(a.rotation),
        .turn_b = half_tangent_of(b.rotation),
        .rotation_a = a.rotation,
        .rotation_b = b.rotation};
}

typedef struct linear_part {
    lanes_sym3 inverse;    // of K; not for distance joints
    lanes3 impulse;        // N s, accumulated in one substep; distance: in x, here and below
    lanes3 axis;           // distance: from a to b
    lanes mass;            // distance: effective
    lanes length;          // m, distance
    lanes3 biased_impulse; // N s, at the end of the biased pass
    lanes3 relax_impulse;  // N s, with which the next relax pass starts, but for `faded` of it
    lanes faded;           // 0 to 1, as far as the joint is open
    lanes3 chord;  // m/s, of the anchors (chord_velocity); distance: in x, of their distance
    lanes error;   // m, distance: how much too long it is
    lanes rate;    // 1/s, at which a biased pass takes out the position error
    lanes closing; // s/m: 1 / the fastest that it does so; 0: no bound
} linear_part;

// One body's part of K without its mass: -[r] I^-1 [r], with [r] the cross product matrix.
INLINE lanes_sym3 point_response(const body_lanes *body, lanes3 r) {
    const lanes_sym3 i = *body->inverse_inertia;
    // Columns of I^-1 [r], as far as they are needed.
    const lanes xy = i.yz * r.y - i.yy * r.z;
    const lanes xz = i.zz * r.y - i.yz * r.z;
    const lanes3 y =
        lanes3_of(i.xx * r.z - i.xz * r.x, i.xy * r.z - i.yz * r.x, i.xz * r.z - i.zz * r.x);
    const lanes3 z =
        lanes3_of(i.xy * r.x - i.xx * r.y, i.yy * r.x - i.xy * r.y, i.yz * r.x - i.xz * r.y);
    return (lanes_sym3){.xx = r.y * xz - r.z * xy,
        .yy = r.z * y.x - r.x * y.z,
        .zz = r.x * z.y - r.y * z.x,
        .xy = r.y * y.z - r.z * y.y,
        .xz = r.y * z.z - r.z * z.y,
        .yz = r.z * z.x - r.x * z.z};
}

// By cofactors, of the matrix scaled to about unit size: the determinant of heavy bodies' K is
// smaller than the smallest float.
INLINE lanes_sym3 inverse_of_k(lanes_sym3 m) {
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

// K, the response of the anchors' relative velocity to an impulse between them.
INLINE lanes_sym3 response_at_anchors(
    const anchor_lanes *anchors, const body_lanes *a, const body_lanes *b) {
    const lanes mass = a->inverse_mass + b->inverse_mass;
    lanes_sym3 k =
        lanes_sym3_add(point_response(a, anchors->arm_a), point_response(b, anchors->arm_b));
    k.xx = k.xx + mass;
    k.yy = k.yy + mass;
    k.zz = k.zz + mass;
    return k;
}

INLINE void update_ball_mass(
    linear_part *linear, const anchor_lanes *anchors, const body_lanes *a, const body_lanes *b) {
    linear->inverse = inverse_of_k(response_at_anchors(anchors, a, b));
}

INLINE void update_distance_row(
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
                                   lanes3_dot(ra, lanes_sym3_apply(*a->inverse_inertia, ra)) +
                                   lanes3_dot(rb, lanes_sym3_apply(*b->inverse_inertia, rb)));
}

// `impulse`, one of those of the part, as a vector.
INLINE lanes3 impulse_vector(const linear_part *linear, uint32_t kind, lanes3 impulse) {
    return kind == CAIRN_JOINT_DISTANCE ? lanes3_scale(linear->axis, impulse.x) : impulse;
}

// An impulse at the ends of the arms, on b, and the opposite one on a.
INLINE void apply_linear_impulse(
    const anchor_lanes *anchors, body_lanes *a, body_lanes *b, lanes3 impulse) {
    subtract_impulse(a, impulse, lanes3_cross(anchors->arm_a, impulse));
    add_impulse(b, impulse, lanes3_cross(anchors->arm_b, impulse));
}

// An impulse at the ends of the arms, as what it gives to the bodies.
typedef struct pair_impulse {
    lanes3 linear;   // N s, on b; less on a
    lanes3 torque_a; // N m s, less on a
    lanes3 torque_b;
} pair_impulse;

INLINE pair_impulse pair_impulse_of(
    const linear_part *linear, uint32_t kind, const anchor_lanes *anchors, lanes3 accumulated) {
    const lanes3 impulse = impulse_vector(linear, kind, accumulated);
    return (pair_impulse){.linear = impulse,
        .torque_a = lanes3_cross(anchors->arm_a, impulse),
        .torque_b = lanes3_cross(anchors->arm_b, impulse)};
}

INLINE pair_impulse pair_impulse_sub(pair_impulse p, pair_impulse q) {
    return (pair_impulse){.linear = lanes3_sub(p.linear, q.linear),
        .torque_a = lanes3_sub(p.torque_a, q.torque_a),
        .torque_b = lanes3_sub(p.torque_b, q.torque_b)};
}

INLINE void apply_torques(body_lanes *a, body_lanes *b, lanes3 torque_a, lanes3 torque_b) {
    a->angular_velocity =
        lanes3_sub(a->angular_velocity, lanes_sym3_apply(*a->inverse_inertia, torque_a));
    b->angular_velocity =
        lanes3_add(b->angular_velocity, lanes_sym3_apply(*b->inverse_inertia, torque_b));
}

INLINE void apply_pair_impulse(body_lanes *a, body_lanes *b, const pair_impulse *p) {
    a->velocity = lanes3_sub_scaled(a->velocity, p->linear, a->inverse_mass);
    b->velocity = lanes3_add_scaled(b->velocity, p->linear, b->inverse_mass);
    apply_torques(a, b, p->torque_a, p->torque_b);
}

// The part of relax_impulse with which the next biased pass starts instead.
INLINE lanes3 faded_impulse(const linear_part *linear) {
    return lanes3_scale(linear->relax_impulse, linear->faded);
}

INLINE void rotate_arms(anchor_lanes *anchors, const pair_motion *motion) {
    anchors->arm_a = rotate_by_half_tangent(&motion->turn_a, anchors->arm_a0);
    anchors->arm_b = rotate_by_half_tangent(&motion->turn_b, anchors->arm_b0);
    const lanes3 dp = lanes3_sub(motion->dp_b, motion->dp_a);
    anchors->offset =
        lanes3_add(lanes3_add(anchors->centres, dp), lanes3_sub(anchors->arm_b, anchors->arm_a));
}

// Updates arms, axis and masses to the bodies' poses. The bodies have the impulse with which the
// relax pass starts, but at the arms of the last substep: the difference is applied here.
INLINE void rotate_distance_row(linear_part *linear, anchor_lanes *anchors,
    const pair_motion *motion, pair_impulse *missing, body_lanes *a, body_lanes *b) {
    const uint32_t kind = CAIRN_JOINT_DISTANCE;
    const pair_impulse old = pair_impulse_of(linear, kind, anchors, linear->impulse);
    const pair_impulse old_relax = pair_impulse_of(linear, kind, anchors, linear->relax_impulse);
    linear->relax_impulse = lanes3_sub(linear->relax_impulse, faded_impulse(linear));
    rotate_arms(anchors, motion);
    update_distance_row(linear, anchors, a, b);
    *missing = pair_impulse_sub(pair_impulse_of(linear, kind, anchors, linear->impulse), old);
    const pair_impulse rotated =
        pair_impulse_sub(pair_impulse_of(linear, kind, anchors, linear->relax_impulse), old_relax);
    apply_pair_impulse(a, b, &rotated);
}

// The same of the rows of a ball joint, whose impulses are vectors that do not rotate: only the
// torques change.
INLINE void rotate_ball_rows(linear_part *linear, anchor_lanes *anchors, const pair_motion *motion,
    pair_impulse *missing, body_lanes *a, body_lanes *b) {
    const lanes3 old_a = anchors->arm_a;
    const lanes3 old_b = anchors->arm_b;
    const lanes3 old_relax = linear->relax_impulse;
    linear->relax_impulse = lanes3_sub(old_relax, faded_impulse(linear));
    rotate_arms(anchors, motion);
    update_ball_mass(linear, anchors, a, b);
    const lanes3 moved_a = lanes3_sub(anchors->arm_a, old_a);
    const lanes3 moved_b = lanes3_sub(anchors->arm_b, old_b);
    missing->torque_a = lanes3_cross(moved_a, linear->impulse);
    missing->torque_b = lanes3_cross(moved_b, linear->impulse);
    const lanes3 less = lanes3_sub(linear->relax_impulse, old_relax);
    const pair_impulse change = {.linear = less,
        .torque_a =
            lanes3_add(lanes3_cross(moved_a, old_relax), lanes3_cross(anchors->arm_a, less)),
        .torque_b =
            lanes3_add(lanes3_cross(moved_b, old_relax), lanes3_cross(anchors->arm_b, less))};
    apply_pair_impulse(a, b, &change);
}

// The fourth power of the speed of a rotation, from its square: 1 at 0.15 rad in a substep (36
// rad/s at 240 Hz).
INLINE lanes rotation_measure(const cairn_solver_context *context, lanes square) {
    const lanes measure = square * lanes_all(context->h * context->h * (1.0f / 0.0225f));
    return measure * measure;
}

// The mean velocity over a substep of the end of an arm that rotates, less its velocity at the
// start: along w x (w x r), of size f^2 r / (2 h) for the angle f = w h. It fades out for bodies
// that rotate fast at a joint that is open (`open`, 0 to 1): the end of a cracking whip, which the
// sweeps cannot hold together, must lose energy, not keep it. Without that, of 300 whips with heavy
// ends that were thrown at up to 80 rad/s three gained energy, with it one. A short pendulum at the
// end of a long one rotates as fast, but its joint stays closed, and it keeps its energy.
INLINE lanes3 chord_velocity(
    const cairn_solver_context *context, lanes3 arm, lanes3 angular_velocity, lanes open) {
    const lanes3 w = angular_velocity;
    const lanes square = lanes3_dot(w, w);
    const lanes fade = open * rotation_measure(context, square);
    const lanes scale = lanes_all(0.5f * context->h) / (lanes_all(1.0f) + fade);
    // w x (w x r) = (w . r) w - w^2 r
    const lanes3 inward = lanes3_sub_scaled(lanes3_scale(w, lanes3_dot(w, arm)), arm, square);
    return lanes3_scale(inward, scale);
}

// How far a joint is open, 1 at a hundredth of its arms.
INLINE lanes openness(const anchor_lanes *anchors, lanes gap) {
    const lanes arms =
        lanes3_dot(anchors->arm_a, anchors->arm_a) + lanes3_dot(anchors->arm_b, anchors->arm_b);
    return lanes_min(
        lanes_all(1.0f), gap * gap * inverse_or_zero(lanes_all(CAIRN_OPEN_SQUARE) * arms));
}

// How fast the arm itself rotates; that of a top, along its axis, does not.
INLINE lanes arm_rotation(
    const cairn_solver_context *context, lanes3 arm, lanes3 angular_velocity) {
    const lanes3 across = lanes3_cross(angular_velocity, arm);
    return rotation_measure(
        context, lanes3_dot(across, across) * inverse_or_zero(lanes3_dot(arm, arm)));
}

// From velocities that the relax pass has left: those of a biased pass that has not converged would
// feed themselves. Where the chord fades out, the anchors move apart, and the joint is stiffer for
// it: so the links at the end of a whip stay together.
// Returns how far the joint is open.
INLINE lanes update_chord(const cairn_solver_context *context, uint32_t kind, linear_part *linear,
    const anchor_lanes *anchors, const body_lanes *a, const body_lanes *b) {
    const lanes gap = kind == CAIRN_JOINT_DISTANCE
                          ? lanes_max(linear->error, lanes_all(0.0f) - linear->error)
                          : lanes_sqrt(lanes3_dot(anchors->offset, anchors->offset));
    const lanes open = openness(anchors, gap);
    linear->chord = lanes3_sub(chord_velocity(context, anchors->arm_b, b->angular_velocity, open),
        chord_velocity(context, anchors->arm_a, a->angular_velocity, open));
    const lanes fast = arm_rotation(context, anchors->arm_a, a->angular_velocity) +
                       arm_rotation(context, anchors->arm_b, b->angular_velocity);
    linear->rate = lanes_all(context->joint_softness.rate) *
                   (lanes_all(1.0f) + lanes_min(fast, lanes_all(CAIRN_WHIP_RATE_MAX)));
    linear->rate = linear->rate / lanes_max(lanes_all(1.0f), linear->rate * gap * linear->closing);
    if (kind == CAIRN_JOINT_DISTANCE) {
        // An anchor that moves across the axis is farther away at the end of the substep: by
        // sqrt(length^2 + across^2) - length.
        const lanes h = lanes_all(context->h);
        const lanes3 velocity = velocity_between(a, anchors->arm_a, b, anchors->arm_b);
        const lanes3 across =
            lanes3_sub_scaled(velocity, linear->axis, lanes3_dot(velocity, linear->axis));
        const lanes square = lanes3_dot(across, across) * h;
        const lanes length = linear->length + linear->error;
        const lanes later = lanes_sqrt(length * length + square * h);
        linear->chord.x =
            square * inverse_or_zero(length + later) + lanes3_dot(linear->chord, linear->axis);
    }
    return open;
}

// `soft`: the rows are soft by themselves; otherwise so is the whole joint (soften_joint).
INLINE void solve_ball(const cairn_solver_context *context, linear_part *linear,
    const anchor_lanes *anchors, body_lanes *a, body_lanes *b, bool biased, bool soft) {
    lanes3 velocity_error = velocity_between(a, anchors->arm_a, b, anchors->arm_b);
    if (biased) {
        velocity_error = lanes3_add_scaled(velocity_error, anchors->offset, linear->rate);
        velocity_error = lanes3_add(velocity_error, linear->chord);
    }
    lanes3 change = lanes_sym3_apply(linear->inverse, velocity_error);
    if (biased && soft) {
        const cairn_softness *softness = &context->joint_softness;
        change = lanes3_scale(change, lanes_all(softness->mass_scale));
        change = lanes3_add_scaled(change, linear->impulse, lanes_all(softness->impulse_scale));
    }
    const lanes3 impulse = lanes3_sub(linear->impulse, change);
    apply_linear_impulse(anchors, a, b, lanes3_sub(impulse, linear->impulse));
    linear->impulse = impulse;
}

INLINE void solve_distance(const cairn_solver_context *context, linear_part *linear,
    const anchor_lanes *anchors, body_lanes *a, body_lanes *b, bool biased) {
    lanes velocity_error =
        lanes3_dot(velocity_between(a, anchors->arm_a, b, anchors->arm_b), linear->axis);
    lanes change;
    if (biased) {
        const cairn_softness *soft = &context->joint_softness;
        velocity_error = velocity_error + linear->error * linear->rate + linear->chord.x;
        change = linear->mass * velocity_error * lanes_all(soft->mass_scale) +
                 linear->impulse.x * lanes_all(soft->impulse_scale);
    } else {
        change = linear->mass * velocity_error;
    }
    const lanes impulse = linear->impulse.x - change;
    apply_linear_impulse(anchors, a, b, lanes3_scale(linear->axis, impulse - linear->impulse.x));
    linear->impulse.x = impulse;
}
