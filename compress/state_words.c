// SPDX-License-Identifier: MIT
#include "compress/state_words.h"

#include <stdlib.h>

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
        return earlier && from->column + 3 < w->groups[from->group].words && from->key < 2 &&
               from->key_b + 2 < w->groups[from->group].words;
    case CAIRN_SOURCE_MOVED:
        return earlier && from->key < w->groups[from->group].words;
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

static uint32_t unit_rest(const uint8_t *last_of_three) {
    const float x = cairn_float_of_word(cairn_word_load(last_of_three - 2 * sizeof(uint32_t)));
    const float y = cairn_float_of_word(cairn_word_load(last_of_three - sizeof(uint32_t)));
    const float z = cairn_float_of_word(cairn_word_load(last_of_three));
    const float rest = 1.0f - x * x - y * y - z * z;
    return rest > 0.0f ? cairn_word_of_float(cairn_float_sqrt(rest)) : 0;
}

static void load_floats(const uint8_t *at, uint32_t count, float *out) {
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = cairn_float_of_word(cairn_word_load(at + i * sizeof(uint32_t)));
    }
}

// Turns a unit quaternion back by one step of the angular velocity w, rad/s: q - step / 2 w q,
// normalised.
static void turn_back(float q[4], const float w[3], float step) {
    const float half = 0.5f * step;
    const float turned[4] = {q[0] - half * (w[0] * q[3] + w[1] * q[2] - w[2] * q[1]),
        q[1] - half * (w[1] * q[3] + w[2] * q[0] - w[0] * q[2]),
        q[2] - half * (w[2] * q[3] + w[0] * q[1] - w[1] * q[0]),
        q[3] + half * (w[0] * q[0] + w[1] * q[1] + w[2] * q[2])};
    const float square = turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2] +
                         turned[3] * turned[3];
    for (uint32_t i = 0; i < 4; ++i) {
        q[i] = turned[i] / cairn_float_sqrt(square);
    }
}

// Packs a quaternion as sim/math/packed_rotation.h does, with 16 bits for each component, and
// returns word 0 or 1 of the result. Returns 0 if the four floats are not a unit quaternion.
static uint32_t packed_rotation(float parts[4], uint32_t word) {
    uint32_t largest = 3;
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

static uint32_t rotation_before(
    const cairn_state_words *w, const cairn_word_source *from, uint32_t element) {
    float q[4];
    load_floats(cairn_word_at(w, from->group, from->column, element), 4, q);
    if (from->step != 0) {
        float velocity[3];
        load_floats(cairn_word_at(w, from->group, from->key_b, element), 3, velocity);
        turn_back(q, velocity, cairn_float_of_word(from->step));
    }
    return packed_rotation(q, from->key);
}

static uint32_t place_before(
    const cairn_state_words *w, const cairn_word_source *from, uint32_t element) {
    const float now = cairn_float_of_word(cairn_word_of(w, from->group, from->column, element));
    const float velocity = cairn_float_of_word(cairn_word_of(w, from->group, from->key, element));
    return cairn_word_of_float(now - cairn_float_of_word(from->step) * velocity);
}

uint32_t cairn_word_grid_point(uint32_t word) {
    const float value = cairn_float_of_word(word);
    if (!(value < GRID_END && value > -GRID_END)) {
        return 0;
    }
    const double scaled = (double)value * (double)GRID_PER_METRE;
    return (uint32_t)(int32_t)(scaled + (scaled < 0.0 ? -0.5 : 0.5));
}

uint32_t cairn_word_of_grid(uint32_t point) {
    return cairn_word_of_float((float)(int32_t)point * (1.0f / GRID_PER_METRE));
}

uint32_t cairn_word_candidate(const cairn_state_words *w, uint32_t group, uint32_t column,
    const cairn_word_source *from, uint32_t element) {
    switch (from->kind) {
    case CAIRN_SOURCE_PREVIOUS:
        return element == 0 ? from->first : cairn_word_of(w, group, column, element - 1);
    case CAIRN_SOURCE_COLUMN:
        return cairn_word_of(w, group, from->column, element);
    case CAIRN_SOURCE_GROUP:
        return element < w->groups[from->group].count
                   ? cairn_word_of(w, from->group, from->column, element)
                   : 0;
    case CAIRN_SOURCE_LINK:
        return linked(w, from, cairn_word_of(w, group, from->key, element));
    case CAIRN_SOURCE_DIFFERENCE:
        return cairn_word_of_float(
            cairn_float_of_word(linked(w, from, cairn_word_of(w, group, from->key_b, element))) -
            cairn_float_of_word(linked(w, from, cairn_word_of(w, group, from->key, element))));
    case CAIRN_SOURCE_UNIT:
        return unit_rest(cairn_word_at(w, group, column - 1, element));
    case CAIRN_SOURCE_ROTATION:
        return element < w->groups[from->group].count ? rotation_before(w, from, element) : 0;
    case CAIRN_SOURCE_MOVED:
        return element < w->groups[from->group].count ? place_before(w, from, element) : 0;
    case CAIRN_SOURCE_COUNT:
        break;
    }
    return 0;
}
