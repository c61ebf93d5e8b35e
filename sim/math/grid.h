// SPDX-License-Identifier: MIT
#pragma once

// Numbers of the state that need not be exact are kept short, because random digits are what a
// packed state, and so a late join and a recording, consists of.

#include <cairn/math.h>

// The grid on which reference poses lie: 31 um. What a contact measures from there is corrected by
// how far its bodies are from it now, so the grid is no error of the contact.
#define CAIRN_GRID_PER_METRE 32768.0f

// The nearest point of the grid, never -0; itself beyond 256 m, where floats are as coarse.
static inline float cairn_float_on_grid(float metres) {
    const float scaled = metres * CAIRN_GRID_PER_METRE;
    if (!(cairn_float_abs(scaled) < 8388608.0f)) {
        return metres;
    }
    const float rounded = scaled + (scaled < 0.0f ? -0.5f : 0.5f);
    return (float)(int32_t)rounded * (1.0f / CAIRN_GRID_PER_METRE);
}

static inline cairn_vec3 cairn_vec3_on_grid(cairn_vec3 metres) {
    return cairn_vec3_of(cairn_float_on_grid(metres.x), cairn_float_on_grid(metres.y),
        cairn_float_on_grid(metres.z));
}
