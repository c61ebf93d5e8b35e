// SPDX-License-Identifier: MIT
#pragma once

// Trigonometry from + - * / alone, so that every build gets the same bits, which C libraries do not
// promise. In lanes; one lane is a float. The polynomials are minimax fits of the relative error
// (Remez exchange).

#include "sim/math/lanes.h"

#define CAIRN_PI 3.14159265f

// x in [-pi / 2, pi / 2]; the error is at most 2e-7.
static inline lanes lanes_sin(lanes x) {
    const lanes u = x * x;
    lanes p = lanes_all(2.601903066e-6f);
    p = lanes_all(-1.980741873e-4f) + p * u;
    p = lanes_all(8.333025139e-3f) + p * u;
    p = lanes_all(-1.666665668e-1f) + p * u;
    p = lanes_all(9.999999947e-1f) + p * u;
    return x * p;
}

// x in [0, pi]; the error is at most 3e-7.
static inline lanes lanes_cos(lanes x) {
    return lanes_sin(lanes_all(0.5f * CAIRN_PI) - x);
}

// The angle from the x axis to (x, y), in [-pi, pi], 0 for (0, 0); the error is at most 5e-7.
// Neither may be so large or small that y / x leaves the range of a float.
static inline lanes lanes_atan2(lanes y, lanes x) {
    const lanes zero = lanes_all(0.0f);
    const lanes abs_x = lanes_max(x, zero - x);
    const lanes abs_y = lanes_max(y, zero - y);
    const lanes longer = lanes_max(abs_x, abs_y);
    const lanes slope =
        lanes_min(abs_x, abs_y) / lanes_select(lanes_less(zero, longer), longer, lanes_all(1.0f));
    const lanes u = slope * slope;
    lanes p = lanes_all(2.849889432e-3f);
    p = lanes_all(-1.606862822e-2f) + p * u;
    p = lanes_all(4.269151810e-2f) + p * u;
    p = lanes_all(-7.504294446e-2f) + p * u;
    p = lanes_all(1.064093399e-1f) + p * u;
    p = lanes_all(-1.420364446e-1f) + p * u;
    p = lanes_all(1.999261939e-1f) + p * u;
    p = lanes_all(-3.333307335e-1f) + p * u;
    p = lanes_all(9.999999848e-1f) + p * u;
    lanes angle = slope * p;
    angle = lanes_select(lanes_less(abs_x, abs_y), lanes_all(0.5f * CAIRN_PI) - angle, angle);
    angle = lanes_select(lanes_less(x, zero), lanes_all(CAIRN_PI) - angle, angle);
    return lanes_select(lanes_less(y, zero), zero - angle, angle);
}

// The quaternion of the rotation by a vector, with w >= 0: half the angle is reduced to the nearest
// multiple of pi, where both signs of a quaternion are the same rotation. The error is at most 5e-7
// rad and 1e-7 of the angle, up to angles of 1e5 rad.
static inline lanes_quat lanes_quat_of_vector(lanes3 rotation) {
    const lanes one = lanes_all(1.0f);
    const lanes half = lanes_all(0.5f);
    const lanes square = lanes3_dot(rotation, rotation);
    const lanes_mask turns = lanes_less(lanes_all(1e-30f), square);
    const lanes angle = lanes_sqrt(square);
    // Added to a float below 2^22, this number leaves no bits for a fraction.
    const lanes rounder = lanes_all(12582912.0f);
    const lanes count = (angle * lanes_all(0.5f / CAIRN_PI) + rounder) - rounder;
    // Pi in three parts, of which the first two have few digits: their products are exact.
    lanes rest = angle * half - count * lanes_all(3.140625f);
    rest = rest - count * lanes_all(9.67502593994140625e-4f);
    rest = rest - count * lanes_all(1.509957990978376e-7f);
    const lanes sine_of_half = lanes_sin(rest * half);
    const lanes scale =
        lanes_select(turns, lanes_sin(rest) / lanes_select(turns, angle, one), half);
    return (lanes_quat){rotation.x * scale, rotation.y * scale, rotation.z * scale,
        one - lanes_all(2.0f) * sine_of_half * sine_of_half};
}
