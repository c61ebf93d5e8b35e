// SPDX-License-Identifier: MIT
#pragma once

// The angular rows of hinges and cones. A hinge keeps its axes together by two rows that are solved
// at once; a cone limits the swing of b's axis; both may limit the twist to a range. A limit is one
// row with an impulse of one sign: soft where it is violated, and where there is slack it lets the
// joint use up the slack in this substep but not more, like the normal rows of contacts
// (sim/soft_step/contact_solver.c).
//
// The angular rows are solved after the linear ones (sim/soft_step/joint_linear.h) and keep these
// solved. A torque t moves the anchors apart with the velocity C t, so the anchors need the impulse
// -K^-1 C t as well. Seen from the angular rows, the two bodies are then one relative angular
// velocity with the response S = J M^-1 J^T - C^T K^-1 C (a Schur complement, 3 x 3). The rows are
// swept in that space, and bodies are read and written once. So a limit stops a door with all its
// mass, not only with the inertia about its centre.
//
// The twist changes by w . (a + b) / (1 + a . b), where a and b are the two axes: its row lies
// along their bisector, and its slack is measured along that.

#include "sim/constraint/joint_angle.h"
#include "sim/math/limits.h"
#include "sim/soft_step/joint_linear.h"

// Impulses of angular rows.
enum {
    HINGE_ROW_1, // along swing_axes
    HINGE_ROW_2,
    LOWER_LIMIT, // of the twist; limits have impulses >= 0
    UPPER_LIMIT,
    SWING_LIMIT, // cone
    ANGULAR_ROW_COUNT
};

// K as L D L^T, with ones on the diagonal of L. A small body on a long arm c has a K whose parts
// across and along the arm are m c^2 / I : 1, often thousands. Multiplication by an inverse in
// floats then mistakes part of what is across, times that ratio, for motion of the anchors;
// substitution does not (Higham 2002, Accuracy and Stability of Numerical Algorithms, chapter 10).
typedef struct factored_k {
    lanes l21, l31, l32;
    lanes inverse_d1, inverse_d2, inverse_d3;
} factored_k;

INLINE factored_k factor_k(lanes_sym3 k) {
    factored_k f;
    f.inverse_d1 = inverse_or_zero(k.xx);
    f.l21 = k.xy * f.inverse_d1;
    f.l31 = k.xz * f.inverse_d1;
    const lanes k32 = k.yz - f.l31 * k.xy;
    f.inverse_d2 = inverse_or_zero(k.yy - f.l21 * k.xy);
    f.l32 = k32 * f.inverse_d2;
    f.inverse_d3 = inverse_or_zero(k.zz - f.l31 * k.xz - f.l32 * k32);
    return f;
}

// L^-1 v
INLINE lanes3 solve_lower(const factored_k *f, lanes3 v) {
    const lanes y = v.y - f->l21 * v.x;
    return lanes3_of(v.x, y, v.z - f->l31 * v.x - f->l32 * y);
}

// K^-1 v
INLINE lanes3 solve_k(const factored_k *f, lanes3 v) {
    const lanes3 low = solve_lower(f, v);
    const lanes z = low.z * f->inverse_d3;
    const lanes y = low.y * f->inverse_d2 - f->l32 * z;
    return lanes3_of(low.x * f->inverse_d1 - f->l21 * y - f->l31 * z, y, z);
}

typedef struct angular_part {
    axes_lanes axes0; // world, at the start of the step
    lanes twist0;     // rad, at the start of the step, within half a turn of the limits' middle
    lanes lower_limit, upper_limit; // rad, of the twist
    lanes cone_cosine;              // of the largest swing
    lanes3 rotation;                // rad: of b relative to a since the start
    factored_k k;
    lanes_sym3 response;  // S
    lanes3 axis;          // of the twist row
    lanes3 swing_axes[2]; // hinge: of the rows that keep the axes together; cone: [0], of the swing
    lanes3 twist_torque;  // by which the twist row acts; a hinge's does not disturb the other rows
    lanes twist_response, swing_response; // of a rate along its own row to an impulse there
    lanes coupling[2]; // of the twist row: to the swing row of a cone, to both rows of a hinge
    lanes twist_mass;  // effective
    lanes swing_mass;  // cone
    lanes hinge_mass_11, hinge_mass_12, hinge_mass_22; // inverse of the 2 x 2 response
    lanes angular_error[2];                            // hinge, rad: of b's axis along swing_axes
    lanes twist_fraction[2];          // hinge: part of the twist row's torque along swing_axes
    lanes impulse[ANGULAR_ROW_COUNT]; // N m s, accumulated in one substep
    lanes biased_impulse[ANGULAR_ROW_COUNT]; // at the end of the biased pass
    lanes relax_impulse[ANGULAR_ROW_COUNT];  // with which the next relax pass starts
    // Rad, along the row; negative where the limit is violated.
    lanes lower_slack, upper_slack, swing_slack;
} angular_part;

// The velocity by which a torque moves the anchors apart: C t.
INLINE lanes3 anchor_velocity(
    const anchor_lanes *anchors, const body_lanes *a, const body_lanes *b, lanes3 torque) {
    const lanes3 of_a = lanes3_cross(lanes_sym3_apply(*a->inverse_inertia, torque), anchors->arm_a);
    const lanes3 of_b = lanes3_cross(lanes_sym3_apply(*b->inverse_inertia, torque), anchors->arm_b);
    return lanes3_add(of_a, of_b);
}

// v^T K^-1 w, of what solve_lower has made of both.
INLINE lanes product_by_k(const factored_k *f, lanes3 v, lanes3 w) {
    return v.x * w.x * f->inverse_d1 + v.y * w.y * f->inverse_d2 + v.z * w.z * f->inverse_d3;
}

// Factors K, and computes S, the response of the relative angular velocity while the anchors are
// held together.
INLINE void update_response(
    angular_part *angular, const anchor_lanes *anchors, const body_lanes *a, const body_lanes *b) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes_sym3 both = lanes_sym3_add(*a->inverse_inertia, *b->inverse_inertia);
    const factored_k k = factor_k(response_at_anchors(anchors, a, b));
    const lanes3 x = solve_lower(&k, anchor_velocity(anchors, a, b, lanes3_of(one, zero, zero)));
    const lanes3 y = solve_lower(&k, anchor_velocity(anchors, a, b, lanes3_of(zero, one, zero)));
    const lanes3 z = solve_lower(&k, anchor_velocity(anchors, a, b, lanes3_of(zero, zero, one)));
    angular->k = k;
    angular->response = (lanes_sym3){.xx = both.xx - product_by_k(&k, x, x),
        .yy = both.yy - product_by_k(&k, y, y),
        .zz = both.zz - product_by_k(&k, z, z),
        .xy = both.xy - product_by_k(&k, x, y),
        .xz = both.xz - product_by_k(&k, x, z),
        .yz = both.yz - product_by_k(&k, y, z)};
}

// The rotation of b relative to a as a vector, to the second order (Baker, Campbell and Hausdorff).
INLINE lanes3 relative_rotation(const pair_motion *motion) {
    const lanes3 apart = lanes3_sub(motion->rotation_b, motion->rotation_a);
    return lanes3_add_scaled(apart, lanes3_cross(motion->rotation_a, apart), lanes_all(0.5f));
}

// The impulse at the anchors that keeps them together under a torque: -K^-1 C t.
INLINE lanes3 holding_impulse(const angular_part *angular, const anchor_lanes *anchors,
    const body_lanes *a, const body_lanes *b, lanes3 torque) {
    const lanes zero = lanes_all(0.0f);
    const lanes3 velocity = anchor_velocity(anchors, a, b, torque);
    return lanes3_sub(lanes3_of(zero, zero, zero), solve_k(&angular->k, velocity));
}

INLINE void update_hinge_rows(angular_part *angular, const axes_lanes *axes) {
    const lanes3 t1 = axes->normal_a;
    const lanes3 t2 = lanes3_cross(axes->axis_a, t1);
    const lanes3 error = lanes3_cross(axes->axis_a, axes->axis_b);
    const lanes3 response_1 = lanes_sym3_apply(angular->response, t1);
    const lanes3 response_2 = lanes_sym3_apply(angular->response, t2);
    const lanes k11 = lanes3_dot(t1, response_1);
    const lanes k12 = lanes3_dot(t2, response_1);
    const lanes k22 = lanes3_dot(t2, response_2);
    const lanes inverse = inverse_or_zero(k11 * k22 - k12 * k12);
    angular->hinge_mass_11 = k22 * inverse;
    angular->hinge_mass_12 = lanes_all(0.0f) - k12 * inverse;
    angular->hinge_mass_22 = k11 * inverse;
    angular->swing_axes[0] = t1;
    angular->swing_axes[1] = t2;
    angular->angular_error[0] = lanes3_dot(error, t1);
    angular->angular_error[1] = lanes3_dot(error, t2);
    angular->axis = axes->axis_a;
    const lanes coupling_1 = lanes3_dot(axes->axis_a, response_1);
    const lanes coupling_2 = lanes3_dot(axes->axis_a, response_2);
    angular->coupling[0] = coupling_1;
    angular->coupling[1] = coupling_2;
    angular->twist_fraction[0] =
        angular->hinge_mass_11 * coupling_1 + angular->hinge_mass_12 * coupling_2;
    angular->twist_fraction[1] =
        angular->hinge_mass_12 * coupling_1 + angular->hinge_mass_22 * coupling_2;
    angular->twist_torque =
        lanes3_sub_scaled(lanes3_sub_scaled(angular->axis, t1, angular->twist_fraction[0]), t2,
            angular->twist_fraction[1]);
}

// The slack of the swing follows from its cosine: close to the limit it is the angle, far from it
// more than that. Without swing the axis has no direction, and a's zero direction is used.
INLINE void update_swing_row(angular_part *angular, const axes_lanes *axes) {
    const lanes3 error = lanes3_cross(axes->axis_a, axes->axis_b);
    const lanes square = lanes3_dot(error, error);
    const lanes_mask valid = lanes_less(lanes_all(1e-10f), square);
    const lanes sine = lanes_sqrt(lanes_select(valid, square, lanes_all(1e-10f)));
    angular->swing_axes[0] =
        lanes3_select(valid, lanes3_scale(error, lanes_all(1.0f) / sine), axes->normal_a);
    angular->swing_response = lanes3_dot(
        angular->swing_axes[0], lanes_sym3_apply(angular->response, angular->swing_axes[0]));
    angular->swing_mass = inverse_or_zero(angular->swing_response);
    angular->swing_slack = (lanes3_dot(axes->axis_a, axes->axis_b) - angular->cone_cosine) / sine;
}

// Puts the twist row along the bisector. Returns the factor from a twist to the rotation about that
// row. Opposite axes have no bisector and no twist: the row is then zero.
INLINE lanes update_twist_axis(angular_part *angular, const axes_lanes *axes) {
    const lanes3 sum = lanes3_add(axes->axis_a, axes->axis_b);
    const lanes square = lanes3_dot(sum, sum);
    const lanes_mask valid = lanes_less(lanes_all(1e-4f), square);
    const lanes length = lanes_sqrt(lanes_select(valid, square, lanes_all(1.0f)));
    const lanes inverse = lanes_select(valid, lanes_all(1.0f) / length, lanes_all(0.0f));
    angular->axis = lanes3_scale(sum, inverse);
    angular->twist_torque = angular->axis;
    return lanes_select(valid, length * lanes_all(0.5f), lanes_all(0.0f));
}

// Updates axes, masses, errors and slack from the axes now and `rotation`.
INLINE void update_angular_rows(angular_part *angular, uint32_t kind, const axes_lanes *axes) {
    lanes scale = lanes_all(1.0f);
    if (kind == CAIRN_JOINT_HINGE) {
        update_hinge_rows(angular, axes);
    } else {
        update_swing_row(angular, axes);
        scale = update_twist_axis(angular, axes);
    }
    const lanes3 effect = lanes_sym3_apply(angular->response, angular->twist_torque);
    angular->twist_response = lanes3_dot(angular->axis, effect);
    angular->twist_mass = inverse_or_zero(angular->twist_response);
    if (kind == CAIRN_JOINT_CONE) {
        angular->coupling[0] = lanes3_dot(angular->swing_axes[0], effect);
    }
    const lanes rotated = lanes3_dot(angular->rotation, angular->axis);
    angular->lower_slack = (angular->twist0 - angular->lower_limit) * scale + rotated;
    angular->upper_slack = (angular->upper_limit - angular->twist0) * scale - rotated;
}

// What the rows that keep a hinge's axes together have of `impulse`, one of those of the part.
INLINE lanes3 hinge_torque(const angular_part *angular, const lanes impulse[ANGULAR_ROW_COUNT]) {
    return lanes3_add_scaled(lanes3_scale(angular->swing_axes[0], impulse[HINGE_ROW_1]),
        angular->swing_axes[1], impulse[HINGE_ROW_2]);
}

INLINE void set_hinge_torque(
    const angular_part *angular, lanes3 torque, lanes impulse[ANGULAR_ROW_COUNT]) {
    impulse[HINGE_ROW_1] = lanes3_dot(torque, angular->swing_axes[0]);
    impulse[HINGE_ROW_2] = lanes3_dot(torque, angular->swing_axes[1]);
}

// `impulse`, one of those of the part, as one vector.
INLINE lanes3 torque_vector(
    const angular_part *angular, uint32_t kind, const lanes impulse[ANGULAR_ROW_COUNT]) {
    const lanes3 twist = lanes3_scale(angular->axis, impulse[LOWER_LIMIT] - impulse[UPPER_LIMIT]);
    if (kind == CAIRN_JOINT_HINGE) {
        return lanes3_add(twist, hinge_torque(angular, impulse));
    }
    return lanes3_sub_scaled(twist, angular->swing_axes[0], impulse[SWING_LIMIT]);
}

INLINE void apply_torque(body_lanes *a, body_lanes *b, lanes3 torque) {
    a->angular_velocity =
        lanes3_sub(a->angular_velocity, lanes_sym3_apply(*a->inverse_inertia, torque));
    b->angular_velocity =
        lanes3_add(b->angular_velocity, lanes_sym3_apply(*b->inverse_inertia, torque));
}

// Like rotate_ball_rows. The axes rotate with the bodies, and so do the impulses of limits, which
// act along them. The torque that keeps a hinge's axes together is a vector that does not rotate:
// two hinges of a light link hold each other's torques, many times what turns that link, and would
// not if each rotated with its own bodies. Returns what is missing in N m s on b.
INLINE lanes3 rotate_angular_rows(angular_part *angular, uint32_t kind, const anchor_lanes *anchors,
    const pair_motion *motion, body_lanes *a, body_lanes *b) {
    const lanes3 old = torque_vector(angular, kind, angular->impulse);
    const lanes3 old_relax = torque_vector(angular, kind, angular->relax_impulse);
    const lanes3 hinge = hinge_torque(angular, angular->impulse);
    const lanes3 hinge_relax = hinge_torque(angular, angular->relax_impulse);
    const axes_lanes axes = {
        .axis_a = rotate_by_half_tangent(&motion->turn_a, angular->axes0.axis_a),
        .normal_a = rotate_by_half_tangent(&motion->turn_a, angular->axes0.normal_a),
        .axis_b = rotate_by_half_tangent(&motion->turn_b, angular->axes0.axis_b)};
    angular->rotation = relative_rotation(motion);
    update_response(angular, anchors, a, b);
    update_angular_rows(angular, kind, &axes);
    if (kind == CAIRN_JOINT_HINGE) {
        set_hinge_torque(angular, hinge, angular->impulse);
        set_hinge_torque(angular, hinge_relax, angular->relax_impulse);
    }
    apply_torque(a, b, lanes3_sub(torque_vector(angular, kind, angular->relax_impulse), old_relax));
    return lanes3_sub(torque_vector(angular, kind, angular->impulse), old);
}

// Solves a limit whose slack grows with `velocity`; returns the impulse that was added.
INLINE lanes solve_limit(const cairn_solver_context *context, lanes slack, lanes *impulse,
    lanes mass, lanes velocity, bool biased) {
    const lanes zero = lanes_all(0.0f);
    const lanes closing = slack * lanes_all(context->inverse_h);
    const lanes pushed = biased ? slack * lanes_all(context->joint_softness.rate) : zero;
    const lanes bias = lanes_select(lanes_less(zero, slack), closing, pushed);
    const lanes change = mass * (velocity + bias);
    const lanes before = *impulse;
    *impulse = lanes_max(before - change, zero);
    return *impulse - before;
}

// Solves the limits of the twist, whose rate is `rate`. Returns the sum of the impulses added.
INLINE lanes solve_twist(
    const cairn_solver_context *context, angular_part *angular, lanes rate, bool biased) {
    const lanes mass = angular->twist_mass;
    const lanes up = solve_limit(
        context, angular->lower_slack, &angular->impulse[LOWER_LIMIT], mass, rate, biased);
    rate = rate + angular->twist_response * up;
    const lanes down = solve_limit(context, angular->upper_slack, &angular->impulse[UPPER_LIMIT],
        mass, lanes_all(0.0f) - rate, biased);
    return up - down;
}

// Twist and swing depend on two rates alone, and their impulses on each other only by them. So they
// are swept as two numbers.
INLINE lanes3 solve_cone(
    const cairn_solver_context *context, angular_part *angular, lanes3 velocity, bool biased) {
    const lanes zero = lanes_all(0.0f);
    lanes twist_rate = lanes3_dot(velocity, angular->axis);
    lanes swing_rate = lanes3_dot(velocity, angular->swing_axes[0]);
    lanes twist_sum = zero;
    lanes swing_sum = zero;
    for (uint32_t i = 0; i < CAIRN_CONE_SWEEPS; ++i) {
        const lanes twist = solve_twist(context, angular, twist_rate, biased);
        twist_sum = twist_sum + twist;
        twist_rate = twist_rate + angular->twist_response * twist;
        swing_rate = swing_rate + angular->coupling[0] * twist;
        const lanes back = solve_limit(context, angular->swing_slack,
            &angular->impulse[SWING_LIMIT], angular->swing_mass, zero - swing_rate, biased);
        swing_sum = swing_sum - back;
        swing_rate = swing_rate - angular->swing_response * back;
        twist_rate = twist_rate - angular->coupling[0] * back;
    }
    return lanes3_add_scaled(
        lanes3_scale(angular->axis, twist_sum), angular->swing_axes[0], swing_sum);
}

INLINE lanes3 solve_hinge(
    const cairn_solver_context *context, angular_part *angular, lanes3 velocity, bool biased) {
    lanes u = lanes3_dot(velocity, angular->swing_axes[0]);
    lanes v = lanes3_dot(velocity, angular->swing_axes[1]);
    if (biased) {
        u = u + angular->angular_error[0] * lanes_all(context->joint_softness.rate);
        v = v + angular->angular_error[1] * lanes_all(context->joint_softness.rate);
    }
    lanes first = angular->hinge_mass_11 * u + angular->hinge_mass_12 * v;
    lanes second = angular->hinge_mass_12 * u + angular->hinge_mass_22 * v;
    const lanes rate = lanes3_dot(velocity, angular->axis) - angular->coupling[0] * first -
                       angular->coupling[1] * second;
    // A torque about the axis that keeps the other two rows solved.
    const lanes twist = solve_twist(context, angular, rate, biased);
    first = first + angular->twist_fraction[0] * twist;
    second = second + angular->twist_fraction[1] * twist;
    angular->impulse[HINGE_ROW_1] = angular->impulse[HINGE_ROW_1] - first;
    angular->impulse[HINGE_ROW_2] = angular->impulse[HINGE_ROW_2] - second;
    return lanes3_sub_scaled(
        lanes3_sub_scaled(lanes3_scale(angular->axis, twist), angular->swing_axes[0], first),
        angular->swing_axes[1], second);
}

// Solves the angular rows and keeps the linear ones, which have just been solved, solved.
INLINE void solve_angular(const cairn_solver_context *context, angular_part *angular, uint32_t kind,
    linear_part *linear, const anchor_lanes *anchors, body_lanes *a, body_lanes *b, bool biased) {
    const lanes3 rates = lanes3_sub(b->angular_velocity, a->angular_velocity);
    const lanes3 torque = kind == CAIRN_JOINT_HINGE ? solve_hinge(context, angular, rates, biased)
                                                    : solve_cone(context, angular, rates, biased);
    const lanes3 impulse = holding_impulse(angular, anchors, a, b, torque);
    linear->impulse = lanes3_add(linear->impulse, impulse);
    apply_impulse(a, anchors->arm_a, b, anchors->arm_b, impulse, torque);
}

// Takes the same part of every impulse of the joint, which has just been solved as if it were
// rigid: with the response A of all its rows, that makes them soft by a multiple of A. Rows that
// are soft by their own response alone do not know that a torque comes with an impulse at the
// anchors: those of arms that are long for their bodies' inertia would then overshoot. Limits with
// slack are rigid.
INLINE void soften_joint(const cairn_solver_context *context, angular_part *angular, uint32_t kind,
    linear_part *linear, const anchor_lanes *anchors, body_lanes *a, body_lanes *b) {
    const lanes zero = lanes_all(0.0f);
    const lanes part = lanes_all(-context->joint_softness.impulse_scale);
    lanes taken[ANGULAR_ROW_COUNT] = {[HINGE_ROW_1] = part,
        [HINGE_ROW_2] = part,
        [LOWER_LIMIT] = lanes_select(lanes_less(zero, angular->lower_slack), zero, part),
        [UPPER_LIMIT] = lanes_select(lanes_less(zero, angular->upper_slack), zero, part),
        [SWING_LIMIT] = lanes_select(lanes_less(zero, angular->swing_slack), zero, part)};
    for (uint32_t i = 0; i < ANGULAR_ROW_COUNT; ++i) {
        taken[i] = taken[i] * angular->impulse[i];
        angular->impulse[i] = angular->impulse[i] + taken[i];
    }
    const lanes3 impulse = lanes3_scale(linear->impulse, part);
    linear->impulse = lanes3_add(linear->impulse, impulse);
    apply_impulse(
        a, anchors->arm_a, b, anchors->arm_b, impulse, torque_vector(angular, kind, taken));
}

// Damps the relative rotation of cones and of hinges with limits, and keeps the anchors together.
// Slow rotation is damped more, which stands for dry friction: a limb that is pressed on the floor
// by others bounces on what the sweeps leave of these forces, at some 1 rad/s for ever. A joint is
// damped if a limit holds it or if its lane of `pushed` is 1. Otherwise only rotation faster than
// CAIRN_LIMIT_FAST_SPEED is damped, so a door that swings between its limits keeps its energy.
INLINE void damp_rotation(const cairn_solver_context *context, const angular_part *angular,
    uint32_t kind, const anchor_lanes *anchors, lanes pushed, body_lanes *a, body_lanes *b) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes3 velocity = lanes3_sub(b->angular_velocity, a->angular_velocity);
    const float slow = 1.0f / (CAIRN_LIMIT_SLOW_SPEED * CAIRN_LIMIT_SLOW_SPEED);
    const lanes friction = lanes_all(CAIRN_LIMIT_SLOW_DAMPING) /
                           (one + lanes3_dot(velocity, velocity) * lanes_all(slow));
    const lanes held = pushed + angular->impulse[LOWER_LIMIT] + angular->impulse[UPPER_LIMIT] +
                       angular->impulse[SWING_LIMIT];
    const lanes square = lanes_all(CAIRN_LIMIT_FAST_SPEED * CAIRN_LIMIT_FAST_SPEED);
    const lanes fast =
        lanes_max(one - square / lanes_max(lanes3_dot(velocity, velocity), square), zero);
    const lanes share = lanes_select(lanes_less(zero, held), one, fast);
    const lanes rate = share * lanes_all(context->limit_damping) * (one + friction);
    const lanes drag = rate / (one + rate);
    const lanes_mask limited = lanes_less(lanes_all(-CAIRN_ANGLE_FAR), angular->lower_limit);
    const lanes part = kind == CAIRN_JOINT_CONE ? drag : lanes_select(limited, drag, zero);
    const lanes3 torque =
        lanes3_scale(lanes_sym3_apply(inverse_of_k(angular->response), velocity), zero - part);
    apply_impulse(a, anchors->arm_a, b, anchors->arm_b,
        holding_impulse(angular, anchors, a, b, torque), torque);
}

// ---- from joints and back

// The floats of a joint from which on rows of eight are read.
#define JOINT_AXES 20   // axis_a, axis_b, two of normal_a
#define JOINT_LIMITS 28 // the rest of normal_a, normal_b, cone, lower, upper, limited
#define JOINT_SUMS 34   // upper, limited, angular_impulse, swing_impulse, lower and upper impulse

_Static_assert(offsetof(cairn_joint, axis_a) == 4 * JOINT_AXES, "a row begins here");
_Static_assert(offsetof(cairn_joint, normal_a) == 4 * (JOINT_AXES + 6), "at its end");
_Static_assert(offsetof(cairn_joint, limited) == 4 * (JOINT_LIMITS + 7), "at its end");
_Static_assert(offsetof(cairn_joint, upper) == 4 * JOINT_SUMS, "a row begins here");
_Static_assert(sizeof(cairn_joint) == 4 * (JOINT_SUMS + 8), "and ends the joint");

// What a joint has besides its linear rows.
typedef struct angular_words {
    lanes axes[CAIRN_ROW_FLOATS];
    lanes limits[CAIRN_ROW_FLOATS];
    lanes sums[CAIRN_ROW_FLOATS];
} angular_words;

static inline angular_words load_angular_words(const void *const *joints) {
    angular_words words;
    load_struct_row(joints, JOINT_AXES, words.axes);
    load_struct_row(joints, JOINT_LIMITS, words.limits);
    load_struct_row(joints, JOINT_SUMS, words.sums);
    return words;
}

// All bits of a lane with a word that is 1, none of one that is 0.
static inline lanes_mask mask_of_words(lanes words) {
    lanes_mask bits;
    memcpy(&bits, &words, sizeof bits);
    return 0 - bits;
}

// Fills everything but `response`, which must be set before.
static inline void prepare_angular(angular_part *angular, uint32_t kind, lanes warm,
    const angular_words *words, const joint_pose *pose_a, const joint_pose *pose_b) {
    const lanes zero = lanes_all(0.0f);
    const lanes *axes = words->axes;
    const lanes *limits = words->limits;
    const lanes3 normal_a = lanes3_of(axes[6], axes[7], limits[0]);
    const lanes_mask limited = mask_of_words(limits[7]);
    angular->axes0 = (axes_lanes){.axis_a = lanes_mat3_apply(pose_a->rotation, lanes3_at(axes)),
        .normal_a = lanes_mat3_apply(pose_a->rotation, normal_a),
        .axis_b = lanes_mat3_apply(pose_b->rotation, lanes3_at(axes + 3)),
        .normal_b = lanes_mat3_apply(pose_b->rotation, lanes3_at(limits + 1))};
    angular->lower_limit = lanes_select(limited, limits[5], lanes_all(-CAIRN_ANGLE_FAR));
    angular->upper_limit = lanes_select(limited, limits[6], lanes_all(CAIRN_ANGLE_FAR));
    angular->cone_cosine = lanes_cos(limits[4]);
    angular->twist0 =
        angle_near(twist_of(&angular->axes0), angular->lower_limit, angular->upper_limit);
    angular->rotation = lanes3_of(zero, zero, zero);
    for (uint32_t i = 0; i < ANGULAR_ROW_COUNT; ++i) {
        angular->relax_impulse[i] = zero;
    }
    angular->swing_slack = zero;
    angular->swing_axes[1] = angular->rotation;
    angular->twist_fraction[0] = zero;
    angular->twist_fraction[1] = zero;
    update_angular_rows(angular, kind, &angular->axes0);
    const lanes *sums = words->sums;
    set_hinge_torque(angular, lanes3_scale(lanes3_at(sums + 2), warm), angular->impulse);
    angular->impulse[LOWER_LIMIT] = sums[6] * warm;
    angular->impulse[UPPER_LIMIT] = sums[7] * warm;
    angular->impulse[SWING_LIMIT] = sums[5] * warm;
}

// The impulses in the order of a joint, from angular_impulse on.
static inline void list_angular_impulses(const angular_part *angular, uint32_t kind, lanes out[6]) {
    const lanes *sums = angular->impulse;
    const bool hinge = kind == CAIRN_JOINT_HINGE;
    const lanes none = lanes_all(0.0f);
    const lanes3 swing = hinge_torque(angular, sums);
    out[0] = hinge ? swing.x : none;
    out[1] = hinge ? swing.y : none;
    out[2] = hinge ? swing.z : none;
    out[3] = hinge ? none : sums[SWING_LIMIT];
    out[4] = sums[LOWER_LIMIT];
    out[5] = sums[UPPER_LIMIT];
}
