// SPDX-License-Identifier: MIT
#include "sim/state/world_hash.h"

// Arrays are hashed in blocks of some elements, each a leaf keyed by array and block: equal words
// under two keys have unrelated leaves, so swapped or mirrored twins are seen. Free slots are zero.
// The leaves of a section are added up, the sections are hashed as a list.

#include "base/assert.h"
#include "base/hash.h"
#include "sim/state/fields.h"
#include "sim/state/hash_cache.h"

// Keys beyond those of the leaves.
#define KEY_VISIBLE (UINT64_C(64) << 32)
#define KEY_FULL (UINT64_C(65) << 32)

static cairn_world_hash hash_of(const cairn_hash128 sums[CAIRN_ARRAY_COUNT]) {
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
    return hash_of(sums);
}

cairn_world_hash cairn_world_hash_read(const cairn_world *world) {
    cairn_hash128 sums[CAIRN_ARRAY_COUNT];
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const bool cached = array != CAIRN_ARRAY_SETTINGS && array != CAIRN_ARRAY_RULES;
        sums[array] = cached ? cairn_hash_cache_sum(world->hash_cache, &world->state, array)
                             : cairn_hash_cache_fresh_sum(&world->state, array);
    }
    const cairn_world_hash hash = hash_of(sums);
#ifdef CAIRN_CHECK_HASHES
    CAIRN_ASSERT(cairn_hash_equal(hash.full, cairn_world_hash_fresh(world).full));
    CAIRN_ASSERT(cairn_hash_equal(hash.visible, cairn_world_hash_fresh(world).visible));
#endif
    return hash;
}

const char *cairn_section_name(cairn_section section) {
    static const char *const names[CAIRN_SECTION_COUNT] = {
        [CAIRN_SECTION_SETTINGS] = "settings",
        [CAIRN_SECTION_BODIES] = "bodies",
        [CAIRN_SECTION_SHAPES] = "shapes",
        [CAIRN_SECTION_JOINTS] = "joints",
        [CAIRN_SECTION_CONTACTS] = "contacts",
        [CAIRN_SECTION_SLEEP] = "sleep",
        [CAIRN_SECTION_IDS] = "ids",
        [CAIRN_SECTION_RULES] = "rules",
    };
    return section < CAIRN_SECTION_COUNT ? names[section] : "unknown";
}
