// SPDX-License-Identifier: MIT
#include <cairn/watch.h>

#include <stdlib.h>

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/state/hash_cache.h"

#define WORD_BITS 64u

// What cairn_body_read tells of a body is in these. Its id changes only together with them.
static const cairn_array body_arrays[] = {
    CAIRN_ARRAY_MOTIONS, CAIRN_ARRAY_BODIES, CAIRN_ARRAY_SLEEP};

struct cairn_watch {
    const cairn_world *world; // valid while marks.cache is not NULL
    cairn_mark_watch marks;
    bool bodies_asked; // once; before, which marks are set says nothing
    bool shapes_asked;
    uint32_t shape_slots; // when shapes were asked for last
};

cairn_status cairn_watch_create(cairn_world *world, cairn_watch **out) {
    *out = NULL;
    cairn_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    watch->world = world;
    const cairn_status status = cairn_mark_watch_begin(&watch->marks, world->hash_cache);
    if (status != CAIRN_OK) {
        cairn_watch_destroy(watch);
        return status;
    }
    *out = watch;
    return CAIRN_OK;
}

void cairn_watch_destroy(cairn_watch *watch) {
    if (watch != NULL) {
        cairn_mark_watch_end(&watch->marks);
        free(watch);
    }
}

bool cairn_watch_is_of(const cairn_watch *watch, const cairn_world *world) {
    return watch->marks.cache != NULL && watch->world == world;
}

// Takes the next marked block from `block` on; a value of at least `end` if no more are marked.
static uint32_t take_block(
    const cairn_watch *watch, cairn_array array, uint32_t block, uint32_t end) {
    const cairn_hash_cache_array *cache = &watch->marks.cache->arrays[array];
    block = cairn_hash_cache_next_marked(cache, block, end, watch->marks.bit);
    if (block < end) {
        cache->marks[block] &= (unsigned char)~watch->marks.bit;
    }
    return block;
}

// Takes the marks of the 64 bodies from slot `first` on: a bit for each.
static uint64_t take_marks(
    const cairn_watch *watch, cairn_array array, uint32_t first, uint32_t slots) {
    const uint32_t shift = cairn_hash_cache_block_shift(array);
    const uint32_t after = (first + WORD_BITS) >> shift;
    const uint32_t last = hash_cache_blocks(slots, shift);
    const uint32_t end = after < last ? after : last;
    const uint64_t of_block = (UINT64_C(1) << (1u << shift)) - 1;
    uint64_t bits = 0;
    CAIRN_ASSERT(1u << shift < WORD_BITS && first % WORD_BITS == 0);
    for (uint32_t block = take_block(watch, array, first >> shift, end); block < end;
         block = take_block(watch, array, block + 1, end)) {
        bits |= of_block << ((block << shift) - first);
    }
    return bits;
}

uint32_t cairn_watch_bodies(cairn_watch *watch, cairn_body_id *out, uint32_t capacity) {
    CAIRN_ASSERT(watch->marks.cache != NULL && (out != NULL || capacity == 0));
    const cairn_state *state = &watch->world->state;
    const uint32_t slots = state->settings->body_slots;
    uint32_t count = 0;
    for (uint32_t first = 0; first < slots; first += WORD_BITS) {
        uint64_t bits = watch->bodies_asked ? 0 : UINT64_MAX;
        for (size_t i = 0; i < sizeof body_arrays / sizeof *body_arrays; ++i) {
            bits |= take_marks(watch, body_arrays[i], first, slots);
        }
        for (; bits != 0; bits &= bits - 1) {
            const uint32_t slot = first + (uint32_t)__builtin_ctzll(bits);
            if (slot >= slots || !cairn_state_has(state, CAIRN_ARRAY_BODIES, slot)) {
                continue;
            }
            if (count < capacity) {
                out[count] = cairn_body_id_at(watch->world, slot);
            }
            count += 1;
        }
    }
    watch->bodies_asked = true;
    return count;
}

bool cairn_watch_shapes(cairn_watch *watch) {
    CAIRN_ASSERT(watch->marks.cache != NULL);
    const uint32_t slots = watch->world->state.settings->shape_slots;
    const uint32_t end =
        hash_cache_blocks(slots, cairn_hash_cache_block_shift(CAIRN_ARRAY_SHAPE_IDS));
    bool changed = !watch->shapes_asked || slots != watch->shape_slots;
    for (uint32_t block = take_block(watch, CAIRN_ARRAY_SHAPE_IDS, 0, end); block < end;
         block = take_block(watch, CAIRN_ARRAY_SHAPE_IDS, block + 1, end)) {
        changed = true;
    }
    watch->shapes_asked = true;
    watch->shape_slots = slots;
    return changed;
}
