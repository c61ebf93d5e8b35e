// SPDX-License-Identifier: MIT
#include "compress/state_packer.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "compress/friction_code.h"
#include "compress/range_coder.h"
#include "compress/state_words.h"
#include "compress/word_coder.h"

// Contexts of the decisions of a column, besides the word before: the words of two earlier columns
// of the element. Instead of a column, the number of the coded column itself stands for the class
// of the element's last word, and a larger number for the class of the word before that.
typedef struct column_keys {
    bool named;
    uint32_t first, second;
} column_keys;

typedef struct column_head {
    cairn_word_source from;
    cairn_column_mode mode;
    bool zeros; // some words are 0 and differ from their candidates
    column_keys keys;
    uint32_t bits; // cairn_word_coder.bits
} column_head;

typedef struct packer {
    cairn_state_words words;
    uint8_t *last;   // owned; by element of the group: the class of its last coded word
    uint8_t *before; // owned; the same of the word before that
    bool knows_bodies;
    uint8_t shifts[CAIRN_WORD_GROUP_WORDS_MAX]; // by column: words that are keys lose so many bits
    cairn_word_coder *coder;                    // owned
} packer;

static uint32_t key_value(
    const packer *p, uint32_t group, uint32_t column, uint32_t element, uint32_t key) {
    if (key < column) {
        return cairn_word_of(&p->words, group, key, element) >> p->shifts[key];
    }
    return key == column ? p->last[element] : p->before[element];
}

// `lately`: a bit set, which of the last words were equal to their candidates.
static cairn_contexts contexts_of(const packer *p, uint32_t group, uint32_t column,
    const column_keys *keys, uint32_t element, uint32_t class, uint32_t lately) {
    const uint32_t first = key_value(p, group, column, element, keys->first);
    const uint32_t second = key_value(p, group, column, element, keys->second);
    return cairn_contexts_of(
        class << 2 | (lately >> 1 & 3), first, first * UINT32_C(0x2c1b3c6d) + second);
}

// The class of a word becomes a context of those after it in the element.
static void note_class(packer *p, uint32_t element, uint8_t class) {
    p->before[element] = p->last[element];
    p->last[element] = class;
}

static void begin_column(packer *p, const column_head *head) {
    cairn_bit_mixer_reset(&p->coder->mixer);
    p->coder->bits = head->bits;
    memset(p->coder->guesses, 0, sizeof p->coder->guesses);
}

// Codes words begin .. end - 1 of a column. `note`: keeps their classes for later columns.
CAIRN_FOR_EACH_MODE void code_words(cairn_coder_mode coding, packer *p, cairn_range_coder *coder,
    uint32_t group, uint32_t column, const column_head *head, uint32_t begin, uint32_t end,
    bool note) {
    uint32_t lately = 7;
    uint8_t class = CAIRN_CLASS_CANDIDATE;
    for (uint32_t i = begin; i < end; ++i) {
        uint8_t *at = cairn_word_at(&p->words, group, column, i);
        uint32_t expected = cairn_word_candidate(&p->words, group, column, &head->from, i);
        uint32_t word = coding == CAIRN_CODER_DECODE ? 0 : cairn_word_load(at);
        if (head->mode == CAIRN_COLUMN_SAME) {
            word = expected;
        } else {
            if (head->from.kind == CAIRN_SOURCE_UNIT) {
                const bool negative = cairn_learn_bit(
                    coding, coder, &p->coder->mixer, NODE_NEGATIVE, word >> 31 != 0);
                expected |= (uint32_t)negative << 31;
            }
            if (head->mode == CAIRN_COLUMN_GRID) {
                expected = cairn_word_of_grid(cairn_word_grid_point(expected));
            }
            const cairn_contexts contexts =
                contexts_of(p, group, column, &head->keys, i, class, lately);
            word = cairn_code_word(coding, coder, p->coder, &contexts, head->mode, head->zeros,
                word, expected, &class);
            lately = lately << 1 | (class == CAIRN_CLASS_CANDIDATE);
            if (note) {
                note_class(p, i, class);
            }
        }
        if (coding == CAIRN_CODER_DECODE) {
            cairn_word_store(at, word);
        }
    }
}

// Codes a component of friction.
CAIRN_FOR_EACH_MODE uint32_t code_component(cairn_coder_mode coding, packer *p,
    cairn_range_coder *coder, const cairn_friction_frame *frame, const cairn_contexts *contexts,
    uint32_t place, int32_t expected, uint32_t word, uint8_t *class) {
    cairn_bit_mixer *mixer = &p->coder->mixer;
    const int32_t steps = cairn_friction_steps(frame, word);
    const bool regular = cairn_friction_word(frame, steps) == word;
    *class = CAIRN_CLASS_ZERO;
    if (!cairn_learn_bit(coding, coder, mixer, NODE_REGULAR + place, regular)) {
        return cairn_code_raw_as(coding, coder, 32, word);
    }
    *class = CAIRN_CLASS_CANDIDATE;
    const uint32_t node = NODE_COMPONENT_SAME + place;
    uint32_t delta = (uint32_t)steps - (uint32_t)expected;
    if (cairn_mix_bit(coding, coder, mixer, contexts, SET_SAME, node, delta == 0)) {
        return cairn_friction_word(frame, expected);
    }
    delta = cairn_code_delta(coding, coder, p->coder, contexts, place == 2, delta, class);
    return cairn_friction_word(frame, (int32_t)((uint32_t)expected + delta));
}

// Codes which normal contact `i` has: mostly the same as other contacts with its axis hint.
CAIRN_FOR_EACH_MODE uint32_t code_normal(cairn_coder_mode coding, packer *p,
    cairn_range_coder *coder, uint32_t group, uint32_t column, uint32_t i) {
    const uint8_t *friction = cairn_word_at(&p->words, group, column, i);
    const uint32_t hint = cairn_word_of(&p->words, group, column - CAIRN_FRICTION_WORDS_BEFORE, i);
    const bool bears = cairn_friction_frame_of(friction, CAIRN_NORMAL_UNKNOWN).step > 0.0f;
    const uint32_t normal = coding == CAIRN_CODER_DECODE ? 0 : cairn_friction_normal_of(friction);
    const cairn_contexts contexts =
        cairn_contexts_of(bears, hint << 1 | bears, hint * UINT32_C(0x2c1b3c6d) + p->before[i]);
    return cairn_mix_tree(
        coding, coder, &p->coder->mixer, &contexts, SET_SYMBOL, NODE_NORMAL, 3, normal);
}

// Codes the three columns of friction.
CAIRN_FOR_EACH_MODE void code_friction(
    cairn_coder_mode coding, packer *p, cairn_range_coder *coder, uint32_t group, uint32_t column) {
    cairn_bit_mixer_reset(&p->coder->mixer);
    for (uint32_t i = 0; i < p->words.groups[group].count; ++i) {
        uint8_t *friction = cairn_word_at(&p->words, group, column, i);
        const uint32_t normal = code_normal(coding, p, coder, group, column, i);
        const cairn_friction_frame frame = cairn_friction_frame_of(friction, normal);
        uint32_t words[3] = {0};
        uint8_t class = CAIRN_CLASS_FIRST;
        for (uint32_t k = 0; k < 3; ++k) {
            const uint32_t part = frame.order[k];
            const uint32_t word = coding == CAIRN_CODER_DECODE
                                      ? 0
                                      : cairn_word_load(friction + part * sizeof(uint32_t));
            const int32_t expected = k == 2 ? cairn_friction_expected(&frame, words) : 0;
            const uint32_t kind = (uint32_t)frame.has_normal << 2 | k;
            const cairn_contexts contexts = cairn_contexts_of(kind << 1 | (frame.step > 0.0f),
                (uint32_t) class << 3 | kind, (uint32_t)p->last[i] << 3 | kind);
            words[part] =
                code_component(coding, p, coder, &frame, &contexts, k, expected, word, &class);
            if (coding == CAIRN_CODER_DECODE) {
                cairn_word_store(friction + part * sizeof(uint32_t), words[part]);
            }
        }
        note_class(p, i, class);
    }
}

static void code_source(cairn_range_coder *coder, cairn_word_source *from) {
    from->kind = (cairn_source_kind)cairn_code_raw(coder, 4, (uint32_t)from->kind);
    if (from->kind == CAIRN_SOURCE_UNIT) {
        return;
    }
    if (from->kind >= CAIRN_SOURCE_GROUP) {
        from->group = cairn_code_raw(coder, 5, from->group);
    }
    if (from->kind >= CAIRN_SOURCE_COLUMN) {
        from->column = cairn_code_raw(coder, 9, from->column);
    }
    if (from->kind >= CAIRN_SOURCE_LINK) { // of a rotation which of its words
        from->key = cairn_code_raw(coder, 9, from->key);
    }
    if (from->kind == CAIRN_SOURCE_DIFFERENCE || from->kind == CAIRN_SOURCE_ROTATION) {
        from->key_b = cairn_code_raw(coder, 9, from->key_b);
    }
    if (from->kind == CAIRN_SOURCE_ROTATION || from->kind == CAIRN_SOURCE_MOVED) {
        from->step = cairn_code_raw(coder, 32, from->step);
    }
}

// Codes the word of a column whose words are all equal.
static void code_first(cairn_range_coder *coder, cairn_word_source *from) {
    if (from->kind == CAIRN_SOURCE_PREVIOUS && cairn_code_raw(coder, 1, from->first != 0) != 0) {
        from->first = cairn_code_raw(coder, 32, from->first);
    }
}

// Codes the head of a column, which tells how its words are coded.
static void code_head(cairn_range_coder *coder, uint32_t column, column_head *head) {
    head->mode = (cairn_column_mode)cairn_code_raw(coder, 3, (uint32_t)head->mode);
    if (head->mode == CAIRN_COLUMN_FRICTION) {
        return;
    }
    code_source(coder, &head->from);
    if (head->mode == CAIRN_COLUMN_SAME) {
        code_first(coder, &head->from);
        return;
    }
    head->zeros = cairn_code_raw(coder, 1, head->zeros) != 0;
    head->keys.named = cairn_code_raw(coder, 1, head->keys.named) != 0;
    if (head->keys.named) {
        head->keys.first = cairn_code_raw(coder, 9, head->keys.first);
        head->keys.second = cairn_code_raw(coder, 9, head->keys.second);
    } else {
        head->keys.first = column;
        head->keys.second = column + 1;
    }
    if (head->mode == CAIRN_COLUMN_SYMBOLS || head->mode == CAIRN_COLUMN_FLOATS) {
        head->bits = cairn_code_raw(coder, 6, head->bits);
    }
}

static bool friction_possible(const cairn_state_words *words, uint32_t group, uint32_t column) {
    return column >= CAIRN_FRICTION_WORDS_BEFORE && column + 2 < words->groups[group].words;
}

// Checks a head that was decoded.
static bool head_valid(const packer *p, uint32_t group, uint32_t column, const column_head *head) {
    switch (head->mode) {
    case CAIRN_COLUMN_FRICTION:
        return friction_possible(&p->words, group, column);
    case CAIRN_COLUMN_SAME:
        return head->from.kind != CAIRN_SOURCE_UNIT &&
               cairn_word_source_valid(&p->words, group, column, &head->from);
    case CAIRN_COLUMN_SYMBOLS:
        return head->bits <= 32 && cairn_word_source_valid(&p->words, group, column, &head->from);
    case CAIRN_COLUMN_FLOATS:
        return head->bits <= 23 && cairn_word_source_valid(&p->words, group, column, &head->from);
    case CAIRN_COLUMN_DELTA:
    case CAIRN_COLUMN_GRID:
    case CAIRN_COLUMN_HALVES:
        return cairn_word_source_valid(&p->words, group, column, &head->from);
    case CAIRN_COLUMN_MODE_COUNT:
        break;
    }
    return false;
}

static void begin_group(packer *p, uint32_t group) {
    memset(p->last, 0, p->words.groups[group].count);
    memset(p->before, 0, p->words.groups[group].count);
    memset(p->shifts, 0, sizeof p->shifts);
    if (group > p->words.slots && !p->knows_bodies) {
        cairn_state_words_count_bodies(&p->words);
        p->knows_bodies = true;
    }
}

// The groups are filled in. False: they do not have `size` bytes, or memory is short.
static bool open_packer(packer *p, size_t size) {
    if (!cairn_state_words_open(&p->words, size)) {
        return false;
    }
    p->last = malloc(p->words.elements_max);
    p->before = malloc(p->words.elements_max);
    p->coder = malloc(sizeof *p->coder);
    if (p->last == NULL || p->before == NULL || p->coder == NULL) {
        return false;
    }
    cairn_bit_mixer_init(&p->coder->mixer);
    return true;
}

static void close_packer(packer *p) {
    cairn_state_words_close(&p->words);
    free(p->last);
    free(p->before);
    free(p->coder);
}

// Returns how many columns it coded.
CAIRN_FOR_EACH_MODE uint32_t code_column(cairn_coder_mode coding, packer *p,
    cairn_range_coder *coder, uint32_t group, uint32_t column, const column_head *head) {
    if (head->mode == CAIRN_COLUMN_FRICTION) {
        code_friction(coding, p, coder, group, column);
        return 3;
    }
    begin_column(p, head);
    p->shifts[column] = head->mode == CAIRN_COLUMN_FLOATS ? 23 : 0;
    code_words(coding, p, coder, group, column, head, 0, p->words.groups[group].count, true);
    return 1;
}

// Words of contacts and of what belongs to a body, as sim/state/state.h lays them out: a packer
// that believes another layout only packs worse.
typedef struct rule {
    cairn_word_role role; // of the column
    uint32_t column, columns;
    cairn_source_kind kind;
    cairn_word_role of; // of the source
    uint32_t from, key, key_b;
    cairn_column_mode mode; // tried beside the plain modes; CAIRN_COLUMN_SAME: none
} rule;

static const rule rules[] = {
    // A body's centre is its origin, unless its shapes lie elsewhere.
    {CAIRN_WORDS_MOTIONS, 3, 3, CAIRN_SOURCE_COLUMN, CAIRN_WORDS_MOTIONS, 0, 0, 0,
        CAIRN_COLUMN_SAME},
    // A rotation is a unit quaternion.
    {CAIRN_WORDS_MOTIONS, 9, 1, CAIRN_SOURCE_UNIT, CAIRN_WORDS_MOTIONS, 0, 0, 0, CAIRN_COLUMN_SAME},
    {CAIRN_WORDS_REFERENCE_POSES, 0, 3, CAIRN_SOURCE_GROUP, CAIRN_WORDS_MOTIONS, 3, 0, 0,
        CAIRN_COLUMN_GRID},
    // The reference pose of a body that moves fast is its pose a step before.
    {CAIRN_WORDS_REFERENCE_POSES, 0, 3, CAIRN_SOURCE_MOVED, CAIRN_WORDS_MOTIONS, 3, 10, 0,
        CAIRN_COLUMN_GRID},
    {CAIRN_WORDS_REFERENCE_POSES, 3, 1, CAIRN_SOURCE_ROTATION, CAIRN_WORDS_MOTIONS, 6, 0, 13,
        CAIRN_COLUMN_HALVES},
    {CAIRN_WORDS_REFERENCE_POSES, 4, 1, CAIRN_SOURCE_ROTATION, CAIRN_WORDS_MOTIONS, 6, 1, 13,
        CAIRN_COLUMN_HALVES},
    {CAIRN_WORDS_REFERENCE_POSES, 3, 1, CAIRN_SOURCE_ROTATION, CAIRN_WORDS_MOTIONS, 6, 0, 0,
        CAIRN_COLUMN_HALVES},
    {CAIRN_WORDS_REFERENCE_POSES, 4, 1, CAIRN_SOURCE_ROTATION, CAIRN_WORDS_MOTIONS, 6, 1, 0,
        CAIRN_COLUMN_HALVES},
    {CAIRN_WORDS_SLEEP, 3, 3, CAIRN_SOURCE_GROUP, CAIRN_WORDS_REFERENCE_POSES, 0, 0, 0,
        CAIRN_COLUMN_GRID},
    {CAIRN_WORDS_SLEEP, 6, 2, CAIRN_SOURCE_GROUP, CAIRN_WORDS_REFERENCE_POSES, 3, 0, 0,
        CAIRN_COLUMN_HALVES},
    // As a rule a body has one shape, made with it.
    {CAIRN_WORDS_CONTACTS, 2, 2, CAIRN_SOURCE_COLUMN, CAIRN_WORDS_CONTACTS, 0, 0, 0,
        CAIRN_COLUMN_SAME},
    // A contact's reference is that of its bodies.
    {CAIRN_WORDS_CONTACTS, 9, 3, CAIRN_SOURCE_DIFFERENCE, CAIRN_WORDS_REFERENCE_POSES, 0, 2, 3,
        CAIRN_COLUMN_GRID},
    {CAIRN_WORDS_CONTACTS, 12, 2, CAIRN_SOURCE_LINK, CAIRN_WORDS_REFERENCE_POSES, 3, 2, 0,
        CAIRN_COLUMN_HALVES},
    {CAIRN_WORDS_CONTACTS, 14, 2, CAIRN_SOURCE_LINK, CAIRN_WORDS_REFERENCE_POSES, 3, 3, 0,
        CAIRN_COLUMN_HALVES},
};

static uint32_t group_of(const packer *p, cairn_word_role role) {
    uint32_t group = 0;
    while (group < p->words.count && p->words.groups[group].role != (uint32_t)role) {
        group += 1;
    }
    return group;
}

// Bits of the differences to the candidates.
static uint64_t misses(
    const packer *p, uint32_t group, uint32_t column, const cairn_word_source *from) {
    const uint32_t sign = from->kind == CAIRN_SOURCE_UNIT ? UINT32_C(1) << 31 : 0;
    uint64_t bits = from->kind == CAIRN_SOURCE_UNIT ? 1 : 0; // it is never left out
    for (uint32_t i = 0; i < p->words.groups[group].count; ++i) {
        const uint32_t word = cairn_word_of(&p->words, group, column, i);
        const uint32_t delta =
            word - (cairn_word_candidate(&p->words, group, column, from, i) | (word & sign));
        const uint32_t size = delta >> 31 != 0 ? ~delta : delta;
        const uint32_t length = size == 0 || word == 0 ? 0 : 32 - (uint32_t)__builtin_clz(size);
        bits += delta == 0 ? 0 : 2 + length;
    }
    return bits;
}

// How a column may be coded.
typedef struct choice {
    cairn_word_source from;
    cairn_column_mode mode; // tried beside the plain modes; CAIRN_COLUMN_SAME: none
    uint64_t bits;          // an estimate, for the words that differ from their candidates
} choice;

// The length of a step, s, as the bits of a float.
static uint32_t step_of(const packer *p) {
    const uint32_t group = group_of(p, CAIRN_WORDS_SETTINGS);
    if (group == p->words.count || p->words.groups[group].count != 1 ||
        p->words.groups[group].words <= CAIRN_WORDS_STEP_RATE) {
        return 0;
    }
    const float rate =
        cairn_float_of_word(cairn_word_of(&p->words, group, CAIRN_WORDS_STEP_RATE, 0));
    return rate >= 1.0f ? cairn_word_of_float(1.0f / rate) : 0;
}

static choice choose_source(const packer *p, uint32_t group, uint32_t column) {
    choice best = {.from = {.kind = CAIRN_SOURCE_PREVIOUS,
                       .first = cairn_word_of(&p->words, group, column, 0)},
        .mode = CAIRN_COLUMN_SAME};
    best.bits = misses(p, group, column, &best.from);
    if (best.bits == 0) {
        return best;
    }
    best.from.first = 0;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i) {
        const rule *r = &rules[i];
        if ((uint32_t)r->role != p->words.groups[group].role || column < r->column ||
            column >= r->column + r->columns) {
            continue;
        }
        choice other = {.from = {.kind = r->kind,
                            .group = group_of(p, r->of),
                            .column = r->from + column - r->column,
                            .key = r->key,
                            .key_b = r->key_b},
            .mode = r->mode};
        if (r->kind == CAIRN_SOURCE_ROTATION) {
            other.from.column = r->from;
            other.from.step = r->key_b != 0 ? step_of(p) : 0;
        }
        if (r->kind == CAIRN_SOURCE_MOVED) {
            other.from.key += column - r->column;
            other.from.step = step_of(p);
        }
        if (cairn_word_source_valid(&p->words, group, column, &other.from)) {
            other.bits = misses(p, group, column, &other.from);
            best = other.bits < best.bits ? other : best;
        }
    }
    return best;
}

static bool is_on_grid(const packer *p, uint32_t group, uint32_t column) {
    for (uint32_t i = 0; i < p->words.groups[group].count; ++i) {
        const uint32_t word = cairn_word_of(&p->words, group, column, i);
        if (cairn_word_of_grid(cairn_word_grid_point(word)) != word) {
            return false;
        }
    }
    return true;
}

// Columns that predict other columns of the same element well. They become keys of these.
typedef struct key_rule {
    cairn_word_role role;
    uint32_t column, columns; // the columns that are predicted
    uint32_t first, second;   // as in column_keys
} key_rule;

#define LAST UINT32_MAX
static const key_rule key_rules[] = {
    // The pose is 0 unless the body has kept its place for some ticks.
    {CAIRN_WORDS_SLEEP, 3, 5, 2, LAST},
    // The axis of a contact predicts how many points it has and of which features. Earlier points
    // predict which later ones have an impulse.
    {CAIRN_WORDS_CONTACTS, 6, 1, 5, LAST},
    {CAIRN_WORDS_CONTACTS, 16, 1, 5, 6},
    {CAIRN_WORDS_CONTACTS, 17, 1, 5, 6},
    {CAIRN_WORDS_CONTACTS, 18, 1, 16, 5},
    {CAIRN_WORDS_CONTACTS, 19, 1, 17, 6},
    {CAIRN_WORDS_CONTACTS, 20, 1, 18, 16},
    {CAIRN_WORDS_CONTACTS, 21, 1, 19, 17},
    {CAIRN_WORDS_CONTACTS, 22, 1, 20, 18},
    {CAIRN_WORDS_CONTACTS, 23, 1, 21, 19},
    {CAIRN_WORDS_CONTACTS, 27, 1, LAST, 17},
};

static column_keys choose_keys(const packer *p, uint32_t group, uint32_t column) {
    for (size_t i = 0; i < sizeof key_rules / sizeof key_rules[0]; ++i) {
        const key_rule *r = &key_rules[i];
        if ((uint32_t)r->role == p->words.groups[group].role && column >= r->column &&
            column < r->column + r->columns) {
            return (column_keys){.named = true,
                .first = r->first == LAST ? column : r->first,
                .second = r->second == LAST ? column : r->second};
        }
    }
    return (column_keys){.first = column, .second = column + 1};
}

// Each mode codes a sample of the column, so many runs of so many elements. The shortest is chosen.
#define SAMPLE_RUNS 4
#define SAMPLE_RUN 128

static size_t sample_size(packer *p, uint32_t group, uint32_t column, const column_head *head) {
    const uint32_t count = p->words.groups[group].count;
    cairn_range_coder dry = cairn_range_encoder(NULL, 0);
    begin_column(p, head);
    if (count <= SAMPLE_RUNS * SAMPLE_RUN) {
        code_words(CAIRN_CODER_ENCODE, p, &dry, group, column, head, 0, count, false);
        return dry.position;
    }
    for (uint32_t i = 0; i < SAMPLE_RUNS; ++i) {
        const uint32_t begin = (count - SAMPLE_RUN) / (SAMPLE_RUNS - 1) * i;
        code_words(
            CAIRN_CODER_ENCODE, p, &dry, group, column, head, begin, begin + SAMPLE_RUN, false);
    }
    return dry.position;
}

// Fills in what the mode needs. False: the mode is not for this column.
static bool fit_mode(const packer *p, uint32_t group, uint32_t column, column_head *head) {
    uint32_t all = 0;
    for (uint32_t i = 0; i < p->words.groups[group].count; ++i) {
        all |= cairn_word_of(&p->words, group, column, i);
    }
    switch (head->mode) {
    case CAIRN_COLUMN_SYMBOLS:
        head->bits = all == 0 ? 0 : 32 - (uint32_t)__builtin_clz(all);
        return true;
    case CAIRN_COLUMN_FLOATS:
        head->bits = (all & 0x7fffff) == 0 ? 0 : 23 - (uint32_t)__builtin_ctz(all & 0x7fffff);
        return true;
    case CAIRN_COLUMN_GRID:
        return is_on_grid(p, group, column);
    default:
        return true;
    }
}

static bool has_zeros(
    const packer *p, uint32_t group, uint32_t column, const cairn_word_source *from) {
    for (uint32_t i = 0; i < p->words.groups[group].count; ++i) {
        if (cairn_word_of(&p->words, group, column, i) == 0 &&
            cairn_word_candidate(&p->words, group, column, from, i) != 0) {
            return true;
        }
    }
    return false;
}

// The mode in which the column is shortest.
static column_head choose_head(packer *p, uint32_t group, uint32_t column) {
    const choice chosen = choose_source(p, group, column);
    const cairn_column_mode modes[] = {
        CAIRN_COLUMN_SYMBOLS, CAIRN_COLUMN_DELTA, CAIRN_COLUMN_FLOATS, chosen.mode};
    column_head best = {.from = chosen.from, .mode = CAIRN_COLUMN_SAME};
    column_head head = best;
    size_t least = SIZE_MAX;
    if (chosen.bits == 0) {
        return best;
    }
    head.zeros = has_zeros(p, group, column, &chosen.from);
    head.keys = choose_keys(p, group, column);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
        head.mode = modes[i];
        if (modes[i] != CAIRN_COLUMN_SAME && fit_mode(p, group, column, &head)) {
            const size_t size = sample_size(p, group, column, &head);
            best = size < least ? head : best;
            least = size < least ? size : least;
        }
    }
    return best;
}

// Whether the three columns are friction in whole steps, as most contacts have it.
static bool is_friction(const packer *p, uint32_t group, uint32_t column) {
    if (p->words.groups[group].role != CAIRN_WORDS_CONTACTS || column != CAIRN_FRICTION_COLUMN ||
        !friction_possible(&p->words, group, column)) {
        return false;
    }
    uint32_t regular = 0;
    uint32_t present = 0;
    for (uint32_t i = 0; i < p->words.groups[group].count; ++i) {
        const cairn_friction_frame frame =
            cairn_friction_frame_of(cairn_word_at(&p->words, group, column, i), 0);
        for (uint32_t k = 0; k < 3; ++k) {
            const uint32_t word = cairn_word_of(&p->words, group, column + k, i);
            const int32_t steps = cairn_friction_steps(&frame, word);
            present += word != 0 ? 1 : 0;
            regular += word != 0 && cairn_friction_word(&frame, steps) == word ? 1 : 0;
        }
    }
    return regular > present / 8 * 7;
}

static void pack_groups(packer *p, cairn_range_coder *coder) {
    for (uint32_t g = 0; g < p->words.count; ++g) {
        begin_group(p, g);
        for (uint32_t c = 0; c < p->words.groups[g].words && p->words.groups[g].count > 0;) {
            column_head head = {.mode = CAIRN_COLUMN_FRICTION};
            if (!is_friction(p, g, c)) {
                head = choose_head(p, g, c);
            }
            code_head(coder, c, &head);
            c += code_column(CAIRN_CODER_ENCODE, p, coder, g, c, &head);
        }
    }
}

static bool unpack_groups(packer *p, cairn_range_coder *coder) {
    for (uint32_t g = 0; g < p->words.count; ++g) {
        begin_group(p, g);
        for (uint32_t c = 0; c < p->words.groups[g].words && p->words.groups[g].count > 0;) {
            column_head head = {.from.kind = CAIRN_SOURCE_PREVIOUS};
            code_head(coder, c, &head);
            if (!head_valid(p, g, c, &head)) {
                return false;
            }
            c += code_column(CAIRN_CODER_DECODE, p, coder, g, c, &head);
        }
    }
    return true;
}

size_t cairn_state_pack(const uint8_t *bytes, size_t size, const cairn_word_group *groups,
    uint32_t group_count, uint8_t *packed, size_t packed_size) {
    CAIRN_ASSERT(group_count >= 1 && group_count <= CAIRN_WORD_GROUPS_MAX);
    packer p = {.words = {.bytes = (uint8_t *)(uintptr_t)bytes, .count = group_count}};
    memcpy(p.words.groups, groups, group_count * sizeof *groups);
    cairn_writer writer = cairn_writer_of(packed, packed_size);
    cairn_write_count(&writer, group_count);
    for (uint32_t g = 0; g < group_count; ++g) {
        cairn_write_u8(&writer, groups[g].role == CAIRN_WORDS_BODY_SLOTS);
        cairn_write_count(&writer, groups[g].words);
        cairn_write_count(&writer, groups[g].count);
    }
    size_t coded = SIZE_MAX;
    if (writer.ok && open_packer(&p, size)) {
        cairn_range_coder coder = cairn_range_encoder(packed + writer.at, packed_size - writer.at);
        pack_groups(&p, &coder);
        coded = cairn_range_finish(&coder);
    }
    close_packer(&p);
    return coded == SIZE_MAX ? SIZE_MAX : writer.at + coded;
}

static bool read_groups(cairn_reader *reader, cairn_state_words *out) {
    const uint64_t count = cairn_read_count(reader);
    if (count < 1 || count > CAIRN_WORD_GROUPS_MAX) {
        return false;
    }
    out->count = (uint32_t)count;
    for (uint32_t g = 0; g < out->count; ++g) {
        const uint8_t slots = cairn_read_u8(reader);
        const uint64_t words = cairn_read_count(reader);
        const uint64_t elements = cairn_read_count(reader);
        if (slots > 1 || words > UINT32_MAX || elements > UINT32_MAX) {
            return false;
        }
        out->groups[g] =
            (cairn_word_group){.role = slots != 0 ? CAIRN_WORDS_BODY_SLOTS : CAIRN_WORDS_PLAIN,
                .words = (uint32_t)words,
                .count = (uint32_t)elements};
    }
    return reader->ok;
}

bool cairn_state_unpack(const uint8_t *packed, size_t packed_size, uint8_t *bytes, size_t size) {
    packer p = {.words = {.bytes = bytes}};
    cairn_reader reader = cairn_reader_of(packed, packed_size);
    bool ok = read_groups(&reader, &p.words) && open_packer(&p, size);
    if (ok) {
        const size_t left = cairn_reader_left(&reader);
        cairn_range_coder coder = cairn_range_decoder(cairn_read_view(&reader, left), left);
        ok = unpack_groups(&p, &coder);
    }
    close_packer(&p);
    return ok;
}
