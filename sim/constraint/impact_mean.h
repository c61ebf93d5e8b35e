// SPDX-License-Identifier: MIT
#pragma once

// The mean of two impulses that adds no energy (sim/soft_step/impact_energy.c).

#include "sim/math/vec.h"

// The share x of the reflected impulse: the first root of p (1 - x)^2 + q (1 - x) x + r x^2 in [0,
// 1], with p > 0 and r <= 0. 1 if rounding leaves no root.
static inline float cairn_share_without_gain(float p, float q, float r) {
    const float linear = p + p - q;
    const float square = float_max(linear * linear - 4.0f * (p - q + r) * p, 0.0f);
    const float below = linear + float_sqrt(square);
    return below > 0.0f ? float_clamp((p + p) / below, 0.0f, 1.0f) : 1.0f;
}
