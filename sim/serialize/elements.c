// SPDX-License-Identifier: MIT
#include "sim/serialize/elements.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "sim/serialize/decode_check.h"
#include "sim/serialize/element_key.h"
#include "sim/serialize/save.h"
#include "sim/state/fields.h"
#include "sim/state/hash_cache.h"

bool cairn_element_key_ok(const cairn_settings *settings, cairn_element_key key) {
    const uint64_t array = key >> 56;
    const uint64_t index = key & ((UINT64_C(1) << 56) - 1);
    if (array >= CAIRN_ARRAY_COUNT) {
        return false;
    }
    if (array != CAIRN_ARRAY_CONTACTS) {
        return index < cairn_array_capacity(settings, (cairn_array)array);
    }
    const uint64_t part = index & ((UINT64_C(1) << CAIRN_ELEMENT_PART_BITS) - 1);
    const uint64_t pair = index >> CAIRN_ELEMENT_PART_BITS;
    const uint64_t a = pair >> CAIRN_ELEMENT_INDEX_BITS;
    const uint64_t b = pair & ((UINT64_C(1) << CAIRN_ELEMENT_INDEX_BITS) - 1);
    return part < CAIRN_MANIFOLD_SET_MAX && a < b && b < settings->shape_capacity;
}

static const uint32_t *find_contact(const cairn_state *state, cairn_element_key key) {
    uint32_t begin = 0;
    uint32_t end = state->settings->contact_count;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (element_key_of_contact(&state->contacts[middle]) < key) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    CAIRN_ASSERT(begin == end);
    const bool found = begin < state->settings->contact_count &&
                       element_key_of_contact(&state->contacts[begin]) == key;
    return found ? (const uint32_t *)(const void *)&state->contacts[begin] : NULL;
}

static uint32_t *element_words(const cairn_state *state, cairn_array array, uint32_t index) {
    CAIRN_ASSERT(index < cairn_array_capacity(state->settings, array));
    unsigned char *bytes = cairn_state_array(state, array);
    uint32_t *words = (uint32_t *)(void *)(bytes + index * cairn_array_element_size(array));
    return words + element_first_word(array);
}

static bool element_exists(const cairn_state *state, cairn_array array, uint32_t index) {
    return index < cairn_array_count(state->settings, array) &&
           cairn_state_has(state, array, index);
}

const uint32_t *cairn_element_find(const cairn_state *state, cairn_element_key key) {
    const cairn_array array = element_array(key);
    if (array == CAIRN_ARRAY_CONTACTS) {
        return find_contact(state, key);
    }
    const uint32_t index = element_index(key);
    return element_exists(state, array, index) ? element_words(state, array, index) : NULL;
}

static uint32_t word_count(cairn_array array) {
    CAIRN_ASSERT(cairn_field_table_of(array)->word_count > element_first_word(array));
    return cairn_field_table_of(array)->word_count - element_first_word(array);
}

size_t cairn_elements_size(
    const cairn_world *world, const cairn_element_key *keys, uint32_t key_count) {
    CAIRN_ASSERT(keys != NULL || key_count == 0);
    size_t size = sizeof(uint32_t);
    for (uint32_t i = 0; i < key_count; ++i) {
        const bool found = cairn_element_find(&world->state, keys[i]) != NULL;
        size += sizeof(uint64_t);
        size += found ? word_count(element_array(keys[i])) * sizeof(uint32_t) : 0;
    }
    return size;
}

size_t cairn_elements_encode(const cairn_world *world, const cairn_element_key *keys,
    uint32_t key_count, void *bytes, size_t size) {
    cairn_writer writer = cairn_writer_of(bytes, size);
    cairn_write_u32(&writer, key_count);
    for (uint32_t i = 0; i < key_count; ++i) {
        const uint32_t *words = cairn_element_find(&world->state, keys[i]);
        cairn_write_u64(&writer, words != NULL ? keys[i] : keys[i] | CAIRN_ELEMENT_ABSENT);
        if (words != NULL) {
            cairn_write_u32s(&writer, words, word_count(element_array(keys[i])));
        }
    }
    CAIRN_ASSERT(!writer.ok || writer.at == cairn_elements_size(world, keys, key_count));
    return writer.ok ? writer.at : 0;
}

cairn_hash128 cairn_world_root_fresh(cairn_world *world) {
    cairn_hash_cache_mark_all(world);
    return cairn_world_hash_read(world).full;
}

uint32_t cairn_elements_count(const void *bytes, size_t size) {
    cairn_reader reader = cairn_reader_of(bytes, size);
    return cairn_read_u32(&reader);
}

// Elements that are being applied. The new state is built in the spare block.
typedef struct repair {
    const cairn_state *old;
    cairn_state *now;
    cairn_reader reader;
    uint32_t contacts_taken; // of the old list
    uint32_t contacts_made;  // of the new one
    const char *where;
} repair;

static cairn_status refuse(repair *r, cairn_status status, const char *where) {
    CAIRN_ASSERT(status != CAIRN_OK);
    r->where = where;
    return status;
}

// There may be more slots than before; the new ones are cleared.
static cairn_status apply_settings(repair *r, const uint32_t *words) {
    cairn_settings settings = *r->old->settings;
    memcpy((uint32_t *)(void *)&settings + CAIRN_SETTINGS_DEF_WORDS, words,
        word_count(CAIRN_ARRAY_SETTINGS) * sizeof(uint32_t));
    if (settings.tick_low != r->old->settings->tick_low ||
        settings.tick_high != r->old->settings->tick_high) {
        return refuse(r, CAIRN_MALFORMED, "settings: another tick");
    }
    *r->now->settings = settings;
    const cairn_status status = cairn_decode_check_settings(r->now, r->old->settings, &r->where);
    if (status != CAIRN_OK) {
        return status;
    }
    CAIRN_ASSERT(settings.contact_count <= settings.contact_capacity);
    for (cairn_array array = 1; array < CAIRN_ARRAY_COUNT; ++array) {
        const uint32_t before = cairn_array_count(r->old->settings, array);
        const uint32_t after = cairn_array_count(&settings, array);
        const size_t size = cairn_array_element_size(array);
        if (array != CAIRN_ARRAY_CONTACTS && after > before) {
            unsigned char *bytes = cairn_state_array(r->now, array);
            memset(bytes + before * size, 0, (after - before) * size);
        }
    }
    return CAIRN_OK;
}

static cairn_status add_contact(repair *r, const cairn_contact *contact) {
    CAIRN_ASSERT(r->contacts_made <= r->now->settings->contact_capacity);
    if (r->contacts_made == r->now->settings->contact_capacity) {
        return refuse(r, CAIRN_CAPACITY, "contacts: more than the capacity holds");
    }
    r->now->contacts[r->contacts_made++] = *contact;
    return CAIRN_OK;
}

// Keeps the contacts of the old list below `key`.
static cairn_status keep_contacts_below(repair *r, cairn_element_key key) {
    CAIRN_ASSERT(r->contacts_taken <= r->old->settings->contact_count);
    cairn_status status = CAIRN_OK;
    while (status == CAIRN_OK && r->contacts_taken < r->old->settings->contact_count &&
           element_key_of_contact(&r->old->contacts[r->contacts_taken]) < key) {
        status = add_contact(r, &r->old->contacts[r->contacts_taken++]);
    }
    return status;
}

// `words` is NULL if no contact has this key.
static cairn_status merge_contact(repair *r, cairn_element_key key, const uint32_t *words) {
    cairn_status status = keep_contacts_below(r, key);
    CAIRN_ASSERT(element_array(key) == CAIRN_ARRAY_CONTACTS);
    if (status != CAIRN_OK) {
        return status;
    }
    if (r->contacts_taken < r->old->settings->contact_count &&
        element_key_of_contact(&r->old->contacts[r->contacts_taken]) == key) {
        r->contacts_taken += 1;
    }
    if (words == NULL) {
        return CAIRN_OK;
    }
    cairn_contact contact;
    memcpy(&contact, words, sizeof contact);
    if (element_key_of_contact(&contact) != key) {
        return refuse(r, CAIRN_MALFORMED, "contacts: the shapes are not those of the key");
    }
    return add_contact(r, &contact);
}

// Id tables come before the arrays they belong to, so here it is known which elements exist.
static cairn_status apply_words(repair *r, cairn_element_key key, const uint32_t *words) {
    CAIRN_ASSERT(cairn_element_key_ok(r->old->settings, key));
    const cairn_array array = element_array(key);
    if (array == CAIRN_ARRAY_SETTINGS) {
        return words != NULL ? apply_settings(r, words)
                             : refuse(r, CAIRN_MALFORMED, "settings: absent");
    }
    if (array == CAIRN_ARRAY_CONTACTS) {
        return merge_contact(r, key, words);
    }
    if (element_exists(r->now, array, element_index(key)) != (words != NULL)) {
        return refuse(r, CAIRN_MALFORMED, "ids: an element in a free slot, or none in a used one");
    }
    if (words != NULL) {
        memcpy(element_words(r->now, array, element_index(key)), words,
            word_count(array) * sizeof(uint32_t));
    }
    return CAIRN_OK;
}

// Reads the words of an element and checks each by its field.
static cairn_status read_words(repair *r, cairn_array array, uint32_t *words) {
    const cairn_field_table *table = cairn_field_table_of(array);
    const uint32_t first = element_first_word(array);
    CAIRN_ASSERT(first < table->word_count && table->word_count <= CAIRN_ELEMENT_WORDS_MAX);
    uint32_t whole[CAIRN_ELEMENT_WORDS_MAX];
    memcpy(whole, cairn_state_array(r->old, CAIRN_ARRAY_SETTINGS), sizeof(cairn_settings));
    cairn_read_u32s(&r->reader, whole + first, table->word_count - first);
    memcpy(words, whole + first, (table->word_count - first) * sizeof(uint32_t));
    if (!r->reader.ok) {
        return refuse(r, CAIRN_MALFORMED, "the bytes end early");
    }
    return cairn_fields_check(table, whole, &r->where);
}

static cairn_status apply_next_element(repair *r, cairn_element_key *last, bool is_first) {
    uint32_t words[CAIRN_ELEMENT_WORDS_MAX];
    const uint64_t encoded_key = cairn_read_u64(&r->reader);
    const cairn_element_key key = encoded_key & ~CAIRN_ELEMENT_ABSENT;
    if (!r->reader.ok) {
        return refuse(r, CAIRN_MALFORMED, "the bytes end early");
    }
    if (!cairn_element_key_ok(r->old->settings, key) || (!is_first && key <= *last)) {
        return refuse(r, CAIRN_MALFORMED, "a key is invalid or out of order");
    }
    *last = key;
    if (encoded_key != key) {
        return apply_words(r, key, NULL);
    }
    const cairn_status status = read_words(r, element_array(key), words);
    return status != CAIRN_OK ? status : apply_words(r, key, words);
}

static cairn_status apply_all(repair *r) {
    const uint32_t count = cairn_read_u32(&r->reader);
    cairn_element_key last = 0;
    cairn_status status = CAIRN_OK;
    for (uint32_t i = 0; i < count && status == CAIRN_OK; ++i) {
        status = apply_next_element(r, &last, i == 0);
    }
    if (status == CAIRN_OK) {
        status = keep_contacts_below(r, UINT64_MAX);
    }
    if (status != CAIRN_OK) {
        return status;
    }
    if (!cairn_reader_done(&r->reader)) {
        return refuse(r, CAIRN_MALFORMED, "bytes are left over");
    }
    if (r->contacts_made != r->now->settings->contact_count) {
        return refuse(r, CAIRN_MALFORMED, "contacts: not as many as the settings say");
    }
    return CAIRN_OK;
}

// Clears the words of free slots.
static void clear_free_slots(const cairn_state *state) {
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const uint32_t count = cairn_array_count(state->settings, array);
        for (uint32_t i = 0; i < count && state_ids(state, array) != NULL; ++i) {
            if (!cairn_state_has(state, array, i)) {
                memset(element_words(state, array, i), 0, cairn_array_element_size(array));
            }
        }
    }
}

cairn_status cairn_elements_apply(
    cairn_world *world, const void *bytes, size_t size, const char **where) {
    repair r = {.old = &world->state,
        .now = &world->spare,
        .reader = cairn_reader_of(bytes, size),
        .where = ""};
    // A copy of the old live ranges, without the contacts, which are merged.
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        if (array != CAIRN_ARRAY_CONTACTS) {
            memcpy(cairn_state_array(r.now, array), cairn_state_array(r.old, array),
                cairn_array_count(r.old->settings, array) * cairn_array_element_size(array));
        }
    }
    cairn_status status = apply_all(&r);
    if (status == CAIRN_OK) {
        clear_free_slots(r.now);
        status = cairn_decode_check(r.now, &r.where);
    }
    if (status == CAIRN_OK) {
        cairn_state_restore(world, &world->spare);
    }
    if (where != NULL) {
        *where = status == CAIRN_OK ? "" : r.where;
    }
    return status;
}
