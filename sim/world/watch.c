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
    uint64_t *listed;     // by body slot, a bit; 0 between two calls
};

cairn_status cairn_watch_create(cairn_world *world, cairn_watch **out) {
    *out = NULL;
    cairn_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    watch->world = world;
    watch->listed = calloc(world->def.body_capacity / WORD_BITS + 1, sizeof *watch->listed);
    const cairn_status status = watch->listed == NULL
                                    ? CAIRN_OUT_OF_MEMORY
                                    : cairn_mark_watch_begin(&watch->marks, world->hash_cache);
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
        free(watch->listed);
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

static void list_slots(cairn_watch *watch, uint32_t first, uint32_t end) {
    for (uint32_t slot = first; slot < end; ++slot) {
        watch->listed[slot / WORD_BITS] |= UINT64_C(1) << slot % WORD_BITS;
    }
}

static void list_marked(cairn_watch *watch, cairn_array array, uint32_t slots) {
    const uint32_t shift = cairn_hash_cache_block_shift(array);
    const uint32_t end = hash_cache_blocks(slots, shift);
    for (uint32_t block = take_block(watch, array, 0, end); block < end;
         block = take_block(watch, array, block + 1, end)) {
        const uint32_t after = (block + 1) << shift;
        list_slots(watch, block << shift, after < slots ? after : slots);
    }
}

uint32_t cairn_watch_bodies(cairn_watch *watch, cairn_body_id *out, uint32_t capacity) {
    CAIRN_ASSERT(watch->marks.cache != NULL && (out != NULL || capacity == 0));
    const cairn_state *state = &watch->world->state;
    const uint32_t slots = state->settings->body_slots;
    for (size_t i = 0; i < sizeof body_arrays / sizeof *body_arrays; ++i) {
        list_marked(watch, body_arrays[i], slots);
    }
    if (!watch->bodies_asked) {
        list_slots(watch, 0, slots);
        watch->bodies_asked = true;
    }
    uint32_t count = 0;
    for (uint32_t word = 0; word * WORD_BITS < slots; ++word) {
        for (uint64_t bits = watch->listed[word]; bits != 0; bits &= bits - 1) {
            const uint32_t slot = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
            if (!cairn_state_has(state, CAIRN_ARRAY_BODIES, slot)) {
                continue;
            }
            if (count < capacity) {
                out[count] = cairn_body_id_at(watch->world, slot);
            }
            count += 1;
        }
        watch->listed[word] = 0;
    }
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
