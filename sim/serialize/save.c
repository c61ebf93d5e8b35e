// SPDX-License-Identifier: MIT

// Saved bytes: a header, then the live range of each array as it lies in memory. They never leave
// the process; sim/serialize/encode.c writes the bytes that do.

#include "sim/serialize/save.h"

#include <string.h>

#include "base/assert.h"
#include "sim/state/awake_set.h"
#include "sim/state/fields.h"
#include "sim/state/hash_cache.h"
#include "sim/world/rewrite.h"

typedef struct save_header {
    uint32_t magic;
    uint32_t version;
    uint64_t size; // bytes of the whole
} save_header;

#define SAVE_MAGIC 0x53565243u // "CRVS"

static size_t live_size(const cairn_settings *settings, cairn_array array) {
    return cairn_array_count(settings, array) * cairn_array_element_size(array);
}

static size_t saved_size(const cairn_settings *settings) {
    size_t size = sizeof(save_header);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        size += live_size(settings, array);
    }
    return size;
}

size_t cairn_world_save_size(const cairn_world *world) {
    return saved_size(world->state.settings);
}

size_t cairn_world_save_size_max(const cairn_world *world) {
    size_t size = sizeof(save_header);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        size +=
            cairn_array_capacity(world->state.settings, array) * cairn_array_element_size(array);
    }
    return size;
}

size_t cairn_world_save(const cairn_world *world, void *bytes, size_t size) {
    const size_t needed = cairn_world_save_size(world);
    if (size < needed) {
        return 0;
    }
    const save_header header = {.magic = SAVE_MAGIC, .version = CAIRN_SIM_VERSION, .size = needed};
    unsigned char *at = bytes;
    memcpy(at, &header, sizeof header);
    at += sizeof header;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const size_t live = live_size(world->state.settings, array);
        memcpy(at, cairn_state_array(&world->state, array), live);
        at += live;
    }
    CAIRN_ASSERT(at == (unsigned char *)bytes + needed);
    return needed;
}

static bool header_ok(const cairn_world *world, const unsigned char *bytes, size_t size) {
    save_header header;
    cairn_settings settings;
    if (size < sizeof header + sizeof settings) {
        return false;
    }
    memcpy(&header, bytes, sizeof header);
    memcpy(&settings, bytes + sizeof header, sizeof settings);
    return header.magic == SAVE_MAGIC && header.version == CAIRN_SIM_VERSION &&
           header.size == size &&
           memcmp(&settings, world->state.settings, CAIRN_SETTINGS_DEF_WORDS * 4) == 0 &&
           cairn_settings_counts_ok(&settings) && saved_size(&settings) == size;
}

// The source of the bytes of each array.
typedef struct source {
    const void *arrays[CAIRN_ARRAY_COUNT];
} source;

// Copies what differs and marks it for the hash, run by run of the hash's blocks: after a rollback
// of some ticks most of a world is as it was, and what follows from that may be kept.
static void restore_array(cairn_rewrite *rewrite, cairn_array array, const unsigned char *bytes) {
    cairn_world *world = rewrite->world;
    const size_t live = live_size(world->state.settings, array);
    const uint32_t elements = cairn_hash_cache_block_elements(array);
    const size_t size = elements * cairn_array_element_size(array);
    unsigned char *to = cairn_state_array(&world->state, array);
    CAIRN_ASSERT(bytes != to);
    uint32_t block = 0; // at byte `at`
    for (size_t at = 0; at < live; at += size, ++block) {
        const size_t begin = at;
        const uint32_t first = block;
        while (at < live && memcmp(to + at, bytes + at, live - at < size ? live - at : size) != 0) {
            cairn_hash_cache_mark(world, array, block * elements);
            cairn_rewrite_before(rewrite, array, block);
            at += size;
            ++block;
        }
        if (at > begin) {
            memcpy(to + begin, bytes + begin, (at < live ? at : live) - begin);
        }
        for (uint32_t i = first; i < block; ++i) {
            cairn_rewrite_after(rewrite, array, i);
        }
    }
}

// The settings come first, because they hold the counts of all other arrays. `keep`: as for
// cairn_rewrite_begin.
static void restore_all(cairn_world *world, const source *from, bool keep) {
    cairn_settings settings;
    memcpy(&settings, from->arrays[CAIRN_ARRAY_SETTINGS], sizeof settings);
    cairn_rewrite rewrite = cairn_rewrite_begin(world, &settings, keep);
    for (cairn_array array = 1; array < CAIRN_ARRAY_COUNT; ++array) {
        restore_array(&rewrite, array, from->arrays[array]);
    }
    cairn_awake_mark_all(world);
    cairn_rewrite_end(&rewrite);
}

cairn_status cairn_world_load(cairn_world *world, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    if (!header_ok(world, at, size)) {
        return CAIRN_MALFORMED;
    }
    at += sizeof(save_header);
    cairn_settings settings;
    memcpy(&settings, at, sizeof settings);
    source from;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        from.arrays[array] = at;
        at += live_size(&settings, array);
    }
    CAIRN_ASSERT(at == (const unsigned char *)bytes + size);
    restore_all(world, &from, true);
    return CAIRN_OK;
}

void cairn_state_restore(cairn_world *world, const cairn_state *from) {
    CAIRN_ASSERT(from->settings != world->state.settings);
    source arrays;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        arrays.arrays[array] = cairn_state_array(from, array);
    }
    restore_all(world, &arrays, from->settings != world->spare.settings);
}

cairn_status cairn_world_copy(cairn_world *to, const cairn_world *from) {
    if (memcmp(to->state.settings, from->state.settings, CAIRN_SETTINGS_DEF_WORDS * 4) != 0) {
        return CAIRN_INVALID_ARGUMENT;
    }
    CAIRN_ASSERT(to->def.contact_capacity == from->def.contact_capacity);
    if (to != from) {
        cairn_state_restore(to, &from->state);
    }
    return CAIRN_OK;
}
