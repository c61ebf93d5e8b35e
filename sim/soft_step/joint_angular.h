// SPDX-License-Identifier: MIT
#pragma once

// The angular rows of hinges and cones. A hinge keeps its axes together by two rows solved at once;
// a cone holds the swing of b's axis; both may hold the twist between two bounds. Bounds are
// one-sided: soft when overstepped, and across what room is left they let through just the turn
// that uses it up, like the normal rows of contacts (sim/soft_step/contact_solver.c).
//
// The rows are solved after those of the anchors (sim/soft_step/joint_point.h) and leave these as
// they are: each torque t brings the pull -K^-1 C t at the anchors, where C t is the speed that t
// gives them. What is left of the two bodies is one relative spin with the response S = J M^-1 J^T
// - C^T K^-1 C, three by three, in which the rows are swept; bodies change once. So a limit stops a
// door with all its mass, not with the inertia about its middle alone.
//
// The twist turns by w . (a + b) / (1 + a . b), a and b the two axes: its row lies along their
// bisector, and its room is measured along that.

#include "sim/constraint/joint_angle.h"
#include "sim/limits.h"
#include "sim/soft_step/joint_point.h"

typedef struct bound_lanes {
    lanes room;    // rad, along the row; negative: overstepped
    lanes impulse; // accumulated, of one substep, >= 0
} bound_lanes;

typedef struct turn_part {
    axes_lanes start;    // world, at the start of the step
    lanes start_angle;   // rad: twist, in the reach of the bounds
    lanes least, most;   // rad: its bounds
    lanes cone_cosine;   // of the largest swing
    lanes3 turned;       // rad: of b relative to a in the step, when rooms were last measured
    lanes_sym3 response; // S
    lanes3 axis;         // of the twist row
    lanes3 across[2];    // hinge: the directions of its two rows; cone: [0] that of the swing
    lanes3 twist;        // torque of the twist row; a hinge's leaves the other two rows alone
    lanes twist_mass;    // effective
    lanes swing_mass;    // cone
    lanes p, q, r;       // hinge: inverse of the 2 x 2 response, (p q; q r)
    lanes lean[2];       // hinge, rad: of b's axis along `across`
    lanes share[2];      // hinge: of `twist` along `across`
    lanes held[2];       // hinge: accumulated impulses
    bound_lanes lower;   // of the twist
    bound_lanes upper;
    bound_lanes swing; // cone
} turn_part;

// The speed that a torque gives the anchors: C t.
static inline lanes3 anchor_speed(
    const ends_lanes *ends, const body_lanes *a, const body_lanes *b, lanes3 torque) {
    const lanes3 of_a = lanes3_cross(lanes_sym3_apply(a->inverse_inertia, torque), ends->arm_a);
    const lanes3 of_b = lanes3_cross(lanes_sym3_apply(b->inverse_inertia, torque), ends->arm_b);
    return lanes3_add(of_a, of_b);
}

static inline lanes_sym3 free_response(
    const point_part *point, const ends_lanes *ends, const body_lanes *a, const body_lanes *b) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes_sym3 both = lanes_sym3_add(a->inverse_inertia, b->inverse_inertia);
    const lanes3 x = anchor_speed(ends, a, b, lanes3_of(one, zero, zero));
    const lanes3 y = anchor_speed(ends, a, b, lanes3_of(zero, one, zero));
    const lanes3 z = anchor_speed(ends, a, b, lanes3_of(zero, zero, one));
    const lanes3 pull_x = lanes_sym3_apply(point->inverse, x);
    const lanes3 pull_y = lanes_sym3_apply(point->inverse, y);
    const lanes3 pull_z = lanes_sym3_apply(point->inverse, z);
    return (lanes_sym3){.xx = both.xx - lanes3_dot(x, pull_x),
        .yy = both.yy - lanes3_dot(y, pull_y),
        .zz = both.zz - lanes3_dot(z, pull_z),
        .xy = both.xy - lanes3_dot(x, pull_y),
        .xz = both.xz - lanes3_dot(x, pull_z),
        .yz = both.yz - lanes3_dot(y, pull_z)};
}

static inline lanes row_inverse(lanes_sym3 response, lanes3 axis) {
    return inverse_or_zero(lanes3_dot(axis, lanes_sym3_apply(response, axis)));
}

// What b has turned relative to a, by two rotation vectors, to the second order (Baker, Campbell
// and Hausdorff).
static inline lanes3 turn_between(const delta_lanes *a, const delta_lanes *b) {
    const lanes3 apart = lanes3_sub(b->rotation, a->rotation);
    return lanes3_add_scaled(apart, lanes3_cross(a->rotation, apart), lanes_all(0.5f));
}

static inline void aim_hinge(turn_part *turn, const axes_lanes *axes) {
    const lanes3 t1 = axes->normal_a;
    const lanes3 t2 = lanes3_cross(axes->axis_a, t1);
    const lanes3 lean = lanes3_cross(axes->axis_a, axes->axis_b);
    const lanes3 of_1 = lanes_sym3_apply(turn->response, t1);
    const lanes3 of_2 = lanes_sym3_apply(turn->response, t2);
    const lanes k11 = lanes3_dot(t1, of_1);
    const lanes k12 = lanes3_dot(t2, of_1);
    const lanes k22 = lanes3_dot(t2, of_2);
    const lanes inverse = inverse_or_zero(k11 * k22 - k12 * k12);
    turn->p = k22 * inverse;
    turn->q = lanes_all(0.0f) - k12 * inverse;
    turn->r = k11 * inverse;
    turn->across[0] = t1;
    turn->across[1] = t2;
    turn->lean[0] = lanes3_dot(lean, t1);
    turn->lean[1] = lanes3_dot(lean, t2);
    turn->axis = axes->axis_a;
    const lanes along_1 = lanes3_dot(axes->axis_a, of_1);
    const lanes along_2 = lanes3_dot(axes->axis_a, of_2);
    turn->share[0] = turn->p * along_1 + turn->q * along_2;
    turn->share[1] = turn->q * along_1 + turn->r * along_2;
    turn->twist =
        lanes3_sub_scaled(lanes3_sub_scaled(turn->axis, t1, turn->share[0]), t2, turn->share[1]);
}

// The room of the swing from its cosine: near the cone it is the angle, near the middle more. Along
// the middle the swing has no direction, and a's zero direction serves.
static inline void aim_swing(turn_part *turn, const axes_lanes *axes) {
    const lanes3 lean = lanes3_cross(axes->axis_a, axes->axis_b);
    const lanes square = lanes3_dot(lean, lean);
    const lanes_mask sound = lanes_less(lanes_all(1e-10f), square);
    const lanes sine = lanes_sqrt(lanes_select(sound, square, lanes_all(1e-10f)));
    turn->across[0] =
        lanes3_select(sound, lanes3_scale(lean, lanes_all(1.0f) / sine), axes->normal_a);
    turn->swing_mass = row_inverse(turn->response, turn->across[0]);
    turn->swing.room = (lanes3_dot(axes->axis_a, axes->axis_b) - turn->cone_cosine) / sine;
}

// The row along the bisector, and how much longer a turn about it is than the twist. Without one
// there is no twist: no axis, and no room lost.
static inline lanes aim_bisector(turn_part *turn, const axes_lanes *axes) {
    const lanes3 sum = lanes3_add(axes->axis_a, axes->axis_b);
    const lanes square = lanes3_dot(sum, sum);
    const lanes_mask sound = lanes_less(lanes_all(1e-4f), square);
    const lanes length = lanes_sqrt(lanes_select(sound, square, lanes_all(1.0f)));
    const lanes inverse = lanes_select(sound, lanes_all(1.0f) / length, lanes_all(0.0f));
    turn->axis = lanes3_scale(sum, inverse);
    turn->twist = turn->axis;
    return lanes_select(sound, length * lanes_all(0.5f), lanes_all(0.0f));
}

// Directions, masses, errors and rooms, with b turned by `turn->turned` since the start.
static inline void aim_turn(turn_part *turn, uint32_t kind, const axes_lanes *axes) {
    lanes scale = lanes_all(1.0f);
    if (kind == CAIRN_JOINT_HINGE) {
        aim_hinge(turn, axes);
    } else {
        aim_swing(turn, axes);
        scale = aim_bisector(turn, axes);
    }
    const lanes3 answer = lanes_sym3_apply(turn->response, turn->twist);
    turn->twist_mass = inverse_or_zero(lanes3_dot(turn->axis, answer));
    const lanes turned = lanes3_dot(turn->turned, turn->axis);
    turn->lower.room = (turn->start_angle - turn->least) * scale + turned;
    turn->upper.room = (turn->most - turn->start_angle) * scale - turned;
}

// The accumulated impulses as one vector.
static inline lanes3 turn_torque(const turn_part *turn, uint32_t kind) {
    const lanes3 twist = lanes3_scale(turn->axis, turn->lower.impulse - turn->upper.impulse);
    if (kind == CAIRN_JOINT_HINGE) {
        return lanes3_add_scaled(lanes3_add_scaled(twist, turn->across[0], turn->held[0]),
            turn->across[1], turn->held[1]);
    }
    return lanes3_sub_scaled(twist, turn->across[0], turn->swing.impulse);
}

static inline void give_torque(body_lanes *a, body_lanes *b, lanes3 torque) {
    a->spin = lanes3_sub(a->spin, lanes_sym3_apply(a->inverse_inertia, torque));
    b->spin = lanes3_add(b->spin, lanes_sym3_apply(b->inverse_inertia, torque));
}

// As follow_point does for the arms: axes turn with their bodies, and the impulses with them.
static inline void follow_turn(turn_part *turn, uint32_t kind, const point_part *point,
    const ends_lanes *ends, const delta_lanes *delta_a, const delta_lanes *delta_b, body_lanes *a,
    body_lanes *b) {
    const lanes3 old = turn_torque(turn, kind);
    const axes_lanes axes = {.axis_a = turned_by(turn->start.axis_a, delta_a->rotation),
        .normal_a = turned_by(turn->start.normal_a, delta_a->rotation),
        .axis_b = turned_by(turn->start.axis_b, delta_b->rotation)};
    turn->turned = turn_between(delta_a, delta_b);
    turn->response = free_response(point, ends, a, b);
    aim_turn(turn, kind, &axes);
    give_torque(a, b, lanes3_sub(turn_torque(turn, kind), old));
}

// Rooms after the turn since they were last measured, along the rows as they are.
static inline void measure_rooms(
    turn_part *turn, const delta_lanes *delta_a, const delta_lanes *delta_b) {
    const lanes3 turned = turn_between(delta_a, delta_b);
    const lanes3 since = lanes3_sub(turned, turn->turned);
    const lanes along = lanes3_dot(since, turn->axis);
    turn->lower.room = turn->lower.room + along;
    turn->upper.room = turn->upper.room - along;
    turn->swing.room = turn->swing.room - lanes3_dot(since, turn->across[0]);
    turn->turned = turned;
}

// The impulse to add to a bound whose room grows by `speed`.
static inline lanes solve_bound(
    const cairn_solver_context *context, bound_lanes *bound, lanes mass, lanes speed, bool push) {
    const lanes zero = lanes_all(0.0f);
    const lanes closing = bound->room * lanes_all(context->inverse_h);
    lanes change;
    if (push) {
        const cairn_softness *soft = &context->joint_softness;
        const lanes_mask apart = lanes_less(zero, bound->room);
        const lanes bias = lanes_select(apart, closing, bound->room * lanes_all(soft->rate));
        const lanes scale =
            lanes_select(apart, lanes_all(1.0f), lanes_all(soft->mass_scale)) * mass;
        const lanes fade = lanes_select(apart, zero, lanes_all(soft->impulse_scale));
        change = scale * (speed + bias) + fade * bound->impulse;
    } else {
        change = mass * (speed + lanes_max(closing, zero));
    }
    const lanes impulse = lanes_max(bound->impulse - change, zero);
    const lanes added = impulse - bound->impulse;
    bound->impulse = impulse;
    return added;
}

// The spin of b seen from a, and the torque given so far in a visit.
typedef struct spin_lanes {
    lanes3 spin;
    lanes3 torque;
} spin_lanes;

static inline void spin_by(const turn_part *turn, spin_lanes *spin, lanes3 torque) {
    spin->torque = lanes3_add(spin->torque, torque);
    spin->spin = lanes3_add(spin->spin, lanes_sym3_apply(turn->response, torque));
}

static inline void solve_twist(
    const cairn_solver_context *context, turn_part *turn, spin_lanes *spin, bool push) {
    const lanes mass = turn->twist_mass;
    const lanes before = lanes3_dot(spin->spin, turn->axis);
    const lanes up = solve_bound(context, &turn->lower, mass, before, push);
    spin_by(turn, spin, lanes3_scale(turn->twist, up));
    const lanes back = lanes_all(0.0f) - lanes3_dot(spin->spin, turn->axis);
    const lanes down = solve_bound(context, &turn->upper, mass, back, push);
    spin_by(turn, spin, lanes3_scale(turn->twist, lanes_all(0.0f) - down));
    turn->held[0] = turn->held[0] - turn->share[0] * (up - down);
    turn->held[1] = turn->held[1] - turn->share[1] * (up - down);
}

static inline void solve_swing(
    const cairn_solver_context *context, turn_part *turn, spin_lanes *spin, bool push) {
    const lanes out = lanes3_dot(spin->spin, turn->across[0]);
    const lanes back =
        solve_bound(context, &turn->swing, turn->swing_mass, lanes_all(0.0f) - out, push);
    spin_by(turn, spin, lanes3_scale(turn->across[0], lanes_all(0.0f) - back));
}

static inline void solve_axes(
    const cairn_solver_context *context, turn_part *turn, spin_lanes *spin, bool push) {
    lanes u = lanes3_dot(spin->spin, turn->across[0]);
    lanes v = lanes3_dot(spin->spin, turn->across[1]);
    lanes scale = lanes_all(1.0f);
    lanes fade = lanes_all(0.0f);
    if (push) {
        const cairn_softness *soft = &context->joint_softness;
        u = u + turn->lean[0] * lanes_all(soft->rate);
        v = v + turn->lean[1] * lanes_all(soft->rate);
        scale = lanes_all(soft->mass_scale);
        fade = lanes_all(soft->impulse_scale);
    }
    const lanes first = (turn->p * u + turn->q * v) * scale + turn->held[0] * fade;
    const lanes second = (turn->q * u + turn->r * v) * scale + turn->held[1] * fade;
    turn->held[0] = turn->held[0] - first;
    turn->held[1] = turn->held[1] - second;
    const lanes3 torque =
        lanes3_add_scaled(lanes3_scale(turn->across[0], first), turn->across[1], second);
    const lanes zero = lanes_all(0.0f);
    spin_by(turn, spin, lanes3_sub(lanes3_of(zero, zero, zero), torque));
}

// After the rows of the anchors, which it keeps solved.
static inline void solve_turn(const cairn_solver_context *context, turn_part *turn, uint32_t kind,
    point_part *point, const ends_lanes *ends, body_lanes *a, body_lanes *b, bool push) {
    const lanes zero = lanes_all(0.0f);
    spin_lanes spin = {.spin = lanes3_sub(b->spin, a->spin), .torque = lanes3_of(zero, zero, zero)};
    if (kind == CAIRN_JOINT_HINGE) {
        solve_axes(context, turn, &spin, push);
        solve_twist(context, turn, &spin, push);
    } else {
        for (uint32_t i = 0; i < CAIRN_CONE_SWEEPS; ++i) {
            solve_twist(context, turn, &spin, push);
            solve_swing(context, turn, &spin, push);
        }
    }
    const lanes3 speed = anchor_speed(ends, a, b, spin.torque);
    const lanes3 pull =
        lanes3_sub(lanes3_of(zero, zero, zero), lanes_sym3_apply(point->inverse, speed));
    point->impulse = lanes3_add(point->impulse, pull);
    apply_impulse(a, ends->arm_a, b, ends->arm_b, pull, spin.torque);
}

// ---- from joints and back

// What a joint says of its axes and bounds, by lane.
#define CAIRN_JOINT_ANGULAR_WORDS 21

static inline void turn_words(
    const cairn_joint *joint, float warm, float out[CAIRN_JOINT_ANGULAR_WORDS]) {
    const bool limited = joint->limited != 0;
    const float values[CAIRN_JOINT_ANGULAR_WORDS] = {joint->axis_a.x, joint->axis_a.y,
        joint->axis_a.z, joint->normal_a.x, joint->normal_a.y, joint->normal_a.z, joint->axis_b.x,
        joint->axis_b.y, joint->axis_b.z, joint->normal_b.x, joint->normal_b.y, joint->normal_b.z,
        limited ? joint->lower : -CAIRN_ANGLE_FAR, limited ? joint->upper : CAIRN_ANGLE_FAR,
        joint->cone, joint->angular_impulse.x * warm, joint->angular_impulse.y * warm,
        joint->angular_impulse.z * warm, joint->lower_impulse * warm, joint->upper_impulse * warm,
        joint->swing_impulse * warm};
    memcpy(out, values, sizeof values);
}

static inline lanes3 lanes3_at(const lanes *words) {
    return lanes3_of(words[0], words[1], words[2]);
}

// `response` of the part is there already.
static inline void prepare_turn(turn_part *turn, uint32_t kind, const lanes *words,
    const place_lanes *place_a, const place_lanes *place_b) {
    const lanes zero = lanes_all(0.0f);
    turn->start = (axes_lanes){.axis_a = lanes_mat3_apply(place_a->rotation, lanes3_at(words)),
        .normal_a = lanes_mat3_apply(place_a->rotation, lanes3_at(words + 3)),
        .axis_b = lanes_mat3_apply(place_b->rotation, lanes3_at(words + 6)),
        .normal_b = lanes_mat3_apply(place_b->rotation, lanes3_at(words + 9))};
    turn->least = words[12];
    turn->most = words[13];
    turn->cone_cosine = lanes_cos(words[14]);
    turn->start_angle = angle_near(twist_of(&turn->start), turn->least, turn->most);
    turn->turned = lanes3_of(zero, zero, zero);
    turn->swing.room = zero;
    turn->across[1] = turn->turned;
    turn->share[0] = zero;
    turn->share[1] = zero;
    aim_turn(turn, kind, &turn->start);
    const lanes3 held = lanes3_at(words + 15);
    turn->held[0] = lanes3_dot(held, turn->across[0]);
    turn->held[1] = lanes3_dot(held, turn->across[1]);
    turn->lower.impulse = words[18];
    turn->upper.impulse = words[19];
    turn->swing.impulse = words[20];
}
