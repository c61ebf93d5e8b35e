// SPDX-License-Identifier: MIT
#pragma once

// The decisions of an encoder, which knows them before their probabilities: they are listed first,
// and coded by one short loop that waits for nothing but the interval of the coder. A decoder has
// no such list, because what it decides depends on what it has read.

#include <stddef.h>
#include <string.h>

#include "compress/model.h"
#include "compress/range_coder.h"

// Which probability of cairn_likely_decisions a decision has, twice, plus 1 if it is true.
typedef uint16_t cairn_decision;

// Of a bit that is as likely 0 as 1 and has no probability.
#define CAIRN_DECISION_EVEN 0x8000u
// The place of a probability, or of the first one of an array.
#define CAIRN_DECISION_PLACE(member)                                                               \
    ((uint32_t)(offsetof(cairn_likely_decisions, member) / sizeof(cairn_probability)))

_Static_assert(sizeof(cairn_likely_decisions) / sizeof(cairn_probability) < CAIRN_DECISION_EVEN / 2,
    "a place has 14 bits");

CAIRN_FOR_EACH_MODE cairn_decision *cairn_decision_put(
    cairn_decision *end, uint32_t place, bool bit) {
    *end = (cairn_decision)(place << 1 | bit);
    return end + 1;
}

CAIRN_FOR_EACH_MODE cairn_decision *cairn_decision_put_even(cairn_decision *end, bool bit) {
    *end = (cairn_decision)(CAIRN_DECISION_EVEN | bit);
    return end + 1;
}

// Of a residual: see cairn_read_residual, which reads it.
typedef struct cairn_residual {
    uint32_t not_zero; // places of its probabilities
    uint32_t negative;
    uint32_t longer;
    uint32_t mantissa; // of a magnitude of one bit
    bool is_negative;
    uint32_t magnitude; // 0: nothing but that follows
} cairn_residual;

// At most this many decisions, and some that are written after them.
enum { CAIRN_RESIDUAL_DECISIONS_MAX = 2 + 32 + 31, CAIRN_DECISIONS_AFTER = 16 };

// Several decisions at once, in memory in this order.
typedef cairn_decision cairn_decisions8 __attribute__((vector_size(16), aligned(2)));

// Magnitudes below this are in the tables below.
#define CAIRN_SHORT_MAGNITUDE 32
// Less the place of `longer`, by how many bits follow the highest one.
extern const cairn_decisions8 cairn_decisions_longer[5];
// Less the place of `mantissa` for this many bits, by the bits after the highest of four bits.
extern const cairn_decisions8 cairn_decisions_mantissa[16];

// A magnitude of many bits.
cairn_decision *cairn_decision_put_long(cairn_decision *end, const cairn_residual *residual);

// Short ones without a branch that depends on them: what lies after the new end is written, too.
CAIRN_FOR_EACH_MODE cairn_decision *cairn_decision_put_residual(
    cairn_decision *end, const cairn_residual *residual) {
    const uint32_t magnitude = residual->magnitude;
    (void)cairn_decision_put(end, residual->not_zero, magnitude != 0);
    (void)cairn_decision_put(end + 1, residual->negative, residual->is_negative);
    if (__builtin_expect(magnitude >= CAIRN_SHORT_MAGNITUDE, false)) {
        return cairn_decision_put_long(end + 2, residual);
    }
    const uint32_t bits = 31u - (uint32_t)__builtin_clz(magnitude | 1u); // after the highest
    const cairn_decision longer = (cairn_decision)(2 * residual->longer);
    const cairn_decision mantissa = (cairn_decision)(2 * (residual->mantissa + 3 * bits));
    const cairn_decisions8 unary = cairn_decisions_longer[bits] + longer;
    const cairn_decisions8 first_two = {mantissa, mantissa, 0, 0, 0, 0, 0, 0};
    const cairn_decisions8 rest =
        cairn_decisions_mantissa[magnitude << (4 - bits) & 15] + first_two;
    memcpy(end + 2, &unary, sizeof unary);
    memcpy(end + 3 + bits, &rest, sizeof rest);
    return end + 1 + ((2 + 2 * bits) & (0u - (uint32_t)(magnitude != 0)));
}

// Codes them in order; the probabilities adapt.
void cairn_decisions_encode(const cairn_decision *begin, const cairn_decision *end,
    cairn_likely_decisions *likely, cairn_range_coder *coder);
// counts[place][bit] of each grows.
void cairn_decisions_count(
    const cairn_decision *begin, const cairn_decision *end, uint32_t (*counts)[2]);
