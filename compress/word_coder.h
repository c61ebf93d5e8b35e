// SPDX-License-Identifier: MIT
#pragma once

// Codes a word of a state that differs from its candidate (compress/state_packer.h), in one of
// several modes. Decisions are mixed from three contexts (compress/bit_mixer.h); digits that look
// random are not modelled.

#include <stdbool.h>
#include <stdint.h>

#include "compress/bit_mixer.h"
#include "compress/range_coder.h"
#include "compress/state_words.h"

// How those words of a column are coded that differ from their candidates.
typedef enum cairn_column_mode {
    CAIRN_COLUMN_SAME = 0, // every word is its candidate
    CAIRN_COLUMN_SYMBOLS,  // as what was seen before in the same contexts
    CAIRN_COLUMN_DELTA,    // as the difference to the candidate
    CAIRN_COLUMN_GRID,     // the same, of floats on the grid of reference poses
    CAIRN_COLUMN_HALVES,   // as the differences of the halves of words to those of the candidate
    CAIRN_COLUMN_FLOATS,   // as sign, exponent and digits
    CAIRN_COLUMN_FRICTION, // this and the next two: friction (compress/friction_code.h)
    CAIRN_COLUMN_MODE_COUNT
} cairn_column_mode;

// The class of a word is a context of later words. Classes from 2 on depend on the mode.
#define CAIRN_CLASS_CANDIDATE 0
#define CAIRN_CLASS_ZERO 1
#define CAIRN_CLASS_FIRST 2

// Kinds of decisions, which have weights of their own.
enum { SET_SAME, SET_ZERO, SET_SIGN, SET_LENGTH, SET_LOWER_LENGTH, SET_SYMBOL, SET_GUESS };
// Numbers of the decisions of a column. A tree begins at a multiple of its size.
enum {
    NODE_SAME = 1,
    NODE_ZERO,
    NODE_SIGN,
    NODE_NEGATIVE,
    NODE_HALF_SAME,   // and the next
    NODE_REGULAR = 8, // of 3 components
    NODE_COMPONENT_SAME = 12,
    NODE_NORMAL = 16,        // of 8
    NODE_GUESS = 24,         // and the next
    NODE_LENGTH = 64,        // of 64
    NODE_LOWER_LENGTH = 128, // of 64
    NODE_LEADING = 256,      // of 33 lengths 8 each
    NODE_LOWER_LEADING = 576,
    NODE_EXPONENT = 1024, // of 256
    NODE_DIGITS = 2048,   // of 256 exponents 8 each
    NODE_SYMBOL = 4096,
};

// Longer symbols are compared with guesses first, and coded bit by bit if no guess is right.
#define CAIRN_SYMBOL_BITS_SHORT 16
// A guess is the word that followed the same context last.
#define CAIRN_GUESSES_LOG2 10

typedef struct cairn_word_coder {
    cairn_bit_mixer mixer;
    uint32_t guesses[2][1u << CAIRN_GUESSES_LOG2]; // by inputs 0 and 2
    uint32_t bits; // of CAIRN_COLUMN_SYMBOLS: of a word; of CAIRN_COLUMN_FLOATS: digits, 0 .. 23
} cairn_word_coder;

// Codes a difference modulo 2^32 that is not 0: how many bits it has, then the three bits after the
// highest one with counters, then the others raw. `lower`: 1 for the lower half of a word, else 0.
CAIRN_FOR_EACH_MODE uint32_t cairn_code_delta(cairn_coder_mode mode, cairn_range_coder *coder,
    cairn_word_coder *w, const cairn_contexts *contexts, uint32_t lower, uint32_t delta,
    uint8_t *class) {
    const uint32_t folded = (delta << 1 ^ (delta >> 31 != 0 ? UINT32_MAX : 0)) - 1;
    uint32_t length = folded == 0 ? 0 : 32 - (uint32_t)__builtin_clz(folded);
    const uint32_t first = lower != 0 ? NODE_LOWER_LENGTH : NODE_LENGTH;
    const uint32_t set = SET_LENGTH + lower;
    length = cairn_mix_tree(mode, coder, &w->mixer, contexts, set, first, 6, length);
    if (length > 32) {
        length = 32; // of a decoder with a malformed input
    }
    *class = (uint8_t)(CAIRN_CLASS_FIRST + length);
    const uint32_t tree = (lower != 0 ? NODE_LOWER_LEADING : NODE_LEADING) + 8 * length;
    uint32_t value = length == 0 ? 0 : 1;
    uint32_t node = 1;
    uint32_t left = length == 0 ? 0 : length - 1;
    for (uint32_t i = 0; i < 3 && left > 0; ++i) {
        left -= 1;
        const bool bit =
            cairn_learn_bit(mode, coder, &w->mixer, tree + node, (folded >> left & 1) != 0);
        node = node << 1 | bit;
        value = value << 1 | bit;
    }
    if (left > 0) {
        const uint32_t rest = folded & ((UINT32_C(1) << left) - 1);
        value = value << left | cairn_code_raw_as(mode, coder, left, rest);
    }
    value += 1;
    return value >> 1 ^ ((value & 1) != 0 ? UINT32_MAX : 0);
}

// Codes half a word. The class of the upper half is a context of the lower one.
CAIRN_FOR_EACH_MODE uint32_t cairn_code_half(cairn_coder_mode mode, cairn_range_coder *coder,
    cairn_word_coder *w, const cairn_contexts *contexts, uint32_t lower, uint32_t half,
    uint32_t expected, uint8_t *class) {
    const uint32_t delta = (uint32_t)(int32_t)(int16_t)(uint16_t)(half - expected);
    const uint32_t node = NODE_HALF_SAME + lower;
    *class = CAIRN_CLASS_CANDIDATE;
    if (cairn_mix_bit(mode, coder, &w->mixer, contexts, SET_SAME, node, delta == 0)) {
        return expected & 0xffff;
    }
    return (expected + cairn_code_delta(mode, coder, w, contexts, lower, delta, class)) & 0xffff;
}

CAIRN_FOR_EACH_MODE uint32_t cairn_code_halves(cairn_coder_mode mode, cairn_range_coder *coder,
    cairn_word_coder *w, const cairn_contexts *contexts, uint32_t word, uint32_t expected,
    uint8_t *class) {
    uint8_t lower_class;
    const uint32_t upper =
        cairn_code_half(mode, coder, w, contexts, 0, word >> 16, expected >> 16, class);
    cairn_contexts by_upper = *contexts;
    by_upper.hash[1] = cairn_context_hash(1, *class);
    const uint32_t lower = cairn_code_half(
        mode, coder, w, &by_upper, 1, word & 0xffff, expected & 0xffff, &lower_class);
    *class = lower_class > *class ? lower_class : *class;
    return upper << 16 | lower;
}

CAIRN_FOR_EACH_MODE uint32_t cairn_code_symbol(cairn_coder_mode mode, cairn_range_coder *coder,
    cairn_word_coder *w, const cairn_contexts *contexts, uint32_t word, uint8_t *class) {
    uint32_t *first = &w->guesses[0][contexts->hash[2] >> (32 - CAIRN_GUESSES_LOG2)];
    uint32_t *second = &w->guesses[1][contexts->hash[0] >> (32 - CAIRN_GUESSES_LOG2)];
    const bool guesses = w->bits > CAIRN_SYMBOL_BITS_SHORT;
    uint32_t out;
    if (guesses &&
        cairn_mix_bit(mode, coder, &w->mixer, contexts, SET_GUESS, NODE_GUESS, word == *first)) {
        out = *first;
    } else if (guesses && cairn_mix_bit(mode, coder, &w->mixer, contexts, SET_GUESS, NODE_GUESS + 1,
                              word == *second)) {
        out = *second;
    } else {
        out = cairn_mix_tree(
            mode, coder, &w->mixer, contexts, SET_SYMBOL, NODE_SYMBOL, w->bits, word);
    }
    *first = out;
    *second = out;
    *class = (uint8_t)(CAIRN_CLASS_FIRST + (out & 0x7f));
    return out;
}

// Sign and exponent, three digits by the exponent, then the others. Digits that no word of the
// column has are left out.
CAIRN_FOR_EACH_MODE uint32_t cairn_code_float(cairn_coder_mode mode, cairn_range_coder *coder,
    cairn_word_coder *w, const cairn_contexts *contexts, uint32_t word, uint8_t *class) {
    uint32_t out =
        cairn_mix_bit(mode, coder, &w->mixer, contexts, SET_SIGN, NODE_SIGN, word >> 31 != 0);
    const uint32_t exponent = cairn_mix_tree(
        mode, coder, &w->mixer, contexts, SET_SYMBOL, NODE_EXPONENT, 8, word >> 23 & 0xff);
    out = out << 8 | exponent;
    *class = (uint8_t)(exponent < CAIRN_CLASS_FIRST ? CAIRN_CLASS_FIRST : exponent);
    const uint32_t digits = (word & 0x7fffff) >> (23 - w->bits);
    uint32_t node = 1;
    uint32_t left = w->bits;
    for (uint32_t i = 0; i < 3 && left > 0; ++i) {
        left -= 1;
        const bool bit = cairn_learn_bit(
            mode, coder, &w->mixer, NODE_DIGITS + 8 * exponent + node, (digits >> left & 1) != 0);
        node = node << 1 | bit;
        out = out << 1 | bit;
    }
    const uint32_t rest = digits & ((UINT32_C(1) << left) - 1);
    out = out << left | cairn_code_raw_as(mode, coder, left, rest);
    return out << (23 - w->bits);
}

// Codes a word that differs from its candidate and from 0.
CAIRN_FOR_EACH_MODE uint32_t cairn_code_other_word(cairn_coder_mode coding,
    cairn_range_coder *coder, cairn_word_coder *w, const cairn_contexts *contexts,
    cairn_column_mode mode, uint32_t word, uint32_t expected, uint8_t *class) {
    uint32_t point;
    switch (mode) {
    case CAIRN_COLUMN_SYMBOLS:
        return cairn_code_symbol(coding, coder, w, contexts, word, class);
    case CAIRN_COLUMN_GRID:
        point = cairn_word_grid_point(expected);
        return cairn_word_of_grid(point + cairn_code_delta(coding, coder, w, contexts, 0,
                                              cairn_word_grid_point(word) - point, class));
    case CAIRN_COLUMN_HALVES:
        return cairn_code_halves(coding, coder, w, contexts, word, expected, class);
    case CAIRN_COLUMN_FLOATS:
        return cairn_code_float(coding, coder, w, contexts, word, class);
    case CAIRN_COLUMN_DELTA:
    default:
        return expected + cairn_code_delta(coding, coder, w, contexts, 0, word - expected, class);
    }
}

// Codes a word of a column in which some words differ from their candidates. `zeros`: some of these
// words are 0.
CAIRN_FOR_EACH_MODE uint32_t cairn_code_word(cairn_coder_mode coding, cairn_range_coder *coder,
    cairn_word_coder *w, const cairn_contexts *contexts, cairn_column_mode mode, bool zeros,
    uint32_t word, uint32_t expected, uint8_t *class) {
    *class = CAIRN_CLASS_CANDIDATE;
    if (cairn_mix_bit(coding, coder, &w->mixer, contexts, SET_SAME, NODE_SAME, word == expected)) {
        return expected;
    }
    *class = CAIRN_CLASS_ZERO;
    if (zeros &&
        cairn_mix_bit(coding, coder, &w->mixer, contexts, SET_ZERO, NODE_ZERO, word == 0)) {
        return 0;
    }
    return cairn_code_other_word(coding, coder, w, contexts, mode, word, expected, class);
}
