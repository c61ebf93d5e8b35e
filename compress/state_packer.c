// SPDX-License-Identifier: MIT
#include "compress/state_packer.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "compress/range_coder.h"
#include "compress/state_words.h"
#include <cairn/types.h>

// How the words of a column are coded that are not their candidate.
typedef enum column_mode {
    MODE_SAME = 0, // every word is its candidate
    MODE_BYTES,    // byte by byte
    MODE_DELTA,    // as the difference to the candidate
    MODE_GRID,     // the same, of floats on the grid of reference poses
    MODE_HALVES,   // as the differences of the halves of words to those of the candidate
    MODE_COUNT
} column_mode;

// The likelihood that a decision is true, learnt from those before: fast at first.
typedef struct counter {
    cairn_probability likely;
    uint16_t seen;
} counter;

#define SEEN_MAX 126
#define LIKELY_MIN 24

typedef struct delta_model {
    counter length[64];     // of a difference in bits, as a tree
    counter leading[33][8]; // its bits after the highest
} delta_model;

typedef struct column_model {
    counter same[32];      // by what the column and the one before had lately
    counter negative;      // of a component of a unit vector
    counter upper[2][256]; // byte 3, as a tree; by whether the element before had a word of its own
    counter second[16][256]; // byte 2, by the lowest bits of byte 3
    counter lower[2][256];   // bytes 1 and 0
    counter half_same[2];
    delta_model delta[2]; // 0: of words and of their lower halves, 1: of upper halves
} column_model;

typedef struct packer {
    cairn_state_words words;
    uint8_t *same; // owned; of each element of the group: whether the last column was foreseen
    bool knows_bodies;
    column_model *model; // owned; of the column that is being coded
} packer;

CAIRN_FOR_EACH_MODE bool code_bit(
    cairn_coder_mode mode, cairn_range_coder *coder, counter *c, bool bit) {
    bit = cairn_code_bit_as(mode, coder, &c->likely, bit);
    const uint32_t gain = UINT32_C(65536) / (c->seen + 2u);
    const uint32_t now = c->likely;
    const uint32_t moved = bit ? now + ((65536 - now) * gain >> 16) : now - (now * gain >> 16);
    const uint32_t least = moved < LIKELY_MIN ? LIKELY_MIN : moved;
    c->likely = (cairn_probability)(least > 65536 - LIKELY_MIN ? 65536 - LIKELY_MIN : least);
    c->seen = (uint16_t)(c->seen + (c->seen < SEEN_MAX ? 1 : 0));
    return bit;
}

// The lowest `bits` of a value, highest first, each by those before.
CAIRN_FOR_EACH_MODE uint32_t code_tree(
    cairn_coder_mode mode, cairn_range_coder *coder, counter *tree, uint32_t bits, uint32_t value) {
    uint32_t node = 1;
    while (bits-- > 0) {
        node = node << 1 | code_bit(mode, coder, &tree[node], (value >> bits & 1) != 0);
    }
    return node;
}

CAIRN_FOR_EACH_MODE uint32_t code_bytes(
    cairn_coder_mode mode, cairn_range_coder *coder, column_model *m, bool again, uint32_t word) {
    const uint32_t b3 = code_tree(mode, coder, m->upper[again], 8, word >> 24) & 0xff;
    const uint32_t b2 = code_tree(mode, coder, m->second[b3 & 15], 8, word >> 16 & 0xff) & 0xff;
    const uint32_t b1 = code_tree(mode, coder, m->lower[1], 8, word >> 8 & 0xff) & 0xff;
    const uint32_t b0 = code_tree(mode, coder, m->lower[0], 8, word & 0xff) & 0xff;
    return b3 << 24 | b2 << 16 | b1 << 8 | b0;
}

// A difference with its sign in the lowest bit, less one since it is not 0: its length, three bits
// after the highest one by what they were before, then the others.
CAIRN_FOR_EACH_MODE uint32_t code_delta(
    cairn_coder_mode mode, cairn_range_coder *coder, delta_model *m, uint32_t delta) {
    const uint32_t folded = (delta << 1 ^ (delta >> 31 != 0 ? UINT32_MAX : 0)) - 1;
    uint32_t length = folded == 0 ? 0 : 32 - (uint32_t)__builtin_clz(folded);
    length = code_tree(mode, coder, m->length, 6, length) & 63;
    if (length > 32) {
        length = 32; // of a decoder with a malformed input
    }
    uint32_t value = length == 0 ? 0 : 1;
    uint32_t node = 1;
    uint32_t left = length == 0 ? 0 : length - 1;
    for (uint32_t i = 0; i < 3 && left > 0; ++i) {
        left -= 1;
        const bool bit =
            code_bit(mode, coder, &m->leading[length][node], (folded >> left & 1) != 0);
        node = node << 1 | bit;
        value = value << 1 | bit;
    }
    if (left > 0) {
        const uint32_t rest = folded & ((UINT32_C(1) << left) - 1);
        value = value << left | cairn_code_raw_as(mode, coder, left, rest);
    }
    value += 1;
    return value >> 1 ^ ((value & 1) != 0 ? UINT32_MAX : 0);
}

CAIRN_FOR_EACH_MODE uint32_t code_half(cairn_coder_mode mode, cairn_range_coder *coder,
    column_model *m, uint32_t which, uint32_t half, uint32_t expected) {
    const uint32_t delta = (uint32_t)(int32_t)(int16_t)(uint16_t)(half - expected);
    if (code_bit(mode, coder, &m->half_same[which], delta == 0)) {
        return expected & 0xffff;
    }
    return (expected + code_delta(mode, coder, &m->delta[which], delta)) & 0xffff;
}

// A word that is not its candidate.
CAIRN_FOR_EACH_MODE uint32_t code_word(cairn_coder_mode coding, cairn_range_coder *coder,
    column_model *m, column_mode mode, bool again, uint32_t word, uint32_t expected) {
    uint32_t point;
    switch (mode) {
    case MODE_BYTES:
        return code_bytes(coding, coder, m, again, word);
    case MODE_GRID:
        point = cairn_word_grid_point(expected);
        return cairn_word_of_grid(
            point + code_delta(coding, coder, &m->delta[0], cairn_word_grid_point(word) - point));
    case MODE_HALVES:
        point = code_half(coding, coder, m, 1, word >> 16, expected >> 16);
        return point << 16 | code_half(coding, coder, m, 0, word & 0xffff, expected & 0xffff);
    case MODE_DELTA:
    default:
        return expected + code_delta(coding, coder, &m->delta[0], word - expected);
    }
}

static void reset_model(column_model *m) {
    counter *all = (counter *)m;
    for (size_t i = 0; i < sizeof *m / sizeof *all; ++i) {
        all[i] = (counter){.likely = 32768};
    }
}

// The words of a column. `learn`: the marks of its elements are kept for the next column.
CAIRN_FOR_EACH_MODE void code_words(cairn_coder_mode coding, packer *p, cairn_range_coder *coder,
    uint32_t group, uint32_t column, const cairn_word_source *from, column_mode mode, bool learn) {
    column_model *m = p->model;
    const uint32_t count = p->words.groups[group].count;
    uint32_t lately = 7; // of this column
    if (mode != MODE_SAME) {
        reset_model(m);
    }
    for (uint32_t i = 0; i < count; ++i) {
        uint8_t *at = cairn_word_at(&p->words, group, column, i);
        uint32_t expected = cairn_word_candidate(&p->words, group, column, from, i);
        uint32_t word = coding == CAIRN_CODER_DECODE ? 0 : cairn_word_load(at);
        if (from->kind == CAIRN_SOURCE_UNIT) {
            expected |= (uint32_t)code_bit(coding, coder, &m->negative, word >> 31 != 0) << 31;
        }
        bool same = mode == MODE_SAME || word == expected;
        if (mode != MODE_SAME) {
            counter *c = &m->same[(lately & 7) | (uint32_t)(p->same[i] & 3) << 3];
            same = code_bit(coding, coder, c, same);
        }
        if (same) {
            word = expected;
        } else {
            word = code_word(coding, coder, m, mode, (lately & 1) == 0, word, expected);
        }
        if (coding == CAIRN_CODER_DECODE) {
            cairn_word_store(at, word);
        }
        lately = lately << 1 | same;
        if (learn) {
            p->same[i] = (uint8_t)(p->same[i] << 1 | same);
        }
    }
}

// How a column is coded comes before its words.
static void code_head(cairn_range_coder *coder, cairn_word_source *from, column_mode *mode) {
    *mode = (column_mode)cairn_code_raw(coder, 3, (uint32_t)*mode);
    from->kind = (cairn_source_kind)cairn_code_raw(coder, 3, (uint32_t)from->kind);
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
    if (from->kind == CAIRN_SOURCE_DIFFERENCE) {
        from->key_b = cairn_code_raw(coder, 9, from->key_b);
    }
}

static void begin_group(packer *p, uint32_t group) {
    memset(p->same, 0xff, p->words.groups[group].count);
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
    p->same = malloc(p->words.elements_max);
    p->model = malloc(sizeof *p->model);
    return p->same != NULL && p->model != NULL;
}

static void close_packer(packer *p) {
    cairn_state_words_close(&p->words);
    free(p->same);
    free(p->model);
}

// Words of contacts and of what belongs to a body, as sim/state/state.h lays them out: a packer
// that believes another layout only packs worse.
typedef struct rule {
    cairn_word_role role; // of the column
    uint32_t column, columns;
    cairn_source_kind kind;
    cairn_word_role of; // of the source
    uint32_t from, key, key_b;
    column_mode mode; // that may do better than the plain ones; MODE_SAME: none
} rule;

static const rule rules[] = {
    // A body's centre is its origin, unless its shapes lie elsewhere.
    {CAIRN_WORDS_MOTIONS, 3, 3, CAIRN_SOURCE_COLUMN, CAIRN_WORDS_MOTIONS, 0, 0, 0, MODE_SAME},
    // A rotation is a unit quaternion.
    {CAIRN_WORDS_MOTIONS, 9, 1, CAIRN_SOURCE_UNIT, CAIRN_WORDS_MOTIONS, 0, 0, 0, MODE_SAME},
    {CAIRN_WORDS_REFERENCE_POSES, 0, 3, CAIRN_SOURCE_GROUP, CAIRN_WORDS_MOTIONS, 3, 0, 0,
        MODE_GRID},
    {CAIRN_WORDS_REFERENCE_POSES, 3, 1, CAIRN_SOURCE_ROTATION, CAIRN_WORDS_MOTIONS, 6, 0, 0,
        MODE_HALVES},
    {CAIRN_WORDS_REFERENCE_POSES, 4, 1, CAIRN_SOURCE_ROTATION, CAIRN_WORDS_MOTIONS, 6, 1, 0,
        MODE_HALVES},
    {CAIRN_WORDS_SLEEP, 3, 3, CAIRN_SOURCE_GROUP, CAIRN_WORDS_REFERENCE_POSES, 0, 0, 0, MODE_GRID},
    {CAIRN_WORDS_SLEEP, 6, 2, CAIRN_SOURCE_GROUP, CAIRN_WORDS_REFERENCE_POSES, 3, 0, 0,
        MODE_HALVES},
    // As a rule a body has one shape, made with it.
    {CAIRN_WORDS_CONTACTS, 2, 2, CAIRN_SOURCE_COLUMN, CAIRN_WORDS_CONTACTS, 0, 0, 0, MODE_SAME},
    // A contact's reference is that of its bodies.
    {CAIRN_WORDS_CONTACTS, 9, 3, CAIRN_SOURCE_DIFFERENCE, CAIRN_WORDS_REFERENCE_POSES, 0, 2, 3,
        MODE_GRID},
    {CAIRN_WORDS_CONTACTS, 12, 2, CAIRN_SOURCE_LINK, CAIRN_WORDS_REFERENCE_POSES, 3, 2, 0,
        MODE_HALVES},
    {CAIRN_WORDS_CONTACTS, 14, 2, CAIRN_SOURCE_LINK, CAIRN_WORDS_REFERENCE_POSES, 3, 3, 0,
        MODE_HALVES},
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
        bits += delta == 0 ? 0 : 2 + (size == 0 ? 0 : 32 - (uint32_t)__builtin_clz(size));
    }
    return bits;
}

// How a column may be coded.
typedef struct choice {
    cairn_word_source from;
    column_mode mode; // that is tried beside the plain ones; MODE_SAME: none
    uint64_t bits;    // about, of the words that are not their candidates
} choice;

static choice choose_source(const packer *p, uint32_t group, uint32_t column) {
    choice best = {.from = {.kind = CAIRN_SOURCE_PREVIOUS}, .mode = MODE_SAME};
    best.bits = misses(p, group, column, &best.from);
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
        }
        if (cairn_word_source_valid(&p->words, group, column, &other.from)) {
            other.bits = misses(p, group, column, &other.from);
            best = other.bits < best.bits ? other : best;
        }
    }
    return best;
}

// Whether all words that are not their candidates survive the grid.
static bool is_on_grid(
    const packer *p, uint32_t group, uint32_t column, const cairn_word_source *from) {
    for (uint32_t i = 0; i < p->words.groups[group].count; ++i) {
        const uint32_t word = cairn_word_of(&p->words, group, column, i);
        if (cairn_word_of_grid(cairn_word_grid_point(word)) != word &&
            word != cairn_word_candidate(&p->words, group, column, from, i)) {
            return false;
        }
    }
    return true;
}

static size_t size_in(
    packer *p, uint32_t group, uint32_t column, const cairn_word_source *from, column_mode mode) {
    cairn_range_coder dry = cairn_range_encoder(NULL, 0);
    code_words(CAIRN_CODER_ENCODE, p, &dry, group, column, from, mode, false);
    return dry.position;
}

// The mode in which the column is shortest.
static column_mode choose_mode(packer *p, uint32_t group, uint32_t column, const choice *chosen) {
    const column_mode modes[] = {MODE_BYTES, MODE_DELTA, chosen->mode};
    column_mode best = MODE_SAME;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0] && chosen->bits > 0; ++i) {
        const bool possible =
            modes[i] != MODE_SAME &&
            (modes[i] != MODE_GRID || is_on_grid(p, group, column, &chosen->from));
        const size_t size =
            possible ? size_in(p, group, column, &chosen->from, modes[i]) : SIZE_MAX;
        best = size < least ? modes[i] : best;
        least = size < least ? size : least;
    }
    return best;
}

static void pack_column(packer *p, cairn_range_coder *coder, uint32_t group, uint32_t column) {
    choice chosen = choose_source(p, group, column);
    column_mode mode = choose_mode(p, group, column, &chosen);
    code_head(coder, &chosen.from, &mode);
    code_words(CAIRN_CODER_ENCODE, p, coder, group, column, &chosen.from, mode, true);
}

static void pack_groups(packer *p, cairn_range_coder *coder) {
    for (uint32_t g = 0; g < p->words.count; ++g) {
        begin_group(p, g);
        for (uint32_t c = 0; c < p->words.groups[g].words && p->words.groups[g].count > 0; ++c) {
            pack_column(p, coder, g, c);
        }
    }
}

static bool unpack_groups(packer *p, cairn_range_coder *coder) {
    for (uint32_t g = 0; g < p->words.count; ++g) {
        begin_group(p, g);
        for (uint32_t c = 0; c < p->words.groups[g].words && p->words.groups[g].count > 0; ++c) {
            cairn_word_source from = {.kind = CAIRN_SOURCE_PREVIOUS};
            column_mode mode = MODE_SAME;
            code_head(coder, &from, &mode);
            if (mode >= MODE_COUNT || !cairn_word_source_valid(&p->words, g, c, &from) ||
                (mode == MODE_SAME && from.kind == CAIRN_SOURCE_UNIT)) {
                return false;
            }
            code_words(CAIRN_CODER_DECODE, p, coder, g, c, &from, mode, true);
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
