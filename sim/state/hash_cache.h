// SPDX-License-Identifier: MIT
#pragma once

// The hash cache: arrays are hashed in blocks, one leaf hash per block, and a leaf is reused until
// an element of its block may have been written. The cache follows from the state: dropping it at
// any time changes no bit of any hash. In return, all code that writes a word of the block of state
// marks its element here. Settings and the rules' state are not cached; a change of the number of
// elements is noticed without a mark. Saves that copy only what has changed
// (sim/serialize/history.c) watch the same marks.

#include "sim/state/world.h"

// A mark has eight bits. A block that may have been written has them all; who has seen that clears
// its own.
#define CAIRN_MARK_STALE 1u // the leaf may be out of date
#define CAIRN_MARK_ALL 0xffu
#define CAIRN_WATCHES_MAX 7u

// Notes what is written from its creation on. It may outlive the cache.
typedef struct cairn_mark_watch {
    cairn_hash_cache *cache; // NULL: the world was destroyed
    unsigned char bit;       // of the marks
} cairn_mark_watch;

typedef struct cairn_hash_cache_array {
    unsigned char *marks;  // by block: CAIRN_MARK_STALE and the bits of watches
    cairn_hash128 *leaves; // by block; zero beyond the live range
    cairn_hash128 sum;     // of all leaves
    uint32_t shift;        // a block has 1 << shift elements
    uint32_t count;        // elements of the live range when the sum was computed
} cairn_hash_cache_array;

struct cairn_hash_cache {
    cairn_hash_cache_array arrays[CAIRN_ARRAY_COUNT];
    cairn_mark_watch *watches[CAIRN_WATCHES_MAX]; // NULL: free
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
    __atomic_store_n(&cache->marks[index >> cache->shift], CAIRN_MARK_ALL, __ATOMIC_RELAXED);
}
// Everything that belongs to the body in that slot.
void cairn_hash_cache_mark_body(cairn_world *world, uint32_t slot);
// The elements from `first` to the end of the live range, or all of every array.
void cairn_hash_cache_mark_from(cairn_world *world, cairn_array array, uint32_t first);
void cairn_hash_cache_mark_all(cairn_world *world);

// CAIRN_CAPACITY: the cache has CAIRN_WATCHES_MAX watches. Which bits are set at first says
// nothing.
cairn_status cairn_mark_watch_begin(cairn_mark_watch *watch, cairn_hash_cache *cache);
void cairn_mark_watch_end(cairn_mark_watch *watch);

// Elements in a block of that array, as a power of two.
uint32_t cairn_hash_cache_block_shift(cairn_array array);
static inline uint32_t cairn_hash_cache_block_elements(cairn_array array) {
    return 1u << cairn_hash_cache_block_shift(array);
}
static inline uint32_t hash_cache_blocks(uint32_t elements, uint32_t shift) {
    return (elements + (1u << shift) - 1) >> shift;
}
// The first block from `block` on with that bit; a value of at least `end` if none before it has.
uint32_t cairn_hash_cache_next_marked(
    const cairn_hash_cache_array *cache, uint32_t block, uint32_t end, unsigned char bit);
// Lists the blocks below `end` that have that bit. Returns how many.
uint32_t cairn_hash_cache_list_marked(
    const cairn_hash_cache_array *cache, uint32_t end, unsigned char bit, uint32_t *blocks);
// Replaces the leaf of a block; zero: it is not known.
void cairn_hash_cache_put_leaf(cairn_hash_cache_array *cache, uint32_t block, cairn_hash128 leaf);
// Whether the leaf of a block is that of its elements in an array of `count`.
static inline bool hash_cache_leaf_known(
    const cairn_hash_cache_array *cache, uint32_t block, uint32_t count) {
    const uint32_t less = count < cache->count ? count : cache->count;
    return (cache->marks[block] & CAIRN_MARK_STALE) == 0 &&
           (count == cache->count || block < less >> cache->shift);
}
// The leaf of these words, and the hash of these sums.
cairn_hash128 cairn_hash_cache_leaf(
    cairn_array array, uint32_t block, const void *words, size_t count);
cairn_world_hash cairn_hash_of_sums(const cairn_hash128 sums[CAIRN_ARRAY_COUNT]);
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
