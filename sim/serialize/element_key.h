// SPDX-License-Identifier: MIT
#pragma once

// Element keys, and the words of a block that they stand for.

#include "base/assert.h"
#include "sim/serialize/elements.h"
#include "sim/state/slots.h"
#include "sim/state/world.h"

#define CAIRN_ELEMENT_ABSENT (UINT64_C(1) << 63) // in encoded bytes: the element does not exist
#define CAIRN_ELEMENT_INDEX_BITS 20
#define CAIRN_ELEMENT_PART_BITS 16

// The first word of an element that is encoded. Peers already share the def, whose words come
// first.
static inline uint32_t element_first_word(cairn_array array) {
    return array == CAIRN_ARRAY_SETTINGS ? (uint32_t)CAIRN_SETTINGS_DEF_WORDS : 0;
}

static inline cairn_element_key element_key(cairn_array array, uint64_t index) {
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT && index < UINT64_C(1) << 56);
    return (uint64_t)array << 56 | index;
}

static inline cairn_element_key element_key_of_contact(const cairn_contact *contact) {
    const uint64_t mask = (UINT64_C(1) << CAIRN_ELEMENT_INDEX_BITS) - 1;
    const uint64_t a = cairn_id_index(contact->shape_a) & mask;
    const uint64_t b = cairn_id_index(contact->shape_b) & mask;
    return element_key(CAIRN_ARRAY_CONTACTS,
        (a << CAIRN_ELEMENT_INDEX_BITS | b) << CAIRN_ELEMENT_PART_BITS | contact->part);
}

// Valid for keys that cairn_element_key_ok accepts.
static inline cairn_array element_array(cairn_element_key key) {
    CAIRN_ASSERT(key >> 56 < CAIRN_ARRAY_COUNT);
    return (cairn_array)(key >> 56);
}
static inline uint32_t element_index(cairn_element_key key) { // not of contacts
    return (uint32_t)key;
}

// Whether a world with this def can have such an element.
bool cairn_element_key_ok(const cairn_settings *settings, cairn_element_key key);
// The first encoded word of the element; NULL if the block has no such element.
const uint32_t *cairn_element_find(const cairn_state *state, cairn_element_key key);
