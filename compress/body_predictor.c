// SPDX-License-Identifier: MIT
#include "compress/body_predictor.h"

#include <cairn/math.h>

static float *axis_of(cairn_vec3 *v, uint32_t axis) {
    return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z;
}

static cairn_vec3 up_of(const cairn_prediction_frame *frame, float length) {
    cairn_vec3 up = cairn_vec3_zero();
    *axis_of(&up, frame->up) = length * frame->up_sign;
    return up;
}

// Height of the centre of a box above a plane that it lies on.
static float support_height(
    const cairn_prediction_frame *frame, cairn_quat rotation, cairn_vec3 half_extents) {
    const cairn_vec3 up = cairn_quat_rotate_inverse(rotation, up_of(frame, 1.0f));
    return cairn_vec3_dot(cairn_vec3_abs(up), half_extents);
}

// Companions: 0 none, 1 loose, 2 stuck.
static uint32_t companion_state(const cairn_body_motion *other, float slip, float slip_max) {
    return other == NULL ? 0 : slip < slip_max ? 2 : 1;
}

cairn_prediction cairn_prediction_start(const cairn_prediction_frame *frame,
    const cairn_body_motion *body, const cairn_companions *companions) {
    cairn_prediction p = {.body = body, .companions = *companions};
    p.acceleration = cairn_vec3_sub(body->moved, body->moved_before);
    p.support = support_height(frame, body->rotation, body->half_extents);
    const float off_fall = cairn_component_along(&p.acceleration, frame->up) - frame->fall;
    const bool airborne = cairn_float_abs(off_fall) < frame->airborne_max;
    const float slip_max = frame->slip_max + 0.2f * cairn_vec3_length(body->moved);
    const uint32_t leader = companion_state(companions->leader, companions->leader_slip, slip_max);
    const uint32_t neighbour =
        companion_state(companions->neighbours[0], companions->slips[0], slip_max);
    p.motion_class =
        body->leader ? 0 : 1 + (leader * CAIRN_COMPANIONS + neighbour) * 2 + (airborne ? 1 : 0);
    return p;
}

static cairn_turn turn_difference(const cairn_body_motion *other, cairn_turn turned) {
    return other == NULL ? cairn_vec3_zero() : cairn_vec3_sub(other->turn, turned);
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
    return turn;
}

static cairn_vec3 rigid_difference(const cairn_body_motion *body, const cairn_body_motion *other) {
    if (other == NULL) {
        return cairn_vec3_zero();
    }
    const cairn_vec3 rigid = cairn_rigid_displacement(
        body->baseline->position, other->baseline->position, other->turn_quat, other->now.position);
    return cairn_vec3_sub(rigid, body->moved);
}

cairn_vec3 cairn_predict_move(
    cairn_prediction *p, const cairn_prediction_frame *frame, const cairn_snapshot_model *model) {
    const cairn_body_motion *body = p->body;
    cairn_vec3 *features = p->move_features;
    features[CAIRN_MOVE_ACCELERATION] = p->acceleration;
    features[CAIRN_MOVE_VELOCITY] = body->moved;
    features[CAIRN_MOVE_LEADER] = rigid_difference(body, p->companions.leader);
    features[CAIRN_MOVE_NEIGHBOUR_0] = rigid_difference(body, p->companions.neighbours[0]);
    features[CAIRN_MOVE_NEIGHBOUR_1] = rigid_difference(body, p->companions.neighbours[1]);
    features[CAIRN_MOVE_ROLLING] =
        cairn_vec3_sub(cairn_vec3_cross(body->turn, up_of(frame, p->support)), body->moved);
    *axis_of(&features[CAIRN_MOVE_ROLLING], frame->up) = 0.0f;
    features[CAIRN_MOVE_GRAVITY] = cairn_vec3_zero();
    *axis_of(&features[CAIRN_MOVE_GRAVITY], frame->up) = frame->fall;
    const cairn_quat rotation = cairn_quat_multiply(body->turn_quat, body->rotation);
    const float rise = support_height(frame, rotation, body->half_extents) - p->support;
    features[CAIRN_MOVE_SUPPORT] = cairn_vec3_zero();
    *axis_of(&features[CAIRN_MOVE_SUPPORT], frame->up) =
        frame->up_sign * rise - cairn_component_along(&body->moved, frame->up);
    cairn_vec3 move = body->moved;
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const float *weights = model->move[p->motion_class][axis == frame->up];
        float *sum = axis_of(&move, axis);
        for (uint32_t i = 0; i < CAIRN_MOVE_FEATURES; ++i) {
            *sum = *sum + weights[i] * cairn_component_along(&features[i], axis);
        }
    }
    return move;
}

static float slip_or(const cairn_body_motion *other, float slip, float otherwise) {
    return other == NULL ? otherwise : slip;
}

void cairn_rotation_error_features(const cairn_prediction *p, const cairn_prediction_frame *frame,
    uint32_t coded, float error_sum, float component, float out[CAIRN_ERROR_FEATURES]) {
    const cairn_companions *c = &p->companions;
    const float scale = frame->turn_steps;
    const float change = scale * cairn_vec3_length(p->turn_features[CAIRN_TURN_ACCELERATION]);
    const float speed = cairn_vec3_length(p->body->moved);
    const float features[CAIRN_ERROR_FEATURES] = {
        1.0f,
        change,
        cairn_vec3_length(p->acceleration),
        c->neighbours[0] != NULL ? c->neighbours[0]->rotation_error : change,
        c->neighbours[1] != NULL ? c->neighbours[1]->rotation_error : change,
        coded > 0 ? error_sum / (float)coded : 0.0f,
        scale * cairn_vec3_length(p->body->turned),
        c->leader != NULL ? c->leader->rotation_error : 0.0f,
        slip_or(c->neighbours[0], c->slips[0], speed),
        slip_or(c->leader, c->leader_slip, speed),
        scale * cairn_vec3_length(p->turn_features[CAIRN_TURN_NEIGHBOUR_0]),
        scale * cairn_float_abs(component),
        scale * cairn_vec3_length(p->turn_features[CAIRN_TURN_ROLLING]),
    };
    for (uint32_t i = 0; i < CAIRN_ERROR_FEATURES; ++i) {
        out[i] = features[i];
    }
}

void cairn_position_error_features(const cairn_prediction *p, const cairn_prediction_frame *frame,
    uint32_t axis, uint32_t coded, float error_sum, float out[CAIRN_ERROR_FEATURES]) {
    const cairn_companions *c = &p->companions;
    const float change = cairn_vec3_length(p->acceleration);
    const float speed = cairn_vec3_length(p->body->moved);
    const float features[CAIRN_ERROR_FEATURES] = {
        1.0f,
        change,
        p->body->rotation_error,
        c->neighbours[0] != NULL ? c->neighbours[0]->position_error : change,
        c->neighbours[1] != NULL ? c->neighbours[1]->position_error : change,
        coded > 0 ? error_sum / (float)coded : 0.0f,
        speed,
        c->leader != NULL ? c->leader->position_error : 0.0f,
        slip_or(c->neighbours[0], c->slips[0], speed),
        slip_or(c->leader, c->leader_slip, speed),
        cairn_vec3_length(p->move_features[CAIRN_MOVE_NEIGHBOUR_0]),
        frame->turn_steps * cairn_vec3_length(p->body->turned),
        cairn_float_abs(cairn_component_along(&p->move_features[CAIRN_MOVE_ROLLING], axis)) +
            cairn_float_abs(cairn_component_along(&p->move_features[CAIRN_MOVE_SUPPORT], axis)),
    };
    for (uint32_t i = 0; i < CAIRN_ERROR_FEATURES; ++i) {
        out[i] = features[i];
    }
}
