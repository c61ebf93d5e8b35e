// SPDX-License-Identifier: MIT
#pragma once

// Predicts where a body is now, from its own motion up to the baseline and from what its companions
// did since. A prediction is a motion of constant velocity plus a weighted sum of differences to
// it; the weights come from the model, by the class of the body's motion.

#include <stdint.h>

#include "compress/companions.h"
#include "compress/model.h"

// Of a snapshot.
typedef struct cairn_prediction_frame {
    uint32_t up;        // index of the vertical axis
    float up_sign;      // 1, or -1: up is against the axis
    float fall;         // gravity's part of a displacement, along the axis, steps
    float turn_steps;   // steps of a rotation's component for a turn of 1
    float airborne_max; // vertical acceleration may differ by this much from that of a fall, steps
    float slip_max;     // a companion that slips less is stuck to the body, steps
} cairn_prediction_frame;

typedef struct cairn_prediction {
    const cairn_body_motion *body;
    cairn_companions companions;
    uint32_t motion_class;
    float support;           // height of the centre over what the body lies on, steps
    cairn_vec3 acceleration; // change of the displacement, steps
    cairn_vec3 turn_features[CAIRN_TURN_FEATURES];
    cairn_vec3 move_features[CAIRN_MOVE_FEATURES];
} cairn_prediction;

cairn_prediction cairn_prediction_start(const cairn_prediction_frame *frame,
    const cairn_body_motion *body, const cairn_companions *companions);
// The turn since the baseline.
cairn_turn cairn_predict_turn(cairn_prediction *prediction, const cairn_prediction_frame *frame,
    const cairn_snapshot_model *model);
// The displacement since the baseline; the body's turn is known (`turn`, `turn_quat`).
cairn_vec3 cairn_predict_move(cairn_prediction *prediction, const cairn_prediction_frame *frame,
    const cairn_snapshot_model *model);

// The features from which the error of a component is estimated. Before it, `coded` components of
// its kind were coded; `error_sum` is the sum of their errors.
void cairn_rotation_error_features(const cairn_prediction *prediction,
    const cairn_prediction_frame *frame, uint32_t coded, float error_sum, float component,
    float out[CAIRN_ERROR_FEATURES]);
void cairn_position_error_features(const cairn_prediction *prediction,
    const cairn_prediction_frame *frame, uint32_t axis, uint32_t coded, float error_sum,
    float out[CAIRN_ERROR_FEATURES]);
