// SPDX-License-Identifier: MIT
#include "tools/replay/flips.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

#include "sim/state/fields.h"
#include "sim/state/hash_cache.h"
#include "sim/state/world.h"
#include "sim/world/body.h"

// Settings and rules are hashed from their words each time and need no mark.
static void mark(cairn_world *world, cairn_array array, uint32_t element) {
    if (array != CAIRN_ARRAY_SETTINGS && array != CAIRN_ARRAY_RULES) {
        cairn_hash_cache_mark(world, array, element);
    }
}

static uint32_t *word_of(cairn_world *world, cairn_array array, uint32_t element, uint32_t word) {
    uint32_t *words = cairn_state_array(&world->state, array);
    return words + (size_t)element * cairn_array_words(array) + word;
}

static bool exists(const cairn_world *world, cairn_array array, uint32_t element) {
    return element < cairn_array_count(world->state.settings, array) &&
           cairn_state_has(&world->state, array, element);
}

// A search: what is tried, and whether a try leads to the root.
typedef struct search {
    cairn_world *world; // scratch, equal to the start between two tries
    const cairn_world *start;
    const cairn_command *commands;
    uint32_t command_count;
    bool steps; // the root is that after the step
    cairn_hash128 wanted;
    uint32_t tries;
    uint32_t tries_max;
    cairn_word_difference *out;
} search;

static bool leads_there(search *s) {
    if (s->steps) {
        cairn_world_step(s->world, s->commands, s->command_count);
    }
    return cairn_hash_equal(cairn_world_hash_read(s->world).full, s->wanted);
}

static void undo(search *s, cairn_array array, uint32_t element, uint32_t word, uint32_t bits) {
    if (s->steps) {
        cairn_status status = cairn_world_copy(s->world, s->start);
        (void)status; // their defs are equal
    } else {
        *word_of(s->world, array, element, word) = bits;
        mark(s->world, array, element);
    }
}

// A step disables invalid bodies, but only after collision: so a trial must start with valid ones.
static bool bearable(const cairn_world *world, cairn_array array, uint32_t element) {
    const char *where;
    const void *words = (const uint32_t *)cairn_state_array(&world->state, array) +
                        (size_t)element * cairn_array_words(array);
    if (cairn_fields_check(cairn_field_table_of(array), words, &where) != CAIRN_OK) {
        return false;
    }
    return array != CAIRN_ARRAY_MOTIONS || cairn_motion_valid(words);
}

static bool try_word(search *s, cairn_array array, uint32_t element, uint32_t word) {
    const uint32_t before = *word_of(s->world, array, element, word);
    for (uint32_t bit = 0; bit < 32 && s->tries < s->tries_max; ++bit) {
        const uint32_t flipped = before ^ 1u << bit;
        s->tries += 1;
        *word_of(s->world, array, element, word) = flipped;
        mark(s->world, array, element);
        const bool found = (!s->steps || bearable(s->world, array, element)) && leads_there(s);
        undo(s, array, element, word, before);
        if (found) {
            *s->out = (cairn_word_difference){.array = array,
                .element = element,
                .word = word,
                .bits_a = before,
                .bits_b = flipped};
            return true;
        }
    }
    return false;
}

static bool try_element(search *s, cairn_array array, uint32_t element) {
    if (!exists(s->world, array, element)) {
        return false;
    }
    for (uint32_t word = 0; word < cairn_array_words(array); ++word) {
        if (try_word(s, array, element, word)) {
            return true;
        }
    }
    return false;
}

static bool try_array(search *s, cairn_array array) {
    for (uint32_t i = 0; i < cairn_array_count(s->start->state.settings, array); ++i) {
        if (try_element(s, array, i)) {
            return true;
        }
    }
    return false;
}

bool cairn_flip_of_state(const cairn_world *world, cairn_hash128 wanted, uint32_t tries_max,
    cairn_word_difference *out) {
    search s = {.start = world, .wanted = wanted, .tries_max = tries_max, .out = out};
    if (cairn_world_fork(world, &s.world) != CAIRN_OK) {
        return false;
    }
    bool found = false;
    // The settings say how large the arrays are.
    for (cairn_array array = CAIRN_ARRAY_BODY_IDS; array < CAIRN_ARRAY_COUNT && !found; ++array) {
        found = try_array(&s, array);
    }
    cairn_world_destroy(s.world);
    return found;
}

// Kinds, ids and counts decide what is read where: a step is never given others.
static bool try_float_words(search *s, cairn_array array, uint32_t element) {
    if (!exists(s->world, array, element)) {
        return false;
    }
    for (uint32_t word = 0; word < cairn_array_words(array); ++word) {
        if (cairn_array_field_is_float(array, word) && try_word(s, array, element, word)) {
            return true;
        }
    }
    return false;
}

static bool try_body(search *s, uint32_t slot) {
    static const cairn_array arrays[] = {
        CAIRN_ARRAY_MOTIONS, CAIRN_ARRAY_BODIES, CAIRN_ARRAY_REFERENCE_POSES};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
        if (try_float_words(s, arrays[i], slot)) {
            return true;
        }
    }
    return false;
}

// By how much a word of a motion differs; what is no number most of all.
static float apart(const cairn_word_difference *at) {
    float a;
    float b;
    memcpy(&a, &at->bits_a, sizeof a);
    memcpy(&b, &at->bits_b, sizeof b);
    const float difference = a > b ? a - b : b - a;
    return difference >= 0.0f ? difference : FLT_MAX;
}

// Which of the words' bodies differs most and was not tried; `count` when all were.
static uint32_t next_body(
    const cairn_word_difference *found, uint32_t count, const unsigned char *tried) {
    uint32_t best = count;
    for (uint32_t i = 0; i < count; ++i) {
        const bool motion = found[i].array == CAIRN_ARRAY_MOTIONS;
        if (motion && tried[i] == 0 && (best == count || apart(&found[i]) > apart(&found[best]))) {
            best = i;
        }
    }
    return best;
}

// What was changed is most likely what differs most: the bodies in this order, then all the rest.
static bool try_bodies(search *s, const cairn_word_difference *found, uint32_t count) {
    unsigned char tried[CAIRN_FLIP_WORDS_MAX] = {0};
    uint32_t next;
    while ((next = next_body(found, count, tried)) < count) {
        const uint32_t slot = found[next].element;
        for (uint32_t i = 0; i < count; ++i) {
            const bool same = found[i].array == CAIRN_ARRAY_MOTIONS && found[i].element == slot;
            tried[i] = same ? 1 : tried[i];
        }
        if (try_body(s, slot)) {
            return true;
        }
    }
    return false;
}

static bool try_what_differs(search *s, const cairn_word_difference *found, uint32_t count) {
    if (try_bodies(s, found, count)) {
        return true;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const bool again = i > 0 && found[i].array == found[i - 1].array &&
                           found[i].element == found[i - 1].element;
        const bool known = found[i].array < CAIRN_ARRAY_COUNT &&
                           found[i].array != CAIRN_ARRAY_SETTINGS &&
                           found[i].array != CAIRN_ARRAY_MOTIONS;
        if (known && !again && try_float_words(s, (cairn_array)found[i].array, found[i].element)) {
            return true;
        }
    }
    return false;
}

bool cairn_flip_before_step(const cairn_world *world, const cairn_command *commands,
    uint32_t command_count, const cairn_word_difference *found, uint32_t found_count,
    cairn_hash128 wanted, uint32_t tries_max, cairn_word_difference *out) {
    search s = {.start = world,
        .commands = commands,
        .command_count = command_count,
        .steps = true,
        .wanted = wanted,
        .tries_max = tries_max,
        .out = out};
    if (cairn_world_fork(world, &s.world) != CAIRN_OK) {
        return false;
    }
    const uint32_t most = found_count < CAIRN_FLIP_WORDS_MAX ? found_count : CAIRN_FLIP_WORDS_MAX;
    const bool there = try_what_differs(&s, found, most);
    cairn_world_destroy(s.world);
    return there;
}
