// SPDX-License-Identifier: MIT
#pragma once

// Passes over long lists of pairs of slots of which few are wanted: contacts and cached pairs in a
// world that mostly sleeps. Sixteen pairs that follow each other form a range, and 128 of them a
// block; both know between which slots their two sides lie. A set of slots answers at once whether
// it has a member between two slots, so most blocks are passed without reading a pair.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CAIRN_PAIRS_PER_RANGE 16u
#define CAIRN_PAIRS_PER_BLOCK 128u

typedef struct cairn_slot_range {
    uint32_t lower[2]; // of the first and of the second side
    uint32_t upper[2];
} cairn_slot_range;

#define CAIRN_SLOT_RANGE_NONE ((cairn_slot_range){.lower = {UINT32_MAX, UINT32_MAX}})

static inline void slot_range_add(cairn_slot_range *range, uint32_t a, uint32_t b) {
    range->lower[0] = a < range->lower[0] ? a : range->lower[0];
    range->upper[0] = a > range->upper[0] ? a : range->upper[0];
    range->lower[1] = b < range->lower[1] ? b : range->lower[1];
    range->upper[1] = b > range->upper[1] ? b : range->upper[1];
}

static inline void slot_range_unite(cairn_slot_range *range, const cairn_slot_range *with) {
    slot_range_add(range, with->lower[0], with->lower[1]);
    slot_range_add(range, with->upper[0], with->upper[1]);
}

typedef struct cairn_slot_marks {
    uint64_t *words;  // a bit for each slot
    uint32_t *before; // by word: how many of the words before it have a member
} cairn_slot_marks;

static inline size_t slot_set_words(uint32_t slots) {
    return (size_t)slots / 64 + 2;
}

// Makes `members` the members of the set, whose slots are below `slots`.
static inline void slot_set_fill(
    cairn_slot_marks *set, const uint32_t *members, uint32_t count, uint32_t slots) {
    const size_t words = slot_set_words(slots);
    memset(set->words, 0, words * sizeof *set->words);
    for (uint32_t i = 0; i < count; ++i) {
        set->words[members[i] / 64] |= UINT64_C(1) << members[i] % 64;
    }
    uint32_t found = 0;
    for (size_t i = 0; i < words; ++i) {
        set->before[i] = found;
        found += set->words[i] != 0 ? 1u : 0u;
    }
}

// Whether a member is between the two slots, or one of them.
static inline bool slot_set_meets(const cairn_slot_marks *set, uint32_t lower, uint32_t upper) {
    const uint32_t first = lower / 64;
    const uint32_t last = upper / 64;
    const uint64_t from_lower = set->words[first] >> lower % 64 << lower % 64;
    const uint64_t to_upper = set->words[last] << (63 - upper % 64);
    return first == last
               ? (from_lower << (63 - upper % 64)) != 0
               : (from_lower | to_upper) != 0 || set->before[last] != set->before[first + 1];
}

// False: no pair of the range or block has a member.
static inline bool slot_range_meets(const cairn_slot_range *range, const cairn_slot_marks *set) {
    return slot_set_meets(set, range->lower[0], range->upper[0]) ||
           slot_set_meets(set, range->lower[1], range->upper[1]);
}
