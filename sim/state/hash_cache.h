// SPDX-License-Identifier: MIT
#pragma once

// The hash's memory: arrays are hashed in blocks, one leaf each, and a leaf is kept until something
// of its block may have been written. Kept leaves are no state: they follow from it, and dropping
// them at any time changes no bit of any hash. In return, whoever writes a word of the block of
// state marks its element here. Settings and the rules' state are not kept; the number of elements
// is looked at by the hash itself.

#include "sim/state/world.h"

typedef struct cairn_kept_array {
    unsigned char *changed; // by block, 1: the leaf may be out of date
    cairn_hash128 *leaves;  // by block; zero beyond the live range
    cairn_hash128 sum;      // of all leaves
    uint32_t shift;         // a block has 1 << shift elements
    uint32_t count;         // elements of the live range when the sum was made
} cairn_kept_array;

struct cairn_kept {
    cairn_kept_array arrays[CAIRN_ARRAY_COUNT];
    void *memory;
};

// NULL when there is no memory. Everything begins as changed.
cairn_kept *cairn_kept_create(const cairn_settings *settings);
void cairn_kept_destroy(cairn_kept *kept); // NULL is allowed
// Into a new one of equal capacities: what `from` keeps of a state with these settings.
void cairn_kept_copy(cairn_kept *to, const cairn_kept *from, const cairn_settings *settings);

// Element `index` of the array was, or may have been, written.
static inline void cairn_kept_touch(cairn_world *world, cairn_array array, uint32_t index) {
    const cairn_kept_array *kept = &world->kept->arrays[array];
    kept->changed[index >> kept->shift] = 1;
}
// All that belongs to the body in that slot.
void cairn_kept_touch_body(cairn_world *world, uint32_t slot);
// The elements from `first` to the end of the live range, or all of every array.
void cairn_kept_touch_from(cairn_world *world, cairn_array array, uint32_t first);
void cairn_kept_touch_all(cairn_world *world);

// Elements in a block of that array.
uint32_t cairn_kept_block(cairn_array array);
// The sum of the leaves of the array, those that are up to date taken from `kept`; and the same
// from the words alone.
cairn_hash128 cairn_kept_sum(cairn_kept *kept, const cairn_state *state, cairn_array array);
cairn_hash128 cairn_fresh_sum(const cairn_state *state, cairn_array array);
