// SPDX-License-Identifier: MIT
#include "sim/state/hash_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "sim/state/fields.h"
#include "sim/state/slots.h"

// Arrays are hashed in blocks of some elements, each a leaf keyed by array and block: equal words
// under two keys have unrelated leaves, so swapped or mirrored twins are seen. Free slots are zero.
// The leaves of a section are added up, the sections are hashed as a list.

// Keys beyond those of the leaves.
#define KEY_VISIBLE (UINT64_C(64) << 32)
#define KEY_FULL (UINT64_C(65) << 32)

// A block has four elements, or as many small ones as fit into this many bytes: then a leaf costs
// little more than reading its words, and one body that moves among sleepers makes few others be
// hashed again.
#define BLOCK_ELEMENTS_MIN_SHIFT 2
#define BLOCK_SIZE 256

uint32_t cairn_hash_cache_block_shift(cairn_array array) {
    const size_t size = cairn_array_element_size(array);
    uint32_t shift = BLOCK_ELEMENTS_MIN_SHIFT;
    while ((size << (shift + 1)) <= BLOCK_SIZE) {
        ++shift;
    }
    CAIRN_ASSERT(size << shift <= BLOCK_SIZE || shift == BLOCK_ELEMENTS_MIN_SHIFT);
    return shift;
}

// Marks are read eight at a time.
static size_t marks_size(uint32_t blocks) {
    return ((size_t)blocks + 7) / 8 * 8;
}

cairn_status cairn_hash_cache_create(const cairn_settings *settings, cairn_hash_cache **out) {
    *out = NULL;
    cairn_hash_cache *cache = calloc(1, sizeof *cache);
    size_t size = 0;
    if (cache == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        cache->arrays[array].shift = cairn_hash_cache_block_shift(array);
        size += marks_size(hash_cache_blocks(
                    cairn_array_capacity(settings, array), cairn_hash_cache_block_shift(array))) *
                (1 + sizeof(cairn_hash128));
    }
    cache->memory = calloc(1, size);
    if (cache->memory == NULL) {
        free(cache);
        return CAIRN_OUT_OF_MEMORY;
    }
    unsigned char *next = cache->memory;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        cairn_hash_cache_array *part = &cache->arrays[array];
        const size_t marks =
            marks_size(hash_cache_blocks(cairn_array_capacity(settings, array), part->shift));
        part->leaves = (cairn_hash128 *)(void *)next;
        next += marks * sizeof(cairn_hash128);
        part->marks = next;
        next += marks;
    }
    CAIRN_ASSERT(next == (unsigned char *)cache->memory + size);
    *out = cache;
    return CAIRN_OK;
}

void cairn_hash_cache_destroy(cairn_hash_cache *cache) {
    if (cache != NULL) {
        for (uint32_t i = 0; i < CAIRN_WATCHES_MAX; ++i) {
            if (cache->watches[i] != NULL) {
                cache->watches[i]->cache = NULL;
            }
        }
        free(cache->memory);
        free(cache);
    }
}

// Only the blocks that exist now, or did when the sum was computed, hold anything.
void cairn_hash_cache_copy(
    cairn_hash_cache *to, const cairn_hash_cache *from, const cairn_settings *settings) {
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const cairn_hash_cache_array *source = &from->arrays[array];
        cairn_hash_cache_array *target = &to->arrays[array];
        const uint32_t live = cairn_array_count(settings, array);
        const uint32_t blocks =
            hash_cache_blocks(live > source->count ? live : source->count, source->shift);
        CAIRN_ASSERT(target->shift == source->shift);
        memcpy(target->marks, source->marks, blocks);
        memcpy(target->leaves, source->leaves, blocks * sizeof source->leaves[0]);
        target->sum = source->sum;
        target->count = source->count;
    }
}

void cairn_hash_cache_mark_body(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(slot < world->state.settings->body_slots);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_BODY_IDS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_MOTIONS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_BODIES, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_SLEEP, slot);
}

static void mark_from(cairn_hash_cache_array *cache, uint32_t first, uint32_t count) {
    CAIRN_ASSERT(first <= count);
    const uint32_t begin = first >> cache->shift;
    const uint32_t end = hash_cache_blocks(count, cache->shift);
    if (begin < end) {
        memset(cache->marks + begin, CAIRN_MARK_ALL, end - begin);
    }
}

void cairn_hash_cache_mark_from(cairn_world *world, cairn_array array, uint32_t first) {
    mark_from(
        &world->hash_cache->arrays[array], first, cairn_array_count(world->state.settings, array));
}

void cairn_hash_cache_mark_all(cairn_world *world) {
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        cairn_hash_cache_mark_from(world, array, 0);
    }
}

// An array as the hash reads it.
typedef struct source {
    uint64_t key; // of block 0
    const unsigned char *bytes;
    size_t element_words;
    uint32_t shift;
    uint32_t count;
} source;

static source source_of(const cairn_state *state, cairn_array array) {
    return (source){.key = (uint64_t)array << 32,
        .bytes = cairn_state_array(state, array),
        .element_words = cairn_array_element_size(array) / sizeof(uint32_t),
        .shift = cairn_hash_cache_block_shift(array),
        .count = cairn_array_count(state->settings, array)};
}

// The leaves of blocks begin .. end - 1. The last block of the live range ends with it; leaves of
// blocks beyond are zero.
static void compute_leaves(
    const source *from, uint32_t begin, uint32_t end, cairn_hash128 *leaves) {
    CAIRN_ASSERT(begin < end);
    const size_t block_words = from->element_words << from->shift;
    const uint32_t full = from->count >> from->shift;
    const uint32_t stop = end < full ? end : full;
    uint32_t block = begin;
    if (block < stop) {
        cairn_hash_blocks(from->key + block, from->bytes + block * block_words * sizeof(uint32_t),
            block_words, stop - block, leaves);
        block = stop;
    }
    for (; block < end; ++block) {
        const uint32_t first = block << from->shift;
        const size_t words = first < from->count ? (from->count - first) * from->element_words : 0;
        leaves[block - begin] = (cairn_hash128){.lo = 0};
        if (words != 0) {
            leaves[block - begin] = cairn_hash_words(
                from->key + block, from->bytes + block * block_words * sizeof(uint32_t), words);
        }
    }
}

cairn_hash128 cairn_hash_cache_fresh_sum(const cairn_state *state, cairn_array array) {
    const source from = source_of(state, array);
    cairn_hash128 sum = {.lo = 0};
    for (uint32_t block = 0; block < hash_cache_blocks(from.count, from.shift); ++block) {
        cairn_hash128 leaf;
        compute_leaves(&from, block, block + 1, &leaf);
        sum = cairn_hash_add(sum, leaf);
    }
    return sum;
}

static cairn_hash128 sum_of(const cairn_hash128 *leaves, uint32_t count) {
    cairn_hash128 sum = {.lo = 0};
    for (uint32_t i = 0; i < count; ++i) {
        sum = cairn_hash_add(sum, leaves[i]);
    }
    return sum;
}

uint32_t cairn_hash_cache_next_marked(
    const cairn_hash_cache_array *cache, uint32_t block, uint32_t end, unsigned char bit) {
    const uint64_t bits = bit * UINT64_C(0x0101010101010101);
    while (block < end && (cache->marks[block] & bit) == 0) {
        uint64_t marks = 0;
        if (block % 8 == 0) {
            memcpy(&marks, cache->marks + block, sizeof marks);
            block += (marks & bits) == 0 ? 7u : 0u;
        }
        ++block;
    }
    return block;
}

uint32_t cairn_hash_cache_list_marked(
    const cairn_hash_cache_array *cache, uint32_t end, unsigned char bit, uint32_t *blocks) {
    const uint64_t bits = bit * UINT64_C(0x0101010101010101);
    uint32_t count = 0;
    for (uint32_t first = 0; first < end; first += 8) {
        uint64_t marks; // those of the last blocks are followed by others, up to a multiple of 8
        memcpy(&marks, cache->marks + first, sizeof marks);
        for (uint32_t block = first; (marks & bits) != 0 && block < first + 8; ++block) {
            blocks[count] = block;
            count += block < end && (cache->marks[block] & bit) != 0 ? 1u : 0u;
        }
    }
    return count;
}

void cairn_hash_cache_put_leaf(cairn_hash_cache_array *cache, uint32_t block, cairn_hash128 leaf) {
    cache->marks[block] = CAIRN_MARK_ALL;
    if (block < hash_cache_blocks(cache->count, cache->shift)) { // the others have no leaf yet
        cache->sum = cairn_hash_add(cairn_hash_remove(cache->sum, cache->leaves[block]), leaf);
        cache->leaves[block] = leaf;
        cache->marks[block] &= leaf.lo != 0 || leaf.hi != 0 ? (unsigned char)~CAIRN_MARK_STALE
                                                            : (unsigned char)CAIRN_MARK_ALL;
    }
}

cairn_status cairn_mark_watch_begin(cairn_mark_watch *watch, cairn_hash_cache *cache) {
    for (uint32_t i = 0; i < CAIRN_WATCHES_MAX; ++i) {
        if (cache->watches[i] == NULL) {
            *watch = (cairn_mark_watch){.cache = cache, .bit = (unsigned char)(2u << i)};
            cache->watches[i] = watch;
            return CAIRN_OK;
        }
    }
    return CAIRN_CAPACITY;
}

void cairn_mark_watch_end(cairn_mark_watch *watch) {
    for (uint32_t i = 0; watch->cache != NULL && i < CAIRN_WATCHES_MAX; ++i) {
        if (watch->cache->watches[i] == watch) {
            watch->cache->watches[i] = NULL;
        }
    }
    *watch = (cairn_mark_watch){.cache = NULL};
}

cairn_hash128 cairn_hash_cache_leaf(
    cairn_array array, uint32_t block, const void *words, size_t count) {
    return cairn_hash_words(((uint64_t)array << 32) + block, words, count);
}

cairn_hash128 cairn_hash_cache_sum(
    cairn_hash_cache *cache, const cairn_state *state, cairn_array array) {
    cairn_hash_cache_array *part = &cache->arrays[array];
    const source from = source_of(state, array);
    CAIRN_ASSERT(part->shift == from.shift);
    const uint32_t less = from.count < part->count ? from.count : part->count;
    const uint32_t more = from.count < part->count ? part->count : from.count;
    const uint32_t end = hash_cache_blocks(more, from.shift);
    if (less != more) {
        mark_from(part, less, more);
    }
    part->count = from.count;
    for (uint32_t block = cairn_hash_cache_next_marked(part, 0, end, CAIRN_MARK_STALE); block < end;
         block = cairn_hash_cache_next_marked(part, block, end, CAIRN_MARK_STALE)) {
        const uint32_t begin = block;
        while (block < end && (part->marks[block] & CAIRN_MARK_STALE) != 0) {
            part->marks[block++] &= (unsigned char)~CAIRN_MARK_STALE;
        }
        CAIRN_ASSERT(begin < block);
        cairn_hash128 *leaves = part->leaves + begin;
        const cairn_hash128 before = sum_of(leaves, block - begin);
        compute_leaves(&from, begin, block, leaves);
        const cairn_hash128 after = sum_of(leaves, block - begin);
        part->sum = cairn_hash_add(cairn_hash_remove(part->sum, before), after);
    }
    return part->sum;
}

static bool array_valid(const cairn_hash_cache_array *cache, const source *from) {
    CAIRN_ASSERT(cache->shift == from->shift);
    const uint32_t blocks = hash_cache_blocks(cache->count, cache->shift);
    const cairn_hash128 sum = sum_of(cache->leaves, blocks);
    // A block that gains or loses elements is hashed again without a mark.
    const uint32_t full = from->count < cache->count   ? from->count >> from->shift
                          : from->count > cache->count ? cache->count >> from->shift
                                                       : blocks;
    for (uint32_t block = 0; block < full; ++block) {
        cairn_hash128 leaf;
        compute_leaves(from, block, block + 1, &leaf);
        if ((cache->marks[block] & CAIRN_MARK_STALE) == 0 &&
            !cairn_hash_equal(leaf, cache->leaves[block])) {
            return false;
        }
    }
    return cairn_hash_equal(sum, cache->sum);
}

bool cairn_hash_cache_valid(const cairn_hash_cache *cache, const cairn_state *state) {
    for (cairn_array array = CAIRN_ARRAY_SETTINGS + 1; array < CAIRN_ARRAY_COUNT; ++array) {
        const source from = source_of(state, array);
        if (array != CAIRN_ARRAY_RULES && !array_valid(&cache->arrays[array], &from)) {
            return false;
        }
    }
    return true;
}

cairn_world_hash cairn_hash_of_sums(const cairn_hash128 sums[CAIRN_ARRAY_COUNT]) {
    const cairn_hash128 shown[2] = {sums[CAIRN_ARRAY_BODY_IDS], sums[CAIRN_ARRAY_MOTIONS]};
    cairn_world_hash hash = {.visible = cairn_hash_list(KEY_VISIBLE, shown, 2)};
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const cairn_section section = cairn_field_table_of(array)->section;
        CAIRN_ASSERT(section < CAIRN_SECTION_COUNT);
        hash.sections[section] = cairn_hash_add(hash.sections[section], sums[array]);
    }
    hash.full = cairn_hash_list(KEY_FULL, hash.sections, CAIRN_SECTION_COUNT);
    return hash;
}

cairn_world_hash cairn_world_hash_fresh(const cairn_world *world) {
    cairn_hash128 sums[CAIRN_ARRAY_COUNT];
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        sums[array] = cairn_hash_cache_fresh_sum(&world->state, array);
    }
    return cairn_hash_of_sums(sums);
}

cairn_world_hash cairn_world_hash_read(const cairn_world *world) {
    cairn_hash128 sums[CAIRN_ARRAY_COUNT];
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const bool cached = array != CAIRN_ARRAY_SETTINGS && array != CAIRN_ARRAY_RULES;
        sums[array] = cached ? cairn_hash_cache_sum(world->hash_cache, &world->state, array)
                             : cairn_hash_cache_fresh_sum(&world->state, array);
    }
    const cairn_world_hash hash = cairn_hash_of_sums(sums);
#ifdef CAIRN_CHECK_HASHES
    CAIRN_ASSERT(cairn_hash_equal(hash.full, cairn_world_hash_fresh(world).full));
    CAIRN_ASSERT(cairn_hash_equal(hash.visible, cairn_world_hash_fresh(world).visible));
#endif
    return hash;
}
