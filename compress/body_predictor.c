// SPDX-License-Identifier: MIT
#include "compress/body_predictor.h"

// Upwards, not along the axis.
CAIRN_VEC4_INLINE cairn_vec4 up_of(const cairn_prediction_frame *frame, float length) {
    return frame->axis * cairn_vec4_all(length * frame->up_sign);
}

// Height of the centre of a box above a plane that it lies on: its half extents along the row of
// the rotation's matrix that belongs to the vertical axis.
static float support_height(
    const cairn_prediction_frame *frame, const cairn_vec4 *rotation, const float half[3]) {
    const cairn_vec4 q = *rotation;
    const uint32_t i = frame->up, j = (i + 1) % 3, k = (i + 2) % 3;
    const float along_i = 1.0f - 2.0f * (q[j] * q[j] + q[k] * q[k]);
    const float along_j = 2.0f * (q[i] * q[j] - q[3] * q[k]);
    const float along_k = 2.0f * (q[i] * q[k] + q[3] * q[j]);
    return cairn_float_abs(along_i) * half[i] + cairn_float_abs(along_j) * half[j] +
           cairn_float_abs(along_k) * half[k];
}

// Companions: 0 none, 1 loose, 2 stuck.
static uint32_t companion_state(const cairn_body_motion *other, float slip, float slip_max) {
    return other == NULL ? 0 : slip < slip_max ? 2 : 1;
}

// What both kinds of errors are estimated from.
static void start_error_features(cairn_prediction *p) {
    const cairn_companions *c = &p->companions;
    float *features = p->error_features;
    features[CAIRN_ERROR_CONSTANT] = 1.0f;
    features[CAIRN_ERROR_ACCELERATION] = p->acceleration_size;
    features[CAIRN_ERROR_SPIN] = p->spin;
    features[CAIRN_ERROR_SLIP] = c->neighbours[0] != NULL ? c->slips[0] : p->speed;
    features[CAIRN_ERROR_LEADER_SLIP] = c->leader != NULL ? c->leader_slip : p->speed;
    features[CAIRN_ERROR_SURPRISE] = cairn_vec4_length(c->surprise);
    features[CAIRN_ERROR_CROWD] = (float)c->around;
}

void cairn_prediction_start(
    cairn_prediction *p, const cairn_prediction_frame *frame, const cairn_body_motion *body) {
    const cairn_companions *companions = &p->companions;
    p->body = body;
    p->acceleration = body->moved - body->moved_before;
    p->acceleration_size = cairn_vec4_length(p->acceleration);
    p->speed = cairn_vec4_length(body->moved);
    p->spin = frame->turn_steps * cairn_vec4_length(body->turned);
    p->support = support_height(frame, &body->rotation, body->half_extents);
    const float off_fall = p->acceleration[frame->up] - frame->fall;
    const bool airborne = cairn_float_abs(off_fall) < frame->airborne_max;
    const float slip_max = frame->slip_max + 0.2f * p->speed;
    const uint32_t leader = companion_state(companions->leader, companions->leader_slip, slip_max);
    const uint32_t neighbour =
        companion_state(companions->neighbours[0], companions->slips[0], slip_max);
    p->motion_class =
        body->leader ? 0 : 1 + (leader * CAIRN_COMPANIONS + neighbour) * 2 + (airborne ? 1 : 0);
    start_error_features(p);
}

// `change` is the body's own, before the baseline. Without companions it stands for their errors.
static void estimate_from_errors(
    cairn_prediction *p, float change, float neighbour_0, float neighbour_1, float leader) {
    const cairn_companions *c = &p->companions;
    float *features = p->error_features;
    features[CAIRN_ERROR_NEIGHBOUR_0] = c->neighbours[0] != NULL ? neighbour_0 : change;
    features[CAIRN_ERROR_NEIGHBOUR_1] = c->neighbours[1] != NULL ? neighbour_1 : change;
    features[CAIRN_ERROR_LEADER] = c->leader != NULL ? leader : 0.0f;
    features[CAIRN_ERROR_AROUND] = c->around > 0 ? c->surprise[3] : change;
    features[CAIRN_ERROR_BEFORE] = 0.0f;
    features[CAIRN_ERROR_COMPONENT] = 0.0f;
}

// Stands for companions that a body does not have.
static const cairn_body_motion nobody;

static const cairn_body_motion *or_nobody(const cairn_body_motion *companion) {
    return companion != NULL ? companion : &nobody;
}

// 0 without a companion; no branch: that is not foreseen.
CAIRN_VEC4_INLINE cairn_vec4 or_none(const cairn_body_motion *companion, cairn_vec4 difference) {
    const int32_t there = -(int32_t)(companion != NULL);
    return (cairn_vec4)((cairn_int4)difference & (cairn_int4){there, there, there, there});
}

CAIRN_VEC4_INLINE cairn_vec4 turn_difference(const cairn_body_motion *other, cairn_turn turned) {
    return or_none(other, or_nobody(other)->turn - turned);
}

void cairn_predict_turn(
    cairn_prediction *p, const cairn_prediction_frame *frame, const cairn_snapshot_model *model) {
    const cairn_body_motion *body = p->body;
    const cairn_companions *c = &p->companions;
    const cairn_vec4 rolling = p->support > 0.0f
                                   ? cairn_vec4_cross(up_of(frame, 1.0f / p->support), body->moved)
                                   : body->turned;
    cairn_vec4 *features = p->turn_features;
    features[CAIRN_TURN_ACCELERATION] = body->turned - body->turned_before;
    features[CAIRN_TURN_VELOCITY] = body->turned;
    features[CAIRN_TURN_LEADER] = turn_difference(c->leader, body->turned);
    features[CAIRN_TURN_NEIGHBOUR_0] = turn_difference(c->neighbours[0], body->turned);
    features[CAIRN_TURN_NEIGHBOUR_1] = turn_difference(c->neighbours[1], body->turned);
    features[CAIRN_TURN_ROLLING] = rolling - body->turned;
    const float *weights = model->turn[p->motion_class];
    cairn_turn turn = body->turned;
    for (uint32_t i = 0; i < CAIRN_TURN_FEATURES; ++i) {
        turn = cairn_vec4_add_scaled(turn, features[i], weights[i]);
    }
    p->turn = turn;
    const float scale = frame->turn_steps;
    const float change = scale * cairn_vec4_length(features[CAIRN_TURN_ACCELERATION]);
    estimate_from_errors(p, change, or_nobody(c->neighbours[0])->rotation_error,
        or_nobody(c->neighbours[1])->rotation_error, or_nobody(c->leader)->rotation_error);
    p->error_features[CAIRN_ERROR_CHANGE] = change;
    p->error_features[CAIRN_ERROR_NEIGHBOUR_DIFFERENCE] =
        scale * cairn_vec4_length(features[CAIRN_TURN_NEIGHBOUR_0]);
    p->error_features[CAIRN_ERROR_ROLLING] =
        scale * cairn_vec4_length(features[CAIRN_TURN_ROLLING]);
}

// As if one with `other`.
CAIRN_VEC4_INLINE cairn_vec4 rigid_difference(
    const cairn_body_motion *body, const cairn_body_motion *other) {
    const cairn_body_motion *some = or_nobody(other);
    const cairn_vec4 arm = cairn_steps_between(some->place, body->place);
    return or_none(other, cairn_arm_swing(some->turn_quat, arm) + some->travel - body->moved);
}

void cairn_predict_travel(
    cairn_prediction *p, const cairn_prediction_frame *frame, const cairn_snapshot_model *model) {
    const cairn_body_motion *body = p->body;
    const cairn_companions *c = &p->companions;
    const cairn_vec4 rotation = cairn_quat4_multiply(body->turn_quat, body->rotation);
    const float rise = support_height(frame, &rotation, body->half_extents) - p->support;
    cairn_vec4 *features = p->move_features;
    features[CAIRN_MOVE_ACCELERATION] = p->acceleration;
    features[CAIRN_MOVE_VELOCITY] = body->moved;
    features[CAIRN_MOVE_LEADER] = rigid_difference(body, c->leader);
    features[CAIRN_MOVE_NEIGHBOUR_0] = rigid_difference(body, c->neighbours[0]);
    features[CAIRN_MOVE_NEIGHBOUR_1] = rigid_difference(body, c->neighbours[1]);
    const cairn_vec4 rolling = cairn_vec4_cross(body->turn, up_of(frame, p->support)) - body->moved;
    features[CAIRN_MOVE_ROLLING] = cairn_vec4_select(frame->vertical, cairn_vec4_zero(), rolling);
    features[CAIRN_MOVE_GRAVITY] = frame->axis * cairn_vec4_all(frame->fall);
    features[CAIRN_MOVE_SUPPORT] =
        frame->axis * cairn_vec4_all(frame->up_sign * rise - body->moved[frame->up]);
    features[CAIRN_MOVE_SURPRISE] = c->surprise;
    features[CAIRN_MOVE_SLOPE] = c->slope;
    const float *horizontal = model->move[p->motion_class][0];
    const float *vertical = model->move[p->motion_class][1];
    cairn_vec4 sum = body->moved, vertical_sum = body->moved;
    for (uint32_t i = 0; i < CAIRN_MOVE_FEATURES; ++i) {
        sum = cairn_vec4_add_scaled(sum, features[i], horizontal[i]);
        vertical_sum = cairn_vec4_add_scaled(vertical_sum, features[i], vertical[i]);
    }
    p->travel = cairn_vec4_select(frame->vertical, vertical_sum, sum);
    estimate_from_errors(p, p->acceleration_size, or_nobody(c->neighbours[0])->position_error,
        or_nobody(c->neighbours[1])->position_error, or_nobody(c->leader)->position_error);
    p->error_features[CAIRN_ERROR_CHANGE] = body->rotation_error;
    p->error_features[CAIRN_ERROR_NEIGHBOUR_DIFFERENCE] =
        cairn_vec4_length(features[CAIRN_MOVE_NEIGHBOUR_0]);
    p->error_features[CAIRN_ERROR_ROLLING] = p->speed;
}
