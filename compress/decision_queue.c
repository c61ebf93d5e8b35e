// SPDX-License-Identifier: MIT
#include "compress/decision_queue.h"

// At most four bits are longer than one; the fifth decision is not needed after a false one.
const cairn_decisions8 cairn_decisions_longer[5] = {
    {0, 2, 4, 6, 8},
    {1, 2, 4, 6, 8},
    {1, 3, 4, 6, 8},
    {1, 3, 5, 6, 8},
    {1, 3, 5, 7, 8},
};

// The second probability depends on the first bit; then come even ones.
#define AFTER(a, b, c, d)                                                                          \
    { (a), 2 + 2 * (a) + (b), CAIRN_DECISION_EVEN + (c), CAIRN_DECISION_EVEN + (d) }
#define AFTER_TWO(a, b) AFTER(a, b, 0, 0), AFTER(a, b, 0, 1), AFTER(a, b, 1, 0), AFTER(a, b, 1, 1)
const cairn_decisions8 cairn_decisions_mantissa[16] = {
    AFTER_TWO(0, 0), AFTER_TWO(0, 1), AFTER_TWO(1, 0), AFTER_TWO(1, 1)};

cairn_decision *cairn_decision_put_long(cairn_decision *end, const cairn_residual *residual) {
    const uint32_t magnitude = residual->magnitude;
    uint32_t bits = 0; // after the highest
    for (; magnitude >> bits > 1; ++bits) {
        const uint32_t row = bits < CAIRN_MAGNITUDES ? bits : CAIRN_MAGNITUDES - 1;
        end = cairn_decision_put(end, residual->longer + row, true);
    }
    const uint32_t row = bits < CAIRN_MAGNITUDES - 1 ? bits : CAIRN_MAGNITUDES - 1;
    if (bits < 31) { // no magnitude has more
        end = cairn_decision_put(end, residual->longer + row, false);
    }
    const uint32_t mantissa = residual->mantissa + 3 * row;
    const uint32_t second = magnitude >> (bits - 1) & 1;
    end = cairn_decision_put(end, mantissa, second);
    end = cairn_decision_put(end, mantissa + 1 + second, magnitude >> (bits - 2) & 1);
    for (uint32_t left = bits - 2; left > 0; --left) {
        end = cairn_decision_put_even(end, magnitude >> (left - 1) & 1);
    }
    return end;
}

// As cairn_code_adapting_bit_as. The interval's new length is one product away from its old one:
// that of its upper bits and of the probability of what was decided; the lower bits stay with
// false ones. `is_false`: all bits, or none.
CAIRN_FOR_EACH_MODE uint64_t length_after(
    uint64_t range, cairn_probability *likely, uint64_t is_false) {
    const uint64_t now = *likely;
    const uint64_t gain_max = (1u << (16 - CAIRN_ADAPTION_SHIFT)) - 1;
    const uint64_t share = (now ^ is_false) + (is_false & 65537);
    *likely =
        (cairn_probability)(now - (now >> CAIRN_ADAPTION_SHIFT) + gain_max - (is_false & gain_max));
    return (range >> 16) * share + (range & is_false & 65535);
}

void cairn_decisions_encode(const cairn_decision *begin, const cairn_decision *end,
    cairn_likely_decisions *likely, cairn_range_coder *coder) {
    cairn_probability *probabilities = (cairn_probability *)likely;
    cairn_range_coder c = *coder; // in registers
    for (const cairn_decision *at = begin; at < end; ++at) {
        const uint32_t decision = *at;
        const uint64_t is_false = (uint64_t)(decision & 1) - 1;
        uint64_t range;
        if (__builtin_expect((decision & CAIRN_DECISION_EVEN) != 0, false)) {
            range = (c.range >> 1) + (c.range & is_false & 1); // what cairn_code_raw_as takes
        } else {
            range = length_after(c.range, &probabilities[decision >> 1], is_false);
        }
        c.low += (c.range - range) & is_false;
        c.range = range;
        cairn_range_shift(CAIRN_CODER_ENCODE, &c);
    }
    *coder = c;
}

void cairn_decisions_count(
    const cairn_decision *begin, const cairn_decision *end, uint32_t (*counts)[2]) {
    for (const cairn_decision *at = begin; at < end; ++at) {
        if ((*at & CAIRN_DECISION_EVEN) == 0) {
            counts[*at >> 1][*at & 1]++;
        }
    }
}
