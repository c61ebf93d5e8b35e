// SPDX-License-Identifier: MIT
#pragma once

// The angles of a joint with axes, in lanes; one lane is a float. The swing is the angle between
// a's axis and b's. The twist is the rotation of b about its axis that remains when b's axis is
// rotated onto a's by the smallest rotation. The angle of a hinge is its twist.

#include "sim/math/trig.h"

// The axis and the zero direction of each body, in one frame: unit and perpendicular to each other.
typedef struct axes_lanes {
    lanes3 axis_a, normal_a;
    lanes3 axis_b, normal_b;
} axes_lanes;

static inline lanes swing_of(const axes_lanes *axes) {
    const lanes3 cross = lanes3_cross(axes->axis_a, axes->axis_b);
    return lanes_atan2(
        lanes_sqrt(lanes3_dot(cross, cross)), lanes3_dot(axes->axis_a, axes->axis_b));
}

// Measured about b's axis, from a's zero direction after it was rotated along with a's axis. For
// opposite axes the smallest rotation is not unique; a's zero direction then stays.
static inline lanes twist_of(const axes_lanes *axes) {
    const lanes one = lanes_all(1.0f);
    const lanes span = one + lanes3_dot(axes->axis_a, axes->axis_b);
    const lanes_mask valid = lanes_less(lanes_all(1e-6f), span);
    const lanes fraction = lanes_select(valid,
        lanes3_dot(axes->normal_a, axes->axis_b) / lanes_select(valid, span, one), lanes_all(0.0f));
    const lanes3 zero =
        lanes3_sub_scaled(axes->normal_a, lanes3_add(axes->axis_a, axes->axis_b), fraction);
    return lanes_atan2(lanes3_dot(axes->axis_b, lanes3_cross(zero, axes->normal_b)),
        lanes3_dot(zero, axes->normal_b));
}

// The same angle, at most half a turn from the middle of the limits. So an angle slightly
// beyond one limit is not read as one far beyond the other.
static inline lanes angle_near(lanes angle, lanes lower, lanes upper) {
    const lanes full_turn = lanes_all(2.0f * CAIRN_PI);
    const lanes offset = angle - (lower + upper) * lanes_all(0.5f);
    const lanes_mask low = lanes_less(offset, lanes_all(-CAIRN_PI));
    const lanes_mask high = lanes_less(lanes_all(CAIRN_PI), offset);
    return lanes_select(low, angle + full_turn, lanes_select(high, angle - full_turn, angle));
}
