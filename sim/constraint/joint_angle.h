// SPDX-License-Identifier: MIT
#pragma once

// The angles of a joint with axes: how far b's axis leans from a's (swing), and how far b is turned
// about it (twist), which is the turn that is left when b's axis is swung back onto a's the short
// way. A hinge's angle is its twist. In lanes; one lane is a float.

#include "sim/math/trig.h"

// Each body's axis and zero direction, in one frame; unit, and across each other.
typedef struct axes_lanes {
    lanes3 axis_a, normal_a;
    lanes3 axis_b, normal_b;
} axes_lanes;

static inline lanes swing_of(const axes_lanes *axes) {
    const lanes3 lean = lanes3_cross(axes->axis_a, axes->axis_b);
    return lanes_atan2(lanes_sqrt(lanes3_dot(lean, lean)), lanes3_dot(axes->axis_a, axes->axis_b));
}

// Measured in b's frame, from a's zero direction swung over with the axis. Opposite axes have no
// short way; then a's zero direction stays.
static inline lanes twist_of(const axes_lanes *axes) {
    const lanes one = lanes_all(1.0f);
    const lanes span = one + lanes3_dot(axes->axis_a, axes->axis_b);
    const lanes_mask sound = lanes_less(lanes_all(1e-6f), span);
    const lanes share = lanes_select(sound,
        lanes3_dot(axes->normal_a, axes->axis_b) / lanes_select(sound, span, one), lanes_all(0.0f));
    const lanes3 zero =
        lanes3_sub_scaled(axes->normal_a, lanes3_add(axes->axis_a, axes->axis_b), share);
    return lanes_atan2(lanes3_dot(axes->axis_b, lanes3_cross(zero, axes->normal_b)),
        lanes3_dot(zero, axes->normal_b));
}

// The same angle, not more than half a turn from the middle of the limits: what overshoots one of
// them is not taken for far beyond the other.
static inline lanes angle_near(lanes angle, lanes lower, lanes upper) {
    const lanes turn = lanes_all(2.0f * CAIRN_PI);
    const lanes off = angle - (lower + upper) * lanes_all(0.5f);
    const lanes_mask low = lanes_less(off, lanes_all(-CAIRN_PI));
    const lanes_mask high = lanes_less(lanes_all(CAIRN_PI), off);
    return lanes_select(low, angle + turn, lanes_select(high, angle - turn, angle));
}
