// SPDX-License-Identifier: MIT
#include "compress/state_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/math.h>
#include <cairn/types.h>

#define GRID_PER_METRE 32768.0f
#define GRID_END 65536.0f // m

// False: too many groups, or no such sizes.
static bool lay_out(cairn_state_words *w, size_t size) {
    size_t words = 0;
    w->slots = CAIRN_WORD_GROUPS_MAX;
    w->elements_max = 1;
    for (uint32_t g = 0; g < w->count; ++g) {
        const cairn_word_group *group = &w->groups[g];
        w->offset[g] = words * sizeof(uint32_t);
        if (group->words < 1 || group->words > CAIRN_WORD_GROUP_WORDS_MAX ||
            group->count > (size / sizeof(uint32_t) - words) / group->words) {
            return false;
        }
        words += (size_t)group->words * group->count;
        w->elements_max = group->count > w->elements_max ? group->count : w->elements_max;
        if (group->role == CAIRN_WORDS_BODY_SLOTS) {
            w->slots = g;
        }
    }
    return words * sizeof(uint32_t) == size;
}

bool cairn_state_words_open(cairn_state_words *w, size_t size) {
    w->elements = NULL;
    if (w->count > CAIRN_WORD_GROUPS_MAX || !lay_out(w, size)) {
        return false;
    }
    const uint32_t slots = w->slots < CAIRN_WORD_GROUPS_MAX ? w->groups[w->slots].count : 0;
    w->elements = malloc((slots + (size_t)1) * sizeof *w->elements);
    return w->elements != NULL;
}

void cairn_state_words_close(cairn_state_words *w) {
    free(w->elements);
    w->elements = NULL;
}

bool cairn_word_source_valid(
    const cairn_state_words *w, uint32_t group, uint32_t column, const cairn_word_source *from) {
    const bool earlier = from->group < group && from->column < w->groups[from->group].words;
    switch (from->kind) {
    case CAIRN_SOURCE_PREVIOUS:
        return true;
    case CAIRN_SOURCE_COLUMN:
        return from->column < column;
    case CAIRN_SOURCE_GROUP:
        return earlier;
    case CAIRN_SOURCE_LINK:
        return earlier && w->slots < group && from->key < column;
    case CAIRN_SOURCE_DIFFERENCE:
        return earlier && w->slots < group && from->key < column && from->key_b < column;
    case CAIRN_SOURCE_UNIT:
        return column >= 3;
    case CAIRN_SOURCE_ROTATION:
        return earlier && from->column + 3 < w->groups[from->group].words && from->key < 2;
    case CAIRN_SOURCE_COUNT:
        break;
    }
    return false;
}

void cairn_state_words_count_bodies(cairn_state_words *w) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < w->groups[w->slots].count; ++i) {
        const bool taken = (cairn_word_of(w, w->slots, 0, i) >> 31) != 0;
        w->elements[i] = taken ? next++ : UINT32_MAX;
    }
}

// The word of the body with this id; 0 if no body has it.
static uint32_t linked(const cairn_state_words *w, const cairn_word_source *from, uint32_t id) {
    const uint32_t slot = cairn_id_index(id);
    const uint32_t element = slot < w->groups[w->slots].count ? w->elements[slot] : UINT32_MAX;
    return element < w->groups[from->group].count
               ? cairn_word_of(w, from->group, from->column, element)
               : 0;
}

static float float_of(uint32_t word) {
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

// The bits of a float. A NaN gives 0, because its bits differ between machines.
static uint32_t word_of(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return value == value ? word : 0;
}

static uint32_t unit_rest(const uint8_t *last_of_three) {
    const float x = float_of(cairn_word_load(last_of_three - 2 * sizeof(uint32_t)));
    const float y = float_of(cairn_word_load(last_of_three - sizeof(uint32_t)));
    const float z = float_of(cairn_word_load(last_of_three));
    const float rest = 1.0f - x * x - y * y - z * z;
    return rest > 0.0f ? word_of(cairn_float_sqrt(rest)) : 0;
}

// Packs a quaternion as sim/math/packed_rotation.h does, with 16 bits for each component, and
// returns word 0 or 1 of the result. Returns 0 if the four floats are not a unit quaternion.
static uint32_t packed_rotation(const uint8_t *quaternion, uint32_t word) {
    float parts[4];
    uint32_t largest = 3;
    for (uint32_t i = 0; i < 4; ++i) {
        parts[i] = float_of(cairn_word_load(quaternion + i * sizeof(uint32_t)));
    }
    for (uint32_t i = 0; i < 3; ++i) {
        largest = cairn_float_abs(parts[i]) > cairn_float_abs(parts[largest]) ? i : largest;
    }
    uint32_t upper[3];
    for (uint32_t i = 0; i < 3; ++i) {
        const float part = parts[(largest + 1 + i) % 4];
        const float value = (parts[largest] < 0.0f ? 0.0f - part : part) / 0.7072f;
        if (!(value >= -1.0f && value <= 1.0f)) {
            return 0;
        }
        upper[i] = ((uint32_t)(value * 524272.0f + 524288.5f) + 8) >> 4;
    }
    return word == 0 ? upper[0] << 16 | upper[1] : upper[2] << 16 | largest << 2;
}

uint32_t cairn_word_grid_point(uint32_t word) {
    const float value = float_of(word);
    if (!(value < GRID_END && value > -GRID_END)) {
        return 0;
    }
    const double scaled = (double)value * (double)GRID_PER_METRE;
    return (uint32_t)(int32_t)(scaled + (scaled < 0.0 ? -0.5 : 0.5));
}

uint32_t cairn_word_of_grid(uint32_t point) {
    return word_of((float)(int32_t)point * (1.0f / GRID_PER_METRE));
}

uint32_t cairn_word_candidate(const cairn_state_words *w, uint32_t group, uint32_t column,
    const cairn_word_source *from, uint32_t element) {
    switch (from->kind) {
    case CAIRN_SOURCE_PREVIOUS:
        return element == 0 ? 0 : cairn_word_of(w, group, column, element - 1);
    case CAIRN_SOURCE_COLUMN:
        return cairn_word_of(w, group, from->column, element);
    case CAIRN_SOURCE_GROUP:
        return element < w->groups[from->group].count
                   ? cairn_word_of(w, from->group, from->column, element)
                   : 0;
    case CAIRN_SOURCE_LINK:
        return linked(w, from, cairn_word_of(w, group, from->key, element));
    case CAIRN_SOURCE_DIFFERENCE:
        return word_of(float_of(linked(w, from, cairn_word_of(w, group, from->key_b, element))) -
                       float_of(linked(w, from, cairn_word_of(w, group, from->key, element))));
    case CAIRN_SOURCE_UNIT:
        return unit_rest(cairn_word_at(w, group, column - 1, element));
    case CAIRN_SOURCE_ROTATION:
        return element < w->groups[from->group].count
                   ? packed_rotation(
                         cairn_word_at(w, from->group, from->column, element), from->key)
                   : 0;
    case CAIRN_SOURCE_COUNT:
        break;
    }
    return 0;
}
