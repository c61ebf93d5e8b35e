// SPDX-License-Identifier: MIT
#pragma once

// How bodies moved up to the baseline, which both ends know, and what they did since, of those that
// are coded already. Lengths are in steps of the quantisation, times in the interval from baseline
// to snapshot.

#include <stdbool.h>
#include <stdint.h>

#include "compress/quantised_body.h"

// A small rotation as twice the vector of its quaternion: nearly a rotation vector, and needs no
// sine. At most 2 long.
typedef cairn_vec3 cairn_turn;

typedef struct cairn_body_motion {
    const cairn_quantised_body *baseline;
    const cairn_quantised_body *earlier; // one frame before
    cairn_quat rotation;                 // of the baseline
    cairn_quat turned_quat;              // from the earlier frame to the baseline
    cairn_vec3 moved;                    // in the interval, if the velocity stays
    cairn_turn turned;
    cairn_vec3 moved_before; // as it was one frame earlier
    cairn_turn turned_before;
    cairn_vec3 half_extents; // of its box in its own frame
    bool leader;
    // Once it is coded:
    cairn_quantised_body now;
    cairn_quat turn_quat; // from the baseline
    cairn_turn turn;
    float rotation_error; // mean of three components, steps
    float position_error;
} cairn_body_motion;

static inline float cairn_component_along(const cairn_vec3 *v, uint32_t axis) {
    return axis == 0 ? v->x : axis == 1 ? v->y : v->z;
}

// From `from` to `to`.
cairn_vec3 cairn_steps_between(const int32_t from[3], const int32_t to[3]);
// The shorter way.
cairn_turn cairn_turn_between(cairn_quat from, cairn_quat to);
cairn_quat cairn_quat_of_turn(cairn_turn turn);

// Where a point at `at`, fixed to a body, goes when the body turns and moves from `from` to `to`:
// its displacement.
cairn_vec3 cairn_rigid_displacement(
    const int32_t at[3], const int32_t from[3], cairn_quat turn, const int32_t to[3]);

// How far the body's place in the baseline is from where it would be if it had moved as one with
// `other` since the frame before.
float cairn_motion_slip(const cairn_body_motion *body, const cairn_body_motion *other);
