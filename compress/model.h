// SPDX-License-Identifier: MIT
#pragma once

// The constant tables of the snapshot codec: how predictions are weighted, how large an error they
// are expected to have, and how likely each decision is. tests/compress/train_snapshots.c makes
// model_tables.inc from recorded motion; both ends of a connection must have the same tables.

#include "compress/range_coder.h"

// What decides how a body's motion is predicted: 0 for a leader, else 1 plus the state of the
// nearest leader and of the best neighbour (none, loose, or stuck: moved as one with it up to the
// baseline), and whether the body fell freely.
enum { CAIRN_COMPANIONS = 3, CAIRN_MOTION_CLASSES = 1 + 2 * CAIRN_COMPANIONS * CAIRN_COMPANIONS };

// Differences to a motion of constant velocity. Their weighted sum is added to that motion.
typedef enum cairn_turn_feature {
    CAIRN_TURN_ACCELERATION,
    CAIRN_TURN_VELOCITY, // damping
    CAIRN_TURN_LEADER,   // turns as its leader does
    CAIRN_TURN_NEIGHBOUR_0,
    CAIRN_TURN_NEIGHBOUR_1,
    CAIRN_TURN_ROLLING, // as a wheel on the ground
    CAIRN_TURN_FEATURES
} cairn_turn_feature;

typedef enum cairn_move_feature {
    CAIRN_MOVE_ACCELERATION,
    CAIRN_MOVE_VELOCITY,
    CAIRN_MOVE_LEADER, // rigid motion together with its leader
    CAIRN_MOVE_NEIGHBOUR_0,
    CAIRN_MOVE_NEIGHBOUR_1,
    CAIRN_MOVE_ROLLING,
    CAIRN_MOVE_GRAVITY,
    CAIRN_MOVE_SUPPORT,  // the height at which it lies on the ground changes as it turns
    CAIRN_MOVE_SURPRISE, // as the bodies around differ from their former motion
    CAIRN_MOVE_SLOPE,    // and nearer ones more than others
    CAIRN_MOVE_FEATURES
} cairn_move_feature;

// What the error of a prediction is estimated from, in steps.
typedef enum cairn_error_feature {
    CAIRN_ERROR_CONSTANT,
    CAIRN_ERROR_ACCELERATION,
    CAIRN_ERROR_NEIGHBOUR_0, // errors of companions
    CAIRN_ERROR_NEIGHBOUR_1,
    CAIRN_ERROR_LEADER,
    CAIRN_ERROR_SPIN,
    CAIRN_ERROR_SLIP,
    CAIRN_ERROR_LEADER_SLIP,
    CAIRN_ERROR_SURPRISE, // of the bodies around: length of their mean
    CAIRN_ERROR_AROUND,   // mean of their lengths
    CAIRN_ERROR_CHANGE,   // of the turn, before the baseline; of a position: error of the rotation
    CAIRN_ERROR_NEIGHBOUR_DIFFERENCE,
    CAIRN_ERROR_ROLLING, // of a position: speed
    CAIRN_ERROR_CROWD,   // how many bodies are around
    // These two differ from one component to the next.
    CAIRN_ERROR_BEFORE,    // mean error of the components of its kind that were coded before
    CAIRN_ERROR_COMPONENT, // of a rotation its size; of a position: rolling and support along it
    CAIRN_ERROR_FEATURES
} cairn_error_feature;

// What a component belongs to.
typedef enum cairn_component {
    CAIRN_COMPONENT_ROTATION,
    CAIRN_COMPONENT_VERTICAL,
    CAIRN_COMPONENT_HORIZONTAL,
    CAIRN_COMPONENTS
} cairn_component;

enum {
    CAIRN_ERROR_LEVELS = 24, // two for each power of two, from an error of a 6th of a step on
    CAIRN_FRACTIONS = 8,     // where between two integers a prediction lies
    CAIRN_MAGNITUDES = 14,   // powers of two of a residual that have probabilities of their own
    CAIRN_MARGINS = 16,      // how clearly one component of a predicted rotation is the largest
    CAIRN_BLOCK_BODIES = 8,  // that share one decision whether any of them changed
};

// How likely each decision is.
typedef struct cairn_likely_decisions {
    // By: any of its bodies moved up to the baseline, any of the block before it changed, any of
    // the next one moved.
    cairn_probability block[2][2][2];
    cairn_probability changed[2][3][2]; // by: moved, how many of the two before changed, next moved
    cairn_probability not_largest[CAIRN_MARGINS];
    cairn_probability not_second;
    cairn_probability not_zero[CAIRN_COMPONENTS][CAIRN_ERROR_LEVELS][CAIRN_FRACTIONS];
    cairn_probability negative[CAIRN_COMPONENTS][CAIRN_ERROR_LEVELS][CAIRN_FRACTIONS];
    cairn_probability longer[CAIRN_COMPONENTS][CAIRN_ERROR_LEVELS][CAIRN_MAGNITUDES];
    // The two bits after the first one of a residual's magnitude; the second by the first.
    cairn_probability mantissa[CAIRN_COMPONENTS][CAIRN_MAGNITUDES][3];
} cairn_likely_decisions;

typedef struct cairn_snapshot_model {
    float turn[CAIRN_MOTION_CLASSES][CAIRN_TURN_FEATURES];
    float move[CAIRN_MOTION_CLASSES][2][CAIRN_MOVE_FEATURES]; // horizontal, vertical
    // By class, component, and how many components of its kind were coded before.
    float error[CAIRN_MOTION_CLASSES][CAIRN_COMPONENTS][3][CAIRN_ERROR_FEATURES];
    cairn_likely_decisions likely; // at the start of a snapshot
} cairn_snapshot_model;

extern const cairn_snapshot_model cairn_snapshot_model_default;
