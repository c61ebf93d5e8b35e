// SPDX-License-Identifier: MIT
#pragma once

// A set of players' slots. Going through the members costs nothing for slots that are absent.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/types.h>

typedef struct cairn_slot_set {
    uint64_t words[(CAIRN_SLOTS_MAX + 63) / 64];
} cairn_slot_set;

static inline bool cairn_slot_set_has(const cairn_slot_set *set, uint32_t slot) {
    return slot < CAIRN_SLOTS_MAX && (set->words[slot / 64] >> slot % 64 & 1) != 0;
}

static inline void cairn_slot_set_put(cairn_slot_set *set, uint32_t slot, bool member) {
    const uint64_t bit = UINT64_C(1) << slot % 64;
    set->words[slot / 64] = member ? set->words[slot / 64] | bit : set->words[slot / 64] & ~bit;
}

// The first member from `slot` on; CAIRN_SLOTS_MAX after the last:
// for (s = cairn_slot_set_next(set, 0); s < CAIRN_SLOTS_MAX; s = cairn_slot_set_next(set, s + 1)).
static inline uint32_t cairn_slot_set_next(const cairn_slot_set *set, uint32_t slot) {
    while (slot < CAIRN_SLOTS_MAX) {
        const uint64_t rest = set->words[slot / 64] >> slot % 64;
        if (rest != 0) {
            return slot + (uint32_t)__builtin_ctzll(rest);
        }
        slot = (slot / 64 + 1) * 64;
    }
    return CAIRN_SLOTS_MAX;
}
