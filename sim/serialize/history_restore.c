// SPDX-License-Identifier: MIT

// States that leave a history: into its world, into another one, and their hashes.

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "sim/serialize/history_table.h"
#include "sim/state/awake_set.h"
#include "sim/world/rewrite.h"

// A state to be written into a world.
typedef struct restore {
    const cairn_history *history;
    cairn_world *world;
    const uint32_t *root;
    const uint32_t *base; // of what the world has where it is not marked; NULL: unknown
    cairn_rewrite rewrite;
} restore;

// Whether a block that may differ does as a rule, so that comparing costs as much as copying.
static bool differs_mostly(cairn_array array) {
    return array == CAIRN_ARRAY_MOTIONS || array == CAIRN_ARRAY_SLEEP ||
           array == CAIRN_ARRAY_CONTACTS || array == CAIRN_ARRAY_REFERENCE_POSES ||
           array == CAIRN_ARRAY_CONTACT_EVENTS || array == CAIRN_ARRAY_BODY_EVENTS;
}

// A body whose state differs may be in the awake set now.
static void mark_awake(cairn_world *world, cairn_array array, uint32_t block, uint32_t shift) {
    if (array == CAIRN_ARRAY_MOTIONS || array == CAIRN_ARRAY_SLEEP || array == CAIRN_ARRAY_BODIES) {
        const uint32_t end = (block + 1) << shift;
        const uint32_t count = world->state.settings->body_slots;
        for (uint32_t slot = block << shift; slot < end && slot < count; ++slot) {
            cairn_awake_mark(world, slot);
        }
    }
}

// Writes a block where it differs.
static void restore_block(restore *r, cairn_array array, uint32_t block, uint32_t count) {
    const cairn_history *history = r->history;
    const placement *place = &history->places[array];
    const size_t element_size = cairn_array_element_size(array);
    const uint32_t entry = place->entry + block * place->per_block;
    cairn_hash_cache_array *cache = &r->world->hash_cache->arrays[array];
    unsigned char *to = (unsigned char *)cairn_state_array(&r->world->state, array) +
                        (size_t)block * place->block_size;
    const bool compares = r->base == NULL || !differs_mostly(array);
    bool differed = false;
    for (uint32_t part = 0; part < place->per_block; ++part) {
        const size_t size = cell_bytes(place, element_size, count, block, part);
        const unsigned char *from = cell_at(history, entry_read(history, r->root, entry + part));
        if (!compares || memcmp(to + (size_t)part * CELL_SIZE, from, size) != 0) {
            if (!differed) {
                cairn_rewrite_before(&r->rewrite, array, block);
            }
            memcpy(to + (size_t)part * CELL_SIZE, from, size);
            differed = true;
        }
    }
    if (differed) {
        cairn_rewrite_after(&r->rewrite, array, block);
        mark_awake(r->world, array, block, place->shift);
    }
    if ((differed || r->base != NULL) && has_marks(array)) {
        // A leaf of fewer elements than the cache has counted must not be taken for another one.
        const bool kept = count == cache->count || block < count >> place->shift;
        const cairn_hash128 leaf = history->leaves[entry_read(history, r->root, entry)];
        cairn_hash_cache_put_leaf(cache, block, kept ? leaf : (cairn_hash128){.lo = 0});
    }
    if (r->base != NULL) {
        cache->marks[block] &= (unsigned char)~history->watch.bit;
    }
}

// Of blocks below `end`: those that are marked, then those of which the two ticks have different
// cells.
static void restore_changed(restore *r, cairn_array array, uint32_t end, uint32_t count) {
    const cairn_history *history = r->history;
    const placement *place = &history->places[array];
    const cairn_hash_cache_array *marks = &r->world->hash_cache->arrays[array];
    const unsigned char bit = history->watch.bit;
    for (uint32_t block = cairn_hash_cache_next_marked(marks, 0, end, bit); block < end;
         block = cairn_hash_cache_next_marked(marks, block + 1, end, bit)) {
        restore_block(r, array, block, count);
    }
    const uint32_t entries_end = place->entry + end * place->per_block;
    for (uint32_t first = place->entry; first < entries_end; first += PAGE_ENTRIES) {
        const uint32_t page = first / PAGE_ENTRIES;
        if (r->root[page] == r->base[page]) {
            continue;
        }
        for (uint32_t entry = first; entry < first + PAGE_ENTRIES && entry < entries_end; ++entry) {
            if (entry_read(history, r->root, entry) != entry_read(history, r->base, entry)) {
                const uint32_t block = (entry - place->entry) / place->per_block;
                restore_block(r, array, block, count);
                entry = place->entry + (block + 1) * place->per_block - 1;
            }
        }
    }
}

static void restore_array(restore *r, cairn_array array) {
    const placement *place = &r->history->places[array];
    const uint32_t count = cairn_array_count(r->world->state.settings, array);
    const uint32_t before = cairn_array_count(&r->rewrite.before, array);
    const uint32_t less = count < before ? count : before;
    const uint32_t end = hash_cache_blocks(count, place->shift);
    uint32_t known = 0; // blocks whose differences are known
    if (r->base != NULL && has_marks(array)) {
        known = count == before ? end : less >> place->shift;
        restore_changed(r, array, known, count);
    }
    for (uint32_t block = known; block < end; ++block) {
        restore_block(r, array, block, count);
    }
}

static void restore_tick(restore *r, uint32_t order) {
    r->root = root_at(r->history, order);
    const cairn_settings settings = settings_of_tick(r->history, order);
    r->rewrite = cairn_rewrite_begin(r->world, &settings, true);
    for (cairn_array array = 1; array < CAIRN_ARRAY_COUNT; ++array) {
        restore_array(r, array);
    }
    cairn_rewrite_end(&r->rewrite);
}

cairn_status cairn_history_restore(cairn_history *history, uint64_t tick) {
    uint32_t order;
    if (history->watch.cache == NULL) {
        return CAIRN_WRONG_STATE;
    }
    if (!cairn_history_find(history, tick, &order)) {
        return CAIRN_NOT_FOUND;
    }
    restore r = {
        .history = history, .world = history->world, .base = root_at(history, history->base)};
    restore_tick(&r, order);
    history->base = order;
    return CAIRN_OK;
}

cairn_status cairn_history_load(const cairn_history *history, uint64_t tick, cairn_world *into) {
    uint32_t order;
    if (!cairn_history_find(history, tick, &order)) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_settings settings = settings_of_tick(history, order);
    if (memcmp(&settings, into->state.settings, CAIRN_SETTINGS_DEF_WORDS * 4) != 0) {
        return CAIRN_INVALID_ARGUMENT;
    }
    restore r = {.history = history, .world = into};
    restore_tick(&r, order);
    return CAIRN_OK;
}

// ---------------------------------------------------------------------------------- hashing

static cairn_hash128 leaf_read(const cairn_history *history, const uint32_t *root,
    cairn_array array, uint32_t block, uint32_t count) {
    const placement *place = &history->places[array];
    const size_t element_size = cairn_array_element_size(array);
    const uint32_t entry = place->entry + block * place->per_block;
    const cairn_hash128 known = history->leaves[entry_read(history, root, entry)];
    if (known.lo != 0 || known.hi != 0) {
        return known;
    }
    uint32_t words[CAIRN_ELEMENT_WORDS_MAX * 4];
    size_t size = 0;
    CAIRN_ASSERT(place->block_size <= sizeof words);
    for (uint32_t part = 0; part < place->per_block; ++part) {
        const size_t more = cell_bytes(place, element_size, count, block, part);
        memcpy((unsigned char *)words + size,
            cell_at(history, entry_read(history, root, entry + part)), more);
        size += more;
    }
    return cairn_hash_cache_leaf(array, block, words, size / sizeof words[0]);
}

cairn_status cairn_history_hash(
    const cairn_history *history, uint64_t tick, cairn_world_hash *out) {
    uint32_t order;
    if (!cairn_history_find(history, tick, &order)) {
        return CAIRN_NOT_FOUND;
    }
    cairn_hash128 sums[CAIRN_ARRAY_COUNT] = {{.lo = 0}};
    const cairn_settings settings = settings_of_tick(history, order);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const uint32_t count = cairn_array_count(&settings, array);
        const uint32_t end = hash_cache_blocks(count, history->places[array].shift);
        for (uint32_t block = 0; block < end; ++block) {
            sums[array] = cairn_hash_add(
                sums[array], leaf_read(history, root_at(history, order), array, block, count));
        }
    }
    *out = cairn_hash_of_sums(sums);
    return CAIRN_OK;
}
