// SPDX-License-Identifier: MIT
#pragma once

// The words of a state that is packed or unpacked (compress/state_packer.h), and what foresees
// them: each has a candidate, which follows from words that come before it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/word_group.h"

// Where the candidate of a word is.
typedef enum cairn_source_kind {
    CAIRN_SOURCE_PREVIOUS = 0, // the same column of the element before
    CAIRN_SOURCE_COLUMN,       // another column of the same element, coded before
    CAIRN_SOURCE_GROUP,        // a column of an earlier group, in the element with the same number
    CAIRN_SOURCE_LINK, // the same, in the element of the body that column `key` names by its id
    CAIRN_SOURCE_DIFFERENCE, // as floats, that of `key_b` less that of `key`
    CAIRN_SOURCE_UNIT,       // the fourth component of a unit vector, from the three columns before
    // Word `key` of a packed rotation. The quaternion that begins at `column` is turned back by
    // `step` seconds of the angular velocity that begins at column `key_b` of its group.
    CAIRN_SOURCE_ROTATION,
    // As CAIRN_SOURCE_GROUP, a float, less `step` seconds of the velocity in column `key` of its
    // group.
    CAIRN_SOURCE_MOVED,
    CAIRN_SOURCE_COUNT
} cairn_source_kind;

typedef struct cairn_word_source {
    cairn_source_kind kind;
    uint32_t group, column, key, key_b;
    uint32_t first; // the candidate of the first element, which has none before it
    uint32_t step;  // s, the bits of a float
} cairn_word_source;

// The groups as they lie in the bytes of the state.
typedef struct cairn_state_words {
    uint8_t *bytes; // of the state; not owned, and only a decoder writes them
    cairn_word_group groups[CAIRN_WORD_GROUPS_MAX];
    size_t offset[CAIRN_WORD_GROUPS_MAX]; // in bytes
    uint32_t count;
    uint32_t elements_max; // of the largest group
    uint32_t slots;        // the group of the slots of bodies; CAIRN_WORD_GROUPS_MAX: none
    uint32_t
        *elements; // owned; of each slot of a body, the number of its element; UINT32_MAX: none
} cairn_state_words;

static inline uint32_t cairn_word_load(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline void cairn_word_store(uint8_t *at, uint32_t word) {
    at[0] = (uint8_t)word;
    at[1] = (uint8_t)(word >> 8);
    at[2] = (uint8_t)(word >> 16);
    at[3] = (uint8_t)(word >> 24);
}

static inline float cairn_float_of_word(uint32_t word) {
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

// The bits of a float. A NaN gives 0, because its bits differ between machines.
static inline uint32_t cairn_word_of_float(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return value == value ? word : 0;
}

static inline uint8_t *cairn_word_at(
    const cairn_state_words *w, uint32_t group, uint32_t column, uint32_t element) {
    const size_t word = (size_t)element * w->groups[group].words + column;
    return w->bytes + w->offset[group] + word * sizeof(uint32_t);
}

static inline uint32_t cairn_word_of(
    const cairn_state_words *w, uint32_t group, uint32_t column, uint32_t element) {
    return cairn_word_load(cairn_word_at(w, group, column, element));
}

// Fills in the rest from bytes, groups and their count. False: there are too many groups, they do
// not have `size` bytes in all, or memory is short.
bool cairn_state_words_open(cairn_state_words *w, size_t size);
void cairn_state_words_close(cairn_state_words *w);
// All slots of bodies are known: candidates may name bodies.
void cairn_state_words_count_bodies(cairn_state_words *w);

// Whether a source names words that are coded before column `column` of group `group`.
bool cairn_word_source_valid(
    const cairn_state_words *w, uint32_t group, uint32_t column, const cairn_word_source *from);
// Returns the candidate of a word. The source must be valid.
uint32_t cairn_word_candidate(const cairn_state_words *w, uint32_t group, uint32_t column,
    const cairn_word_source *from, uint32_t element);

// Reference poses lie on a grid (sim/math/grid.h). Returns how many steps of the grid a float is
// from zero, rounded; 0 if the float is beyond 65,536 m.
uint32_t cairn_word_grid_point(uint32_t word);
// Returns the float that is so many steps from zero.
uint32_t cairn_word_of_grid(uint32_t point);
