// SPDX-License-Identifier: MIT
#pragma once

// The parts of the passport, so that tests can plant the faults that it must find.

#include <stdbool.h>

#include "sim/debug/passport.h"

typedef struct cairn_arithmetic {
    float (*minimum)(float a, float b);
    float (*maximum)(float a, float b);
    float (*root)(float a);
    float (*sine)(float a);
    float (*cosine)(float a);
    float (*angle)(float y, float x);
} cairn_arithmetic;

// What the simulation computes with.
extern const cairn_arithmetic cairn_arithmetic_own;

// All faults except that of the scene.
uint32_t cairn_passport_arithmetic_faults(const cairn_arithmetic *arithmetic);

// The hash of sines, cosines and arc tangents of a table; and the root of the short world, or zero
// and CAIRN_OUT_OF_MEMORY. sim/debug/passport_golden.h has the expected values.
cairn_hash128 cairn_passport_trigonometry(const cairn_arithmetic *arithmetic);
cairn_status cairn_passport_scene(cairn_hash128 *out);
