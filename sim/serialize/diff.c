// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/assert.h"
#include "sim/state/fields.h"
#include "sim/state/world.h"

typedef struct collector {
    cairn_difference *out;
    uint32_t capacity;
    uint32_t count;
} collector;

// The element's words, zero where it does not exist: what a free slot holds.
static void words_of(const cairn_state *state, cairn_array array, uint32_t index,
    uint32_t words[CAIRN_ELEMENT_WORDS_MAX]) {
    const size_t size = cairn_array_element_size(array);
    CAIRN_ASSERT(size <= CAIRN_ELEMENT_WORDS_MAX * sizeof words[0]);
    memset(words, 0, size);
    if (index < cairn_array_count(state->settings, array) && cairn_state_has(state, array, index)) {
        const unsigned char *bytes = cairn_state_array(state, array);
        memcpy(words, bytes + index * size, size);
    }
}

static void compare_element(const cairn_state *a, const cairn_state *b, cairn_array array,
    uint32_t index, collector *found) {
    const cairn_field_table *table = cairn_field_table_of(array);
    CAIRN_ASSERT(table->word_count <= CAIRN_ELEMENT_WORDS_MAX);
    uint32_t words_a[CAIRN_ELEMENT_WORDS_MAX];
    uint32_t words_b[CAIRN_ELEMENT_WORDS_MAX];
    words_of(a, array, index, words_a);
    words_of(b, array, index, words_b);
    for (uint32_t i = 0; i < table->word_count; ++i) {
        if (words_a[i] == words_b[i]) {
            continue;
        }
        if (found->count < found->capacity) {
            found->out[found->count] = (cairn_difference){.section = table->section,
                .element = index,
                .field = table->fields[i].name,
                .bits_a = words_a[i],
                .bits_b = words_b[i]};
        }
        found->count += 1;
    }
}

static void compare_array(
    const cairn_state *a, const cairn_state *b, cairn_array array, collector *found) {
    const uint32_t count_a = cairn_array_count(a->settings, array);
    const uint32_t count_b = cairn_array_count(b->settings, array);
    const uint32_t count = count_a > count_b ? count_a : count_b;
    for (uint32_t i = 0; i < count; ++i) {
        compare_element(a, b, array, i, found);
    }
}

uint32_t cairn_world_diff(
    const cairn_world *a, const cairn_world *b, cairn_difference *out, uint32_t capacity) {
    collector found = {.out = out, .capacity = capacity};
    for (cairn_section section = 0; section < CAIRN_SECTION_COUNT; ++section) {
        for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
            if (cairn_field_table_of(array)->section == section) {
                compare_array(&a->state, &b->state, array, &found);
            }
        }
    }
    return found.count;
}
