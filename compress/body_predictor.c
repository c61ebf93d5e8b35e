// SPDX-License-Identifier: MIT
#include "compress/body_predictor.h"

static float *axis_of(cairn_vec3 *v, uint32_t axis) {
    return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z;
}

static cairn_vec3 up_of(const cairn_prediction_frame *frame, float length) {
    cairn_vec3 up = cairn_vec3_zero();
    *axis_of(&up, frame->up) = length * frame->up_sign;
    return up;
}

// Height of the centre of a box above a plane that it lies on: its half extents along the row of
// the rotation's matrix that belongs to the vertical axis.
static float support_height(
    const cairn_prediction_frame *frame, cairn_quat rotation, cairn_vec3 half_extents) {
    const float q[3] = {rotation.x, rotation.y, rotation.z};
    const float half[3] = {half_extents.x, half_extents.y, half_extents.z};
    const uint32_t i = frame->up, j = (i + 1) % 3, k = (i + 2) % 3;
    const float along_i = 1.0f - 2.0f * (q[j] * q[j] + q[k] * q[k]);
    const float along_j = 2.0f * (q[i] * q[j] - rotation.w * q[k]);
    const float along_k = 2.0f * (q[i] * q[k] + rotation.w * q[j]);
    return cairn_float_abs(along_i) * half[i] + cairn_float_abs(along_j) * half[j] +
           cairn_float_abs(along_k) * half[k];
}

// Companions: 0 none, 1 loose, 2 stuck.
static uint32_t companion_state(const cairn_body_motion *other, float slip, float slip_max) {
    return other == NULL ? 0 : slip < slip_max ? 2 : 1;
}

void cairn_prediction_start(
    cairn_prediction *p, const cairn_prediction_frame *frame, const cairn_body_motion *body) {
    const cairn_companions *companions = &p->companions;
    p->body = body;
    p->acceleration = cairn_vec3_sub(body->moved, body->moved_before);
    p->acceleration_size = cairn_vec3_length(p->acceleration);
    p->speed = cairn_vec3_length(body->moved);
    p->spin = frame->turn_steps * cairn_vec3_length(body->turned);
    p->support = support_height(frame, body->rotation, body->half_extents);
    const float off_fall = cairn_component_along(&p->acceleration, frame->up) - frame->fall;
    const bool airborne = cairn_float_abs(off_fall) < frame->airborne_max;
    const float slip_max = frame->slip_max + 0.2f * p->speed;
    const uint32_t leader = companion_state(companions->leader, companions->leader_slip, slip_max);
    const uint32_t neighbour =
        companion_state(companions->neighbours[0], companions->slips[0], slip_max);
    p->motion_class =
        body->leader ? 0 : 1 + (leader * CAIRN_COMPANIONS + neighbour) * 2 + (airborne ? 1 : 0);
}

static cairn_turn turn_difference(const cairn_body_motion *other, cairn_turn turned) {
    return other == NULL ? cairn_vec3_zero() : cairn_vec3_sub(other->turn, turned);
}

// What both kinds of errors are estimated from. `change` is the body's own, before the baseline.
static void start_error_features(cairn_prediction *p, float change, bool rotation) {
    const cairn_companions *c = &p->companions;
    const cairn_body_motion *const others[3] = {c->neighbours[0], c->neighbours[1], c->leader};
    float errors[3] = {change, change, 0.0f};
    for (uint32_t i = 0; i < 3; ++i) {
        if (others[i] != NULL) {
            errors[i] = rotation ? others[i]->rotation_error : others[i]->position_error;
        }
    }
    float *features = p->error_features;
    features[CAIRN_ERROR_CONSTANT] = 1.0f;
    features[CAIRN_ERROR_ACCELERATION] = p->acceleration_size;
    features[CAIRN_ERROR_NEIGHBOUR_0] = errors[0];
    features[CAIRN_ERROR_NEIGHBOUR_1] = errors[1];
    features[CAIRN_ERROR_LEADER] = errors[2];
    features[CAIRN_ERROR_SPIN] = p->spin;
    features[CAIRN_ERROR_SLIP] = c->neighbours[0] != NULL ? c->slips[0] : p->speed;
    features[CAIRN_ERROR_LEADER_SLIP] = c->leader != NULL ? c->leader_slip : p->speed;
    features[CAIRN_ERROR_BEFORE] = 0.0f;
    features[CAIRN_ERROR_COMPONENT] = 0.0f;
    features[CAIRN_ERROR_SURPRISE] = cairn_vec3_length(c->surprise);
    features[CAIRN_ERROR_AROUND] = c->around > 0 ? c->surprise_size : change;
    features[CAIRN_ERROR_CROWD] = (float)c->around;
    p->error_sum = 0.0f;
}

cairn_turn cairn_predict_turn(
    cairn_prediction *p, const cairn_prediction_frame *frame, const cairn_snapshot_model *model) {
    const cairn_body_motion *body = p->body;
    const cairn_vec3 rolling = p->support > 0.0f
                                   ? cairn_vec3_cross(up_of(frame, 1.0f / p->support), body->moved)
                                   : body->turned;
    cairn_vec3 *features = p->turn_features;
    features[CAIRN_TURN_ACCELERATION] = cairn_vec3_sub(body->turned, body->turned_before);
    features[CAIRN_TURN_VELOCITY] = body->turned;
    features[CAIRN_TURN_LEADER] = turn_difference(p->companions.leader, body->turned);
    features[CAIRN_TURN_NEIGHBOUR_0] = turn_difference(p->companions.neighbours[0], body->turned);
    features[CAIRN_TURN_NEIGHBOUR_1] = turn_difference(p->companions.neighbours[1], body->turned);
    features[CAIRN_TURN_ROLLING] = cairn_vec3_sub(rolling, body->turned);
    cairn_turn turn = body->turned;
    for (uint32_t i = 0; i < CAIRN_TURN_FEATURES; ++i) {
        turn = cairn_vec3_add_scaled(turn, features[i], model->turn[p->motion_class][i]);
    }
    const float scale = frame->turn_steps;
    const float change = scale * cairn_vec3_length(features[CAIRN_TURN_ACCELERATION]);
    start_error_features(p, change, true);
    p->error_features[CAIRN_ERROR_CHANGE] = change;
    p->error_features[CAIRN_ERROR_NEIGHBOUR_DIFFERENCE] =
        scale * cairn_vec3_length(features[CAIRN_TURN_NEIGHBOUR_0]);
    p->error_features[CAIRN_ERROR_ROLLING] =
        scale * cairn_vec3_length(features[CAIRN_TURN_ROLLING]);
    return turn;
}

// As if one with `other`.
static cairn_vec3 rigid_difference(const cairn_body_motion *body, const cairn_body_motion *other) {
    if (other == NULL) {
        return cairn_vec3_zero();
    }
    const cairn_vec3 swing =
        cairn_arm_swing(other->turn_quat, cairn_steps_between(other->place, body->place));
    const cairn_vec3 move = cairn_steps_between(other->place, other->now.position);
    return cairn_vec3_sub(cairn_vec3_add(swing, move), body->moved);
}

static cairn_vec3 along_up(const cairn_prediction_frame *frame, float height) {
    cairn_vec3 v = cairn_vec3_zero();
    *axis_of(&v, frame->up) = height;
    return v;
}

cairn_vec3 cairn_predict_move(
    cairn_prediction *p, const cairn_prediction_frame *frame, const cairn_snapshot_model *model) {
    const cairn_body_motion *body = p->body;
    const cairn_quat rotation = cairn_quat_multiply(body->turn_quat, body->rotation);
    const float rise = support_height(frame, rotation, body->half_extents) - p->support;
    cairn_vec3 rolling =
        cairn_vec3_sub(cairn_vec3_cross(body->turn, up_of(frame, p->support)), body->moved);
    *axis_of(&rolling, frame->up) = 0.0f;
    cairn_vec3 *features = p->move_features;
    features[CAIRN_MOVE_ACCELERATION] = p->acceleration;
    features[CAIRN_MOVE_VELOCITY] = body->moved;
    features[CAIRN_MOVE_LEADER] = rigid_difference(body, p->companions.leader);
    features[CAIRN_MOVE_NEIGHBOUR_0] = rigid_difference(body, p->companions.neighbours[0]);
    features[CAIRN_MOVE_NEIGHBOUR_1] = rigid_difference(body, p->companions.neighbours[1]);
    features[CAIRN_MOVE_ROLLING] = rolling;
    features[CAIRN_MOVE_GRAVITY] = along_up(frame, frame->fall);
    features[CAIRN_MOVE_SUPPORT] =
        along_up(frame, frame->up_sign * rise - cairn_component_along(&body->moved, frame->up));
    features[CAIRN_MOVE_SURPRISE] = p->companions.surprise;
    cairn_vec3 move = body->moved;
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const float *weights = model->move[p->motion_class][axis == frame->up];
        float *sum = axis_of(&move, axis);
        for (uint32_t i = 0; i < CAIRN_MOVE_FEATURES; ++i) {
            *sum = *sum + weights[i] * cairn_component_along(&features[i], axis);
        }
    }
    start_error_features(p, p->acceleration_size, false);
    p->error_features[CAIRN_ERROR_CHANGE] = body->rotation_error;
    p->error_features[CAIRN_ERROR_NEIGHBOUR_DIFFERENCE] =
        cairn_vec3_length(features[CAIRN_MOVE_NEIGHBOUR_0]);
    p->error_features[CAIRN_ERROR_ROLLING] = p->speed;
    return move;
}
