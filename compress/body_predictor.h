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
    float speed;             // length of its displacement, steps
    float spin;              // length of its turn, steps
    float acceleration_size; // steps
    cairn_vec3 acceleration; // change of the displacement, steps
    cairn_vec3 turn_features[CAIRN_TURN_FEATURES];
    cairn_vec3 move_features[CAIRN_MOVE_FEATURES];
    // From which the error of a component is estimated; BEFORE and COMPONENT are filled by what
    // codes the components.
    float error_features[CAIRN_ERROR_FEATURES];
    float error_sum; // of the components of its kind that were coded
} cairn_prediction;

void cairn_prediction_start(cairn_prediction *prediction, const cairn_prediction_frame *frame,
    const cairn_body_motion *body);
// The turn since the baseline. Fills error_features for rotations.
cairn_turn cairn_predict_turn(cairn_prediction *prediction, const cairn_prediction_frame *frame,
    const cairn_snapshot_model *model);
// The displacement since the baseline; the body's turn is known (`turn`, `turn_quat`). Fills
// error_features for positions.
cairn_vec3 cairn_predict_move(cairn_prediction *prediction, const cairn_prediction_frame *frame,
    const cairn_snapshot_model *model);
