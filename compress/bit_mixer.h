// SPDX-License-Identifier: MIT
#pragma once

// Predicts the decisions of data that is sent once. Counters of three contexts each estimate how
// likely a decision is. A mixer weighs the estimates and learns which of them to trust (Mahoney,
// "Adaptive weighing of context models for lossless data compression", 2005). All arithmetic is on
// integers, so every machine has the same bits.

#include <stdbool.h>
#include <stdint.h>

#include "compress/range_coder.h"

#define CAIRN_MIXER_INPUTS 3
#define CAIRN_MIXER_SETS 8
#define CAIRN_MIXER_COUNTERS_LOG2 16

// How likely a decision is true. It is learnt from earlier decisions, from the first ones fastest.
typedef struct cairn_bit_counter {
    cairn_probability likely;
    uint8_t seen;
    uint8_t epoch; // of the mixer when it learnt last; in another epoch the counter is new
} cairn_bit_counter;

typedef struct cairn_bit_mixer {
    // Found by a hash of context and decision. Two with the same hash share a counter, which costs
    // a few bytes. The counters of sixteen decisions of a context are neighbours.
    cairn_bit_counter counters[1u << CAIRN_MIXER_COUNTERS_LOG2];
    int32_t weights[CAIRN_MIXER_SETS][CAIRN_MIXER_INPUTS];
    uint8_t epoch;
    uint16_t gains[256];     // by the decisions that a counter has seen, in 65536ths
    int16_t stretched[4096]; // ln(p / (1 - p)) in 256ths, by the upper 12 bits of p
    // The inverse, 65536 / (1 + e^-(x / 256)), by x + 2048.
    cairn_probability squashed[4096];
} cairn_bit_mixer;

void cairn_bit_mixer_init(cairn_bit_mixer *mixer);
// Forgets all that was learnt.
void cairn_bit_mixer_reset(cairn_bit_mixer *mixer);

// What decisions depend on: one hash for each input.
typedef struct cairn_contexts {
    uint32_t hash[CAIRN_MIXER_INPUTS];
} cairn_contexts;

static inline uint32_t cairn_context_hash(uint32_t input, uint32_t value) {
    const uint32_t product = (value * 4 + input) * UINT32_C(0x9e3779b1);
    return product ^ product >> 15;
}

static inline cairn_contexts cairn_contexts_of(uint32_t a, uint32_t b, uint32_t c) {
    return (cairn_contexts){
        {cairn_context_hash(0, a), cairn_context_hash(1, b), cairn_context_hash(2, c)}};
}

#define CAIRN_MIXER_STRETCH_MAX 2047
#define CAIRN_MIXER_LIKELY_MIN 32
#define CAIRN_MIXER_WEIGHT_MAX (INT32_C(1) << 18)
#define CAIRN_COUNTER_SEEN_MAX 254
#define CAIRN_COUNTER_LIKELY_MIN 24

static inline cairn_bit_counter *cairn_mixer_counter(
    cairn_bit_mixer *mixer, uint32_t hash, uint32_t node) {
    const uint32_t mixed = (hash ^ (node >> 4) * UINT32_C(0x9e3779b1)) * UINT32_C(0x85ebca6b);
    const uint32_t line = mixed >> (32 - CAIRN_MIXER_COUNTERS_LOG2) & ~UINT32_C(15);
    cairn_bit_counter *c = &mixer->counters[line | (node & 15)];
    if (c->epoch != mixer->epoch) {
        *c = (cairn_bit_counter){.likely = 32768, .epoch = mixer->epoch};
    }
    return c;
}

static inline void cairn_counter_learn(
    const cairn_bit_mixer *mixer, cairn_bit_counter *c, bool bit) {
    const uint32_t gain = mixer->gains[c->seen];
    const uint32_t now = c->likely;
    const uint32_t moved = bit ? now + ((65536 - now) * gain >> 16) : now - (now * gain >> 16);
    const uint32_t least = moved < CAIRN_COUNTER_LIKELY_MIN ? CAIRN_COUNTER_LIKELY_MIN : moved;
    const uint32_t most = 65536 - CAIRN_COUNTER_LIKELY_MIN;
    c->likely = (cairn_probability)(least > most ? most : least);
    c->seen = (uint8_t)(c->seen + (c->seen < CAIRN_COUNTER_SEEN_MAX ? 1 : 0));
}

// Codes a decision with a counter of its own, without contexts.
CAIRN_FOR_EACH_MODE bool cairn_learn_bit(cairn_coder_mode mode, cairn_range_coder *coder,
    cairn_bit_mixer *mixer, uint32_t node, bool bit) {
    cairn_bit_counter *c = cairn_mixer_counter(mixer, 0, node);
    bit = cairn_code_bit_as(mode, coder, &c->likely, bit);
    cairn_counter_learn(mixer, c, bit);
    return bit;
}

// The estimate of a counter. That of one that has seen few decisions is weakened.
static inline int32_t cairn_counter_opinion(
    const cairn_bit_mixer *mixer, const cairn_bit_counter *c) {
    const int32_t trust = c->seen == 0 ? 0 : c->seen < 3 ? 5 : 8;
    return mixer->stretched[c->likely >> 4] * trust / 8;
}

// Codes a decision with these contexts. `set`: which weights; each kind of decision has its own.
CAIRN_FOR_EACH_MODE bool cairn_mix_bit(cairn_coder_mode mode, cairn_range_coder *coder,
    cairn_bit_mixer *mixer, const cairn_contexts *contexts, uint32_t set, uint32_t node, bool bit) {
    cairn_bit_counter *counters[CAIRN_MIXER_INPUTS];
    int32_t opinions[CAIRN_MIXER_INPUTS];
    int32_t *weights = mixer->weights[set];
    int32_t sum = 0;
    for (uint32_t i = 0; i < CAIRN_MIXER_INPUTS; ++i) {
        counters[i] = cairn_mixer_counter(mixer, contexts->hash[i], node);
        opinions[i] = cairn_counter_opinion(mixer, counters[i]);
        sum += weights[i] * opinions[i];
    }
    sum /= 65536;
    const int32_t most = CAIRN_MIXER_STRETCH_MAX;
    const int32_t bounded = sum > most ? most : sum < 0 - most ? 0 - most : sum;
    const cairn_probability likely = mixer->squashed[bounded + 2048];
    bit = cairn_code_bit_as(mode, coder, &likely, bit);
    const int32_t error = (bit ? 65536 : 0) - (int32_t)likely;
    for (uint32_t i = 0; i < CAIRN_MIXER_INPUTS; ++i) {
        const int32_t weight = weights[i] + opinions[i] * error / 16384;
        const int32_t least = 0 - CAIRN_MIXER_WEIGHT_MAX;
        const int32_t more = weight < least ? least : weight;
        weights[i] = more > CAIRN_MIXER_WEIGHT_MAX ? CAIRN_MIXER_WEIGHT_MAX : more;
        cairn_counter_learn(mixer, counters[i], bit);
    }
    return bit;
}

// Codes the lowest `bits` bits of a value, highest first. The bits before it choose the counters of
// a bit.
CAIRN_FOR_EACH_MODE uint32_t cairn_mix_tree(cairn_coder_mode mode, cairn_range_coder *coder,
    cairn_bit_mixer *mixer, const cairn_contexts *contexts, uint32_t set, uint32_t first,
    uint32_t bits, uint32_t value) {
    uint32_t node = 1;
    uint32_t out = 0;
    while (bits-- > 0) {
        const bool bit = cairn_mix_bit(
            mode, coder, mixer, contexts, set, first + node, (value >> bits & 1) != 0);
        node = node << 1 | bit;
        out = out << 1 | bit;
    }
    return out;
}
