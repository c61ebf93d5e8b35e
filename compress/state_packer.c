// SPDX-License-Identifier: MIT
#include "compress/state_packer.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "compress/range_coder.h"
#include <cairn/types.h>

// Where the candidate of a word is: the value that it is likely to have.
typedef enum source_kind {
    SOURCE_PREVIOUS = 0, // the same column of the element before; of the first one 0
    SOURCE_COLUMN,       // another column of the same element, coded before
    SOURCE_GROUP,        // a column of an earlier group, in the element with the same number
    SOURCE_LINK,         // the same, in the element of the body that column `key` names by its id
    SOURCE_DIFFERENCE,   // as floats, that of `key_b` less that of `key`
    SOURCE_COUNT
} source_kind;

typedef struct source {
    source_kind kind;
    uint32_t group, column, key, key_b;
} source;

// How the words of a column are coded that are not their candidate.
typedef enum column_mode {
    MODE_SAME = 0, // every word is its candidate
    MODE_BYTES,    // byte by byte
    MODE_DELTA,    // as the difference to the candidate
    MODE_COUNT
} column_mode;

// The likelihood that a decision is true, learnt from those before: fast at first.
typedef struct counter {
    cairn_probability likely;
    uint16_t seen;
} counter;

#define SEEN_MAX 126
#define LIKELY_MIN 24

typedef struct column_model {
    counter same[32];      // by what the column and the one before had lately
    counter upper[2][256]; // byte 3, as a tree; by whether the element before had a word of its own
    counter second[16][256]; // byte 2, by the lowest bits of byte 3
    counter lower[2][256];   // bytes 1 and 0
    counter length[64];      // of a difference in bits, as a tree
    counter leading[33][8];  // its bits after the highest
} column_model;

// The groups as they lie in the bytes of the state.
typedef struct layout {
    cairn_word_group groups[CAIRN_WORD_GROUPS_MAX];
    size_t offset[CAIRN_WORD_GROUPS_MAX]; // in bytes
    uint32_t count;
    uint32_t elements_max; // of the largest group
    uint32_t slots;        // the group of the slots of bodies; CAIRN_WORD_GROUPS_MAX: none
} layout;

typedef struct packer {
    layout layout;
    uint8_t *bytes; // of the state; an encoder does not write them
    uint8_t *same;  // owned; of each element of the group: whether the last column was foreseen
    uint32_t
        *elements;     // owned; of each slot of a body, the number of its element; UINT32_MAX: none
    bool has_elements; // they are filled
    column_model *model; // owned; of the column that is being coded
} packer;

static uint32_t load(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void store(uint8_t *at, uint32_t word) {
    at[0] = (uint8_t)word;
    at[1] = (uint8_t)(word >> 8);
    at[2] = (uint8_t)(word >> 16);
    at[3] = (uint8_t)(word >> 24);
}

// False: too many groups, or no such sizes.
static bool lay_out(layout *l, size_t size) {
    size_t words = 0;
    l->slots = CAIRN_WORD_GROUPS_MAX;
    l->elements_max = 1;
    for (uint32_t g = 0; g < l->count; ++g) {
        const cairn_word_group *group = &l->groups[g];
        l->offset[g] = words * sizeof(uint32_t);
        if (group->words < 1 || group->words > CAIRN_WORD_GROUP_WORDS_MAX ||
            group->count > (size / sizeof(uint32_t) - words) / group->words) {
            return false;
        }
        words += (size_t)group->words * group->count;
        l->elements_max = group->count > l->elements_max ? group->count : l->elements_max;
        if (group->role == CAIRN_WORDS_BODY_SLOTS) {
            l->slots = g;
        }
    }
    return words * sizeof(uint32_t) == size;
}

static const uint8_t *word_at(const packer *p, uint32_t group, uint32_t column, uint32_t element) {
    const size_t word = (size_t)element * p->layout.groups[group].words + column;
    return p->bytes + p->layout.offset[group] + word * sizeof(uint32_t);
}

// Whether a source names words that are coded before column `column` of group `group`.
static bool is_source_valid(const packer *p, uint32_t group, uint32_t column, const source *from) {
    const layout *l = &p->layout;
    const bool earlier = from->group < group && from->column < l->groups[from->group].words;
    switch (from->kind) {
    case SOURCE_PREVIOUS:
        return true;
    case SOURCE_COLUMN:
        return from->column < column;
    case SOURCE_GROUP:
        return earlier;
    case SOURCE_LINK:
        return earlier && l->slots < group && from->key < column;
    case SOURCE_DIFFERENCE:
        return earlier && l->slots < group && from->key < column && from->key_b < column;
    case SOURCE_COUNT:
        break;
    }
    return false;
}

// Of each slot the number of its element, from the slots, which are coded before.
static void count_elements(packer *p) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < p->layout.groups[p->layout.slots].count; ++i) {
        const bool taken = (load(word_at(p, p->layout.slots, 0, i)) >> 31) != 0;
        p->elements[i] = taken ? next++ : UINT32_MAX;
    }
    p->has_elements = true;
}

// The word of the body with this id; 0 if no body has it.
static uint32_t linked(const packer *p, const source *from, uint32_t id) {
    const uint32_t slot = cairn_id_index(id);
    const uint32_t element =
        slot < p->layout.groups[p->layout.slots].count ? p->elements[slot] : UINT32_MAX;
    return element < p->layout.groups[from->group].count
               ? load(word_at(p, from->group, from->column, element))
               : 0;
}

static uint32_t difference(uint32_t of, uint32_t from) {
    float a, b;
    memcpy(&a, &of, sizeof a);
    memcpy(&b, &from, sizeof b);
    const float value = a - b;
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return value == value ? word : 0; // which bits a NaN has differs between machines
}

static uint32_t candidate(
    const packer *p, uint32_t group, uint32_t column, const source *from, uint32_t element) {
    switch (from->kind) {
    case SOURCE_PREVIOUS:
        return element == 0 ? 0 : load(word_at(p, group, column, element - 1));
    case SOURCE_COLUMN:
        return load(word_at(p, group, from->column, element));
    case SOURCE_GROUP:
        return element < p->layout.groups[from->group].count
                   ? load(word_at(p, from->group, from->column, element))
                   : 0;
    case SOURCE_LINK:
        return linked(p, from, load(word_at(p, group, from->key, element)));
    case SOURCE_DIFFERENCE:
        return difference(linked(p, from, load(word_at(p, group, from->key_b, element))),
            linked(p, from, load(word_at(p, group, from->key, element))));
    case SOURCE_COUNT:
        break;
    }
    return 0;
}

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
    cairn_coder_mode mode, cairn_range_coder *coder, column_model *m, uint32_t delta) {
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

static void reset_model(column_model *m) {
    counter *all = (counter *)m;
    for (size_t i = 0; i < sizeof *m / sizeof *all; ++i) {
        all[i] = (counter){.likely = 32768};
    }
}

// The words of a column. `learn`: the marks of its elements are kept for the next column.
CAIRN_FOR_EACH_MODE void code_words(cairn_coder_mode coding, packer *p, cairn_range_coder *coder,
    uint32_t group, uint32_t column, const source *from, column_mode mode, bool learn) {
    column_model *m = p->model;
    const uint32_t count = p->layout.groups[group].count;
    uint32_t lately = 7; // of this column
    if (mode != MODE_SAME) {
        reset_model(m);
    }
    for (uint32_t i = 0; i < count; ++i) {
        uint8_t *at = (uint8_t *)(uintptr_t)word_at(p, group, column, i);
        const uint32_t expected = candidate(p, group, column, from, i);
        uint32_t word = coding == CAIRN_CODER_DECODE ? 0 : load(at);
        bool same = mode == MODE_SAME || word == expected;
        if (mode != MODE_SAME) {
            counter *c = &m->same[(lately & 7) | (uint32_t)(p->same[i] & 3) << 3];
            same = code_bit(coding, coder, c, same);
        }
        if (same) {
            word = expected;
        } else if (mode == MODE_BYTES) {
            word = code_bytes(coding, coder, m, (lately & 1) == 0, word);
        } else {
            word = expected + code_delta(coding, coder, m, word - expected);
        }
        if (coding == CAIRN_CODER_DECODE) {
            store(at, word);
        }
        lately = lately << 1 | same;
        if (learn) {
            p->same[i] = (uint8_t)(p->same[i] << 1 | same);
        }
    }
}

// How a column is coded comes before its words.
static void code_head(cairn_range_coder *coder, source *from, column_mode *mode) {
    *mode = (column_mode)cairn_code_raw(coder, 2, (uint32_t)*mode);
    from->kind = (source_kind)cairn_code_raw(coder, 3, (uint32_t)from->kind);
    if (from->kind >= SOURCE_GROUP) {
        from->group = cairn_code_raw(coder, 5, from->group);
    }
    if (from->kind >= SOURCE_COLUMN) {
        from->column = cairn_code_raw(coder, 9, from->column);
    }
    if (from->kind >= SOURCE_LINK) {
        from->key = cairn_code_raw(coder, 9, from->key);
    }
    if (from->kind >= SOURCE_DIFFERENCE) {
        from->key_b = cairn_code_raw(coder, 9, from->key_b);
    }
}

static void begin_group(packer *p, uint32_t group) {
    memset(p->same, 0xff, p->layout.groups[group].count);
    if (group > p->layout.slots && !p->has_elements) {
        count_elements(p);
    }
}

// The layout is filled in. False: memory is short.
static bool open_packer(packer *p) {
    const uint32_t slots =
        p->layout.slots < CAIRN_WORD_GROUPS_MAX ? p->layout.groups[p->layout.slots].count : 0;
    p->same = malloc(p->layout.elements_max);
    p->elements = malloc((slots + 1) * sizeof *p->elements);
    p->model = malloc(sizeof *p->model);
    return p->same != NULL && p->elements != NULL && p->model != NULL;
}

static void close_packer(packer *p) {
    free(p->same);
    free(p->elements);
    free(p->model);
}

// Words of contacts and of what belongs to a body, as sim/state/state.h lays them out: a packer
// that believes another layout only packs worse.
typedef struct rule {
    cairn_word_role role; // of the column
    uint32_t column, columns;
    source_kind kind;
    cairn_word_role of; // of the source
    uint32_t from, key, key_b;
} rule;

static const rule rules[] = {
    // A body's centre is its origin, unless its shapes lie elsewhere.
    {CAIRN_WORDS_MOTIONS, 3, 3, SOURCE_COLUMN, CAIRN_WORDS_MOTIONS, 0, 0, 0},
    {CAIRN_WORDS_REFERENCE_POSES, 0, 3, SOURCE_GROUP, CAIRN_WORDS_MOTIONS, 3, 0, 0},
    {CAIRN_WORDS_SLEEP, 3, 5, SOURCE_GROUP, CAIRN_WORDS_REFERENCE_POSES, 0, 0, 0},
    // A contact's reference is that of its bodies.
    {CAIRN_WORDS_CONTACTS, 9, 3, SOURCE_DIFFERENCE, CAIRN_WORDS_REFERENCE_POSES, 0, 2, 3},
    {CAIRN_WORDS_CONTACTS, 12, 2, SOURCE_LINK, CAIRN_WORDS_REFERENCE_POSES, 3, 2, 0},
    {CAIRN_WORDS_CONTACTS, 14, 2, SOURCE_LINK, CAIRN_WORDS_REFERENCE_POSES, 3, 3, 0},
};

static uint32_t group_of(const packer *p, cairn_word_role role) {
    uint32_t group = 0;
    while (group < p->layout.count && p->layout.groups[group].role != (uint32_t)role) {
        group += 1;
    }
    return group;
}

// Bits of the differences to the candidates.
static uint64_t misses(const packer *p, uint32_t group, uint32_t column, const source *from) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < p->layout.groups[group].count; ++i) {
        const uint32_t delta =
            load(word_at(p, group, column, i)) - candidate(p, group, column, from, i);
        const uint32_t size = delta >> 31 != 0 ? ~delta : delta;
        bits += delta == 0 ? 0 : 2 + (size == 0 ? 0 : 32 - (uint32_t)__builtin_clz(size));
    }
    return bits;
}

static source choose_source(const packer *p, uint32_t group, uint32_t column, uint64_t *bits) {
    source best = {.kind = SOURCE_PREVIOUS};
    *bits = misses(p, group, column, &best);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i) {
        const rule *r = &rules[i];
        if ((uint32_t)r->role != p->layout.groups[group].role || column < r->column ||
            column >= r->column + r->columns) {
            continue;
        }
        const source other = {.kind = r->kind,
            .group = group_of(p, r->of),
            .column = r->from + column - r->column,
            .key = r->key,
            .key_b = r->key_b};
        const uint64_t other_bits = is_source_valid(p, group, column, &other)
                                        ? misses(p, group, column, &other)
                                        : UINT64_MAX;
        best = other_bits < *bits ? other : best;
        *bits = other_bits < *bits ? other_bits : *bits;
    }
    return best;
}

static size_t size_in(
    packer *p, uint32_t group, uint32_t column, const source *from, column_mode mode) {
    cairn_range_coder dry = cairn_range_encoder(NULL, 0);
    code_words(CAIRN_CODER_ENCODE, p, &dry, group, column, from, mode, false);
    return dry.position;
}

static void pack_column(packer *p, cairn_range_coder *coder, uint32_t group, uint32_t column) {
    uint64_t bits;
    source from = choose_source(p, group, column, &bits);
    column_mode mode = MODE_SAME;
    if (bits > 0) {
        mode = size_in(p, group, column, &from, MODE_DELTA) <
                       size_in(p, group, column, &from, MODE_BYTES)
                   ? MODE_DELTA
                   : MODE_BYTES;
    }
    code_head(coder, &from, &mode);
    code_words(CAIRN_CODER_ENCODE, p, coder, group, column, &from, mode, true);
}

static void pack_groups(packer *p, cairn_range_coder *coder) {
    for (uint32_t g = 0; g < p->layout.count; ++g) {
        begin_group(p, g);
        for (uint32_t c = 0; c < p->layout.groups[g].words && p->layout.groups[g].count > 0; ++c) {
            pack_column(p, coder, g, c);
        }
    }
}

static bool unpack_groups(packer *p, cairn_range_coder *coder) {
    for (uint32_t g = 0; g < p->layout.count; ++g) {
        begin_group(p, g);
        for (uint32_t c = 0; c < p->layout.groups[g].words && p->layout.groups[g].count > 0; ++c) {
            source from = {.kind = SOURCE_PREVIOUS};
            column_mode mode = MODE_SAME;
            code_head(coder, &from, &mode);
            if (mode >= MODE_COUNT || !is_source_valid(p, g, c, &from)) {
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
    packer p = {.bytes = (uint8_t *)(uintptr_t)bytes, .layout = {.count = group_count}};
    memcpy(p.layout.groups, groups, group_count * sizeof *groups);
    const bool fits = lay_out(&p.layout, size);
    CAIRN_ASSERT(fits);
    cairn_writer writer = cairn_writer_of(packed, packed_size);
    cairn_write_count(&writer, group_count);
    for (uint32_t g = 0; g < group_count; ++g) {
        cairn_write_u8(&writer, groups[g].role == CAIRN_WORDS_BODY_SLOTS);
        cairn_write_count(&writer, groups[g].words);
        cairn_write_count(&writer, groups[g].count);
    }
    size_t coded = SIZE_MAX;
    if (writer.ok && open_packer(&p)) {
        cairn_range_coder coder = cairn_range_encoder(packed + writer.at, packed_size - writer.at);
        pack_groups(&p, &coder);
        coded = cairn_range_finish(&coder);
    }
    close_packer(&p);
    return coded == SIZE_MAX ? SIZE_MAX : writer.at + coded;
}

static bool read_layout(cairn_reader *reader, layout *out, size_t size) {
    const uint64_t count = cairn_read_count(reader);
    if (count < 1 || count > CAIRN_WORD_GROUPS_MAX) {
        return false;
    }
    *out = (layout){.count = (uint32_t)count};
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
    return reader->ok && lay_out(out, size);
}

bool cairn_state_unpack(const uint8_t *packed, size_t packed_size, uint8_t *bytes, size_t size) {
    packer p = {.bytes = bytes};
    cairn_reader reader = cairn_reader_of(packed, packed_size);
    if (!read_layout(&reader, &p.layout, size)) {
        return false;
    }
    bool ok = open_packer(&p);
    if (ok) {
        const size_t left = cairn_reader_left(&reader);
        cairn_range_coder coder = cairn_range_decoder(cairn_read_view(&reader, left), left);
        ok = unpack_groups(&p, &coder);
    }
    close_packer(&p);
    return ok;
}
