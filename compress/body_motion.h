// SPDX-License-Identifier: MIT
#pragma once

// How bodies moved up to the baseline, which both ends know, and what they did since, of those that
// are coded already. Lengths are in steps of the quantisation, times in the interval from baseline
// to snapshot.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/math.h>

#include "compress/quantised_body.h"

// A small rotation as twice the vector of its quaternion: nearly a rotation vector, and needs no
// sine. At most 2 long.
typedef cairn_vec3 cairn_turn;

typedef struct cairn_body_motion {
    // What the search for companions reads (companions.c).
    int32_t place[3];     // in the baseline
    cairn_vec3 step;      // from the earlier frame to the baseline
    cairn_quat swing;     // turned by this meanwhile
    cairn_vec3 surprise;  // once it is coded: what its displacement differs by from `moved`
    float surprise_size;  // its length
    float rotation_error; // mean of three components, steps
    float position_error;
    // The rest.
    cairn_quat rotation; // of the baseline
    cairn_vec3 moved;    // in the interval, if the velocity stays
    cairn_turn turned;
    cairn_vec3 moved_before; // as it was one frame earlier
    cairn_turn turned_before;
    cairn_vec3 half_extents; // of its box in its own frame
    bool leader;
    // Once it is coded:
    cairn_quantised_body now;
    cairn_quat turn_quat; // from the baseline
    cairn_turn turn;
} cairn_body_motion;

static inline float cairn_component_along(const cairn_vec3 *v, uint32_t axis) {
    return axis == 0 ? v->x : axis == 1 ? v->y : v->z;
}

static inline float cairn_difference(int32_t from, int32_t to) {
    return (float)(int32_t)((uint32_t)to - (uint32_t)from); // at most 2e9, which fits
}

// From `from` to `to`.
static inline cairn_vec3 cairn_steps_between(const int32_t from[3], const int32_t to[3]) {
    return cairn_vec3_of(cairn_difference(from[0], to[0]), cairn_difference(from[1], to[1]),
        cairn_difference(from[2], to[2]));
}

// The shorter way: of a rotation and its negative, which are one rotation, that with w >= 0.
static inline cairn_quat cairn_turn_quat_between(cairn_quat from, cairn_quat to) {
    const cairn_quat turn = cairn_quat_multiply(to, cairn_quat_conjugate(from));
    const float sign = turn.w < 0.0f ? -1.0f : 1.0f;
    return cairn_quat_of(sign * turn.x, sign * turn.y, sign * turn.z, sign * turn.w);
}

static inline cairn_turn cairn_turn_of_quat(cairn_quat turn) {
    return cairn_vec3_of(2.0f * turn.x, 2.0f * turn.y, 2.0f * turn.z);
}

static inline cairn_quat cairn_quat_of_turn(cairn_turn turn) {
    const float sine_squared_max = 0.98f; // 164 degrees: further is not extrapolated
    cairn_vec3 half = cairn_vec3_scale(turn, 0.5f);
    float squared = cairn_vec3_length_squared(half);
    if (squared > sine_squared_max) {
        half = cairn_vec3_scale(half, cairn_float_sqrt(sine_squared_max / squared));
        squared = sine_squared_max;
    }
    return cairn_quat_of(half.x, half.y, half.z, cairn_float_sqrt(1.0f - squared));
}

// How far the end of `arm` goes when it turns about its start.
static inline cairn_vec3 cairn_arm_swing(cairn_quat turn, cairn_vec3 arm) {
    const cairn_vec3 u = cairn_quat_vector(turn);
    const cairn_vec3 t = cairn_vec3_scale(cairn_vec3_cross(u, arm), 2.0f);
    return cairn_vec3_add_scaled(cairn_vec3_cross(u, t), t, turn.w);
}
