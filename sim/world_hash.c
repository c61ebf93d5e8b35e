// SPDX-License-Identifier: MIT

// A leaf for each element that exists, keyed by array and index; the leaves of a section are added
// up, the sections are hashed as a list. Equal words under two keys have unrelated leaves, so
// swapped or mirrored twins are seen.

#include "sim/fields.h"
#include "sim/slots.h"

static uint64_t leaf_key(uint32_t domain, uint32_t index) {
    return (uint64_t)domain << 32 | index;
}

// Domains beyond those of the arrays.
#define DOMAIN_VISIBLE 64
#define DOMAIN_FULL 65

static cairn_hash128 array_hash(const cairn_state *state, cairn_array array) {
    const uint32_t word_count = cairn_field_table_of(array)->word_count;
    const unsigned char *bytes = cairn_state_array(state, array);
    cairn_hash128 sum = {.lo = 0};
    cairn_run run = cairn_state_run(state, array, 0);
    for (; run.begin < run.end; run = cairn_state_run(state, array, run.end)) {
        const void *first = bytes + (size_t)run.begin * word_count * sizeof(uint32_t);
        sum = cairn_hash_add(sum, cairn_hash_elements(leaf_key(array, run.begin), first, word_count,
                                      run.end - run.begin));
    }
    return sum;
}

// Id, position of the origin, rotation and velocities: what cairn_body_state tells a viewer.
static cairn_hash128 visible_hash(const cairn_state *state) {
    cairn_hash128 sum = {.lo = 0};
    for (uint32_t i = 0; i < state->settings->body_slots; ++i) {
        if (!cairn_state_has(state, CAIRN_ARRAY_BODIES, i)) {
            continue;
        }
        const cairn_motion *motion = &state->motions[i];
        const cairn_vec3 p = motion->origin;
        const cairn_quat q = motion->rotation;
        const cairn_vec3 v = motion->linear_velocity;
        const cairn_vec3 w = motion->angular_velocity;
        const uint32_t words[] = {cairn_slot_id(state->body_ids, i), float_bits(p.x),
            float_bits(p.y), float_bits(p.z), float_bits(q.x), float_bits(q.y), float_bits(q.z),
            float_bits(q.w), float_bits(v.x), float_bits(v.y), float_bits(v.z), float_bits(w.x),
            float_bits(w.y), float_bits(w.z)};
        sum = cairn_hash_add(sum,
            cairn_hash_words(leaf_key(DOMAIN_VISIBLE, i), words, sizeof words / sizeof words[0]));
    }
    return sum;
}

cairn_world_hash cairn_world_hash_read(const cairn_world *world) {
    cairn_world_hash hash = {.visible = visible_hash(&world->state)};
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        cairn_hash128 *section = &hash.sections[cairn_field_table_of(array)->section];
        *section = cairn_hash_add(*section, array_hash(&world->state, array));
    }
    hash.full = cairn_hash_list(leaf_key(DOMAIN_FULL, 0), hash.sections, CAIRN_SECTION_COUNT);
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
