// SPDX-License-Identifier: MIT
#pragma once

// A residual is the difference between an integer and the real number that was predicted for it. It
// is coded as decisions. Their probabilities depend on the error that the prediction is expected to
// have. A decoder reads one after the other; an encoder, which
// knows all, finds the decisions of three at once.

#include <stdint.h>

#include "compress/decision_queue.h"
#include "compress/quantised_body.h"
#include "compress/vec4.h"

// Two levels for each power of two, from 0.2 steps on.
static inline uint32_t cairn_error_level(float error) {
    const uint32_t above = 0u - (uint32_t)(error > 0.2f); // no branch: it is not foreseen
    const uint32_t bits = cairn_float_bits(error * error) & above;
    const uint32_t least = 127 - 5; // of 0.2 squared
    const uint32_t level = (bits >> 23) - (least & above);
    return level < CAIRN_ERROR_LEVELS ? level : CAIRN_ERROR_LEVELS - 1;
}

// The magnitude of a residual, at least 1: the position of its highest bit in unary, the two bits
// after it with probabilities, the rest as they are.
static inline uint32_t cairn_read_magnitude(cairn_range_coder *coder,
    cairn_likely_decisions *likely, cairn_component component, uint32_t level) {
    const cairn_coder_mode mode = CAIRN_CODER_DECODE;
    cairn_probability *longer = likely->longer[component][level];
    uint32_t bits = 0;
    while (bits < CAIRN_MAGNITUDES - 1 &&
           cairn_code_adapting_bit_as(mode, coder, &longer[bits], false)) {
        bits++;
    }
    cairn_probability *mantissa = likely->mantissa[component][bits];
    while (bits >= CAIRN_MAGNITUDES - 1 && bits < 31 &&
           cairn_code_adapting_bit_as(mode, coder, &longer[CAIRN_MAGNITUDES - 1], false)) {
        bits++;
    }
    if (bits == 0) {
        return 1;
    }
    uint32_t result = 2 | cairn_code_adapting_bit_as(mode, coder, &mantissa[0], false);
    if (bits == 1) {
        return result;
    }
    result =
        result << 1 | cairn_code_adapting_bit_as(mode, coder, &mantissa[1 + (result & 1)], false);
    return result << (bits - 2) | cairn_code_raw_as(mode, coder, bits - 2, 0);
}

// A difference to a predicted real number, with an error of some `error` steps; returns the
// integer.
static inline int64_t cairn_read_residual(cairn_range_coder *coder, cairn_likely_decisions *likely,
    cairn_component component, float error, float predicted) {
    const cairn_coder_mode mode = CAIRN_CODER_DECODE;
    predicted =
        cairn_float_clamp(predicted, -(float)CAIRN_QUANTISED_MAX, (float)CAIRN_QUANTISED_MAX);
    int32_t nearest = (int32_t)(predicted + 0.5f);
    nearest -= (float)nearest > predicted + 0.5f; // towards minus infinity
    const float fraction = predicted - (float)nearest + 0.5f;
    const uint32_t part = (uint32_t)(int32_t)(fraction * CAIRN_FRACTIONS);
    const uint32_t f = part < CAIRN_FRACTIONS ? part : CAIRN_FRACTIONS - 1;
    const uint32_t level = cairn_error_level(error);
    if (!cairn_code_adapting_bit_as(mode, coder, &likely->not_zero[component][level][f], false)) {
        return nearest;
    }
    const bool negative =
        cairn_code_adapting_bit_as(mode, coder, &likely->negative[component][level][f], false);
    const int64_t magnitude = cairn_read_magnitude(coder, likely, component, level);
    return nearest + (negative ? -magnitude : magnitude);
}

// Of three residuals at once what cairn_read_residual needs of one. `first_row`: of the tables, by
// component.
CAIRN_VEC4_INLINE void cairn_find_residuals(cairn_int4 first_row, cairn_vec4 error,
    cairn_vec4 predicted, cairn_int4 values, cairn_residual out[3]) {
    const float limit = (float)CAIRN_QUANTISED_MAX;
    const cairn_vec4 low = cairn_vec4_all(-limit), high = cairn_vec4_all(limit);
    const cairn_vec4 half = cairn_vec4_all(0.5f), least = cairn_vec4_all(0.2f);
    predicted = cairn_vec4_select(predicted > low, predicted, low);
    predicted = cairn_vec4_select(predicted < high, predicted, high);
    const cairn_vec4 moved = predicted + half;
    cairn_int4 nearest = __builtin_convertvector(moved, cairn_int4);
    nearest += __builtin_convertvector(nearest, cairn_vec4) > moved; // -1: true
    const cairn_vec4 fraction = predicted - __builtin_convertvector(nearest, cairn_vec4) + half;
    cairn_int4 f =
        __builtin_convertvector(fraction * cairn_vec4_all((float)CAIRN_FRACTIONS), cairn_int4);
    const cairn_int4 beyond = (f & ~(CAIRN_FRACTIONS - 1)) != 0;
    f = (f & ~beyond) | (beyond & (CAIRN_FRACTIONS - 1));
    error = cairn_vec4_select(error > least, error, least);
    cairn_int4 level = ((cairn_int4)(error * error) >> 23) - (127 - 5);
    const cairn_int4 above = level > CAIRN_ERROR_LEVELS - 1;
    level = (level & ~above) | (above & (CAIRN_ERROR_LEVELS - 1));
    const cairn_int4 row = first_row + level;
    _Static_assert(CAIRN_FRACTIONS == 8 && CAIRN_MAGNITUDES == 14, "multiplied by shifts");
    const cairn_int4 place = (row << 3) + f;
    const cairn_int4 longer = (row << 4) - (row << 1);
    const cairn_int4 negative = values < nearest;
    const cairn_uint4 difference = (cairn_uint4)values - (cairn_uint4)nearest;
    const cairn_uint4 magnitude =
        (difference ^ (cairn_uint4)negative) - (cairn_uint4)negative; // modulo 2^32
    for (uint32_t k = 0; k < 3; ++k) {
        out[k].not_zero = CAIRN_DECISION_PLACE(not_zero) + (uint32_t)place[k];
        out[k].negative = CAIRN_DECISION_PLACE(negative) + (uint32_t)place[k];
        out[k].longer = CAIRN_DECISION_PLACE(longer) + (uint32_t)longer[k];
        out[k].is_negative = negative[k] != 0;
        out[k].magnitude = magnitude[k];
    }
}
