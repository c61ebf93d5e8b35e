// SPDX-License-Identifier: MIT
#pragma once

// How bodies moved up to the baseline, which both ends know, and what they did since, of those that
// are coded already. Lengths are in steps of the quantisation, times in the interval from baseline
// to snapshot.

#include <stdbool.h>
#include <stdint.h>

#include "compress/quantised_body.h"
#include "compress/vec4.h"

// A small rotation as twice the vector of its quaternion: nearly a rotation vector, and needs no
// sine. At most 2 long.
typedef cairn_vec4 cairn_turn;

typedef struct cairn_body_motion {
    // What the search for companions reads (companions.c), in one line of the cache.
    cairn_int4 place;    // in the baseline
    cairn_vec4 step;     // from the earlier frame to the baseline
    cairn_vec4 swing;    // turned by this meanwhile, a quaternion
    cairn_vec4 surprise; // once it is coded: what its displacement differs by from `moved`; the
                         // last lane is its length
    // The rest.
    cairn_vec4 rotation; // of the baseline, a quaternion
    cairn_vec4 moved;    // in the interval, if the velocity stays
    cairn_turn turned;
    cairn_vec4 moved_before; // as it was one frame earlier
    cairn_turn turned_before;
    float half_extents[3]; // of its box in its own frame
    bool leader;
    // Once it is coded:
    float rotation_error; // mean of three components, steps
    float position_error;
    cairn_quantised_body now;
    cairn_vec4 travel;    // from the baseline
    cairn_vec4 turn_quat; // from the baseline
    cairn_turn turn;
} cairn_body_motion;

CAIRN_VEC4_INLINE cairn_int4 cairn_place_of(const cairn_quantised_body *body) {
    cairn_int4 place; // and two components of the rotation in the last lane
    memcpy(&place, body, sizeof place);
    return place & (cairn_int4){-1, -1, -1, 0};
}

// From `from` to `to`: at most 2e9, which fits.
CAIRN_VEC4_INLINE cairn_vec4 cairn_steps_between(cairn_int4 from, cairn_int4 to) {
    return __builtin_convertvector(to - from, cairn_vec4);
}

// As cairn_dequantise_rotation, not normalised: its length is 1 but for rounding, and at most 1.3
// if a hostile sender made three components longer than 1.
CAIRN_VEC4_INLINE cairn_vec4 cairn_rotation_of(
    const cairn_quantised_body *body, float step, float middle) {
    // The three components stay before the largest one, and move by one lane after it.
    static const cairn_int4 before[4] = {
        {0, 0, 0, 0}, {-1, 0, 0, 0}, {-1, -1, 0, 0}, {-1, -1, -1, 0}};
    static const cairn_int4 after[4] = {
        {0, -1, -1, -1}, {0, 0, -1, -1}, {0, 0, 0, -1}, {0, 0, 0, 0}};
    const cairn_vec4 components = (cairn_vec4_of((float)body->rotation[0], (float)body->rotation[1],
                                       (float)body->rotation[2]) -
                                      cairn_vec4_all(middle)) *
                                  cairn_vec4_all(step);
    const float squares = cairn_vec4_length_squared(components);
    const float largest = cairn_float_sqrt(cairn_float_max(1.0f - squares, 0.0f));
    const cairn_int4 moved =
        (cairn_int4)__builtin_shufflevector(components, components, 0, 0, 1, 2);
    const cairn_int4 here = before[body->largest], there = after[body->largest];
    return (cairn_vec4)(((cairn_int4)components & here) | (moved & there) |
                        ((cairn_int4)cairn_vec4_all(largest) & ~(here | there)));
}

// The shorter way: of a rotation and its negative, which are one rotation, that with w >= 0.
CAIRN_VEC4_INLINE cairn_vec4 cairn_turn_quat_between(cairn_vec4 from, cairn_vec4 to) {
    const cairn_vec4 turn = cairn_quat4_multiply(to, cairn_quat4_conjugate(from));
    return turn * cairn_vec4_all(turn[3] < 0.0f ? -1.0f : 1.0f);
}

CAIRN_VEC4_INLINE cairn_turn cairn_turn_of_quat(cairn_vec4 turn) {
    return cairn_vec4_without_last(turn + turn);
}

CAIRN_VEC4_INLINE cairn_vec4 cairn_quat_of_turn(cairn_turn turn) {
    const float sine_squared_max = 0.98f; // 164 degrees: further is not extrapolated
    cairn_vec4 half = turn * cairn_vec4_all(0.5f);
    float squared = cairn_vec4_length_squared(half);
    if (squared > sine_squared_max) {
        half = half * cairn_vec4_all(cairn_float_sqrt(sine_squared_max / squared));
        squared = sine_squared_max;
    }
    half[3] = cairn_float_sqrt(1.0f - squared);
    return half;
}

// How far the end of `arm` goes when it turns about its start.
CAIRN_VEC4_INLINE cairn_vec4 cairn_arm_swing(cairn_vec4 turn, cairn_vec4 arm) {
    const cairn_vec4 cross = cairn_vec4_cross(turn, arm);
    const cairn_vec4 t = cross + cross;
    return cairn_vec4_add_scaled(cairn_vec4_cross(turn, t), t, turn[3]);
}
