// SPDX-License-Identifier: MIT
#pragma once

// The hash cache: arrays are hashed in blocks, one leaf hash per block, and a leaf is reused until
// an element of its block may have been written. The cache follows from the state: dropping it at
// any time changes no bit of any hash. In return, all code that writes a word of the block of state
// marks its element here. Settings and the rules' state are not cached; a change of the number of
// elements is noticed without a mark.

#include "sim/state/world.h"

typedef struct cairn_hash_cache_array {
    unsigned char *dirty;  // by block, 1: the leaf may be out of date
    cairn_hash128 *leaves; // by block; zero beyond the live range
    cairn_hash128 sum;     // of all leaves
    uint32_t shift;        // a block has 1 << shift elements
    uint32_t count;        // elements of the live range when the sum was computed
} cairn_hash_cache_array;

struct cairn_hash_cache {
    cairn_hash_cache_array arrays[CAIRN_ARRAY_COUNT];
    void *memory;
};

// CAIRN_OUT_OF_MEMORY: *out is NULL. Nothing is cached yet; elements that come into existence need
// no mark.
cairn_status cairn_hash_cache_create(const cairn_settings *settings, cairn_hash_cache **out);
void cairn_hash_cache_destroy(cairn_hash_cache *cache); // NULL is allowed
// Into a new cache of equal capacities: everything that `from` holds of a state with these
// settings.
void cairn_hash_cache_copy(
    cairn_hash_cache *to, const cairn_hash_cache *from, const cairn_settings *settings);

// Element `index` of the array was, or may have been, written. Workers may mark at the same time.
static inline void cairn_hash_cache_mark(
    const cairn_world *world, cairn_array array, uint32_t index) {
    const cairn_hash_cache_array *cache = &world->hash_cache->arrays[array];
    __atomic_store_n(&cache->dirty[index >> cache->shift], 1, __ATOMIC_RELAXED);
}
// Everything that belongs to the body in that slot.
void cairn_hash_cache_mark_body(cairn_world *world, uint32_t slot);
// The elements from `first` to the end of the live range, or all of every array.
void cairn_hash_cache_mark_from(cairn_world *world, cairn_array array, uint32_t first);
void cairn_hash_cache_mark_all(cairn_world *world);

// Elements in a block of that array.
uint32_t cairn_hash_cache_block_elements(cairn_array array);
// Whether every leaf that counts as up to date is that of its words, and every sum that of its
// leaves.
bool cairn_hash_cache_valid(const cairn_hash_cache *cache, const cairn_state *state);
// The sum of the leaves of the array, with the cached leaf where it is up to date; and the same
// computed from the words alone.
cairn_hash128 cairn_hash_cache_sum(
    cairn_hash_cache *cache, const cairn_state *state, cairn_array array);
cairn_hash128 cairn_hash_cache_fresh_sum(const cairn_state *state, cairn_array array);
// The hash of a world computed from the words of the block alone, without the hash cache.
cairn_world_hash cairn_world_hash_fresh(const cairn_world *world);
