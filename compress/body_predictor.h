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
    uint32_t up;         // index of the vertical axis
    float up_sign;       // 1, or -1: up is against the axis
    cairn_vec4 axis;     // 1 along the axis
    cairn_int4 vertical; // -1 in the lane of the axis
    float fall;          // gravity's part of a displacement, along the axis, steps
    float turn_steps;    // steps of a rotation's component for a turn of 1
    float airborne_max;  // vertical acceleration may differ by this much from that of a fall, steps
    float slip_max;      // a companion that slips less is stuck to the body, steps
} cairn_prediction_frame;

typedef struct cairn_prediction {
    const cairn_body_motion *body;
    cairn_companions companions;
    uint32_t motion_class;
    float support;           // height of the centre over what the body lies on, steps
    float speed;             // length of its displacement, steps
    float spin;              // length of its turn, steps
    float acceleration_size; // steps
    cairn_vec4 acceleration; // change of the displacement, steps
    cairn_vec4 turn_features[CAIRN_TURN_FEATURES];
    cairn_vec4 move_features[CAIRN_MOVE_FEATURES];
    cairn_turn turn;   // predicted since the baseline
    cairn_vec4 travel; // predicted displacement since the baseline
    // From which the error of a component is estimated; BEFORE and COMPONENT, which differ from one
    // to the next, are 0.
    float error_features[CAIRN_ERROR_FEATURES];
} cairn_prediction;

// `companions` were found.
void cairn_prediction_start(cairn_prediction *prediction, const cairn_prediction_frame *frame,
    const cairn_body_motion *body);
// Fills `turn`, and error_features for rotations.
void cairn_predict_turn(cairn_prediction *prediction, const cairn_prediction_frame *frame,
    const cairn_snapshot_model *model);
// Fills `travel`; the body's turn is known (`turn`, `turn_quat`). Fills error_features for
// positions.
void cairn_predict_travel(cairn_prediction *prediction, const cairn_prediction_frame *frame,
    const cairn_snapshot_model *model);
