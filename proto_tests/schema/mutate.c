// SPDX-License-Identifier: MIT
#include "proto_tests/schema/mutate.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/random.h"
#include "schema/codec.h"
#include "schema/codec_tables.h"
#include "schema/control_tables.h"
#include "tests/kit/exact.h"

void mutation_begin(mutation *m, const uint8_t *choices, size_t size) {
    m->choices = cairn_reader_of(choices, size);
    m->used = 0;
}

static uint32_t choose(mutation *mu, uint32_t count) {
    return cairn_read_u8(&mu->choices) % count;
}

static uint64_t any_number(mutation *mu, size_t size) {
    uint64_t bits = 0;
    cairn_read_bytes(&mu->choices, &bits, size);
    return bits;
}

// An integer of 1, 2, 4 or 8 bytes; of one byte, a bool. The host is little-endian, as the fuzzers'
// machines are.
static void change_number(mutation *mu, void *number, size_t size) {
    uint64_t value = 0;
    memcpy(&value, number, size);
    switch (choose(mu, 8)) {
    case 0:
        value += 1 + choose(mu, 16);
        break;
    case 1:
        value -= 1 + choose(mu, 16);
        break;
    case 2:
        value = cairn_read_u8(&mu->choices);
        break;
    case 3:
        value = mu->near[choose(mu, MUTATION_NEAR_COUNT)];
        break;
    case 4:
        value = mu->near[choose(mu, MUTATION_NEAR_COUNT)] + cairn_read_u8(&mu->choices) - 128u;
        break;
    case 5:
        value ^= UINT64_C(1) << choose(mu, 64);
        break;
    case 6:
        value = UINT64_MAX >> choose(mu, 64);
        break;
    default:
        value = any_number(mu, size);
        break;
    }
    value &= size == sizeof(bool) ? 1 : UINT64_MAX;
    memcpy(number, &value, size);
}

static void change_real(mutation *mu, void *number, size_t size) {
    static const float values[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1e-45f, 1e-30f, 1e4f, 3.4e38f};
    float value;
    CAIRN_ASSERT(size == sizeof value);
    memcpy(&value, number, size);
    switch (choose(mu, 4)) {
    case 0:
        value = values[choose(mu, sizeof values / sizeof *values)];
        break;
    case 1:
        value = (float)(int8_t)cairn_read_u8(&mu->choices) / 16.0f;
        break;
    case 2: {
        const uint32_t bits = (uint32_t)any_number(mu, size);
        memcpy(&value, &bits, size);
        break;
    }
    default: {
        uint32_t bits;
        memcpy(&bits, &value, size);
        bits ^= 1u << choose(mu, 32);
        memcpy(&value, &bits, size);
        break;
    }
    }
    memcpy(number, &value, size);
}

// A word of a fixed struct, or a byte of one that is no multiple of words.
static void change_word(mutation *mu, void *structure, size_t size) {
    uint8_t *bytes = structure;
    if (size % 4 != 0) {
        bytes[any_number(mu, 2) % size] ^= (uint8_t)(1u << choose(mu, 8));
    } else if (size >= 8 && choose(mu, 4) == 0) {
        change_number(mu, bytes + any_number(mu, 2) % (size / 8) * 8, 8);
    } else if (choose(mu, 2) == 0) {
        change_number(mu, bytes + any_number(mu, 2) % (size / 4) * 4, 4);
    } else {
        change_real(mu, bytes + any_number(mu, 2) % (size / 4) * 4, 4);
    }
}

static void *take(mutation *mu, size_t size) {
    const size_t from = (mu->used + 7) / 8 * 8;
    if (size > sizeof mu->memory || from > sizeof mu->memory - size) {
        return NULL;
    }
    mu->used = from + size;
    return mu->memory + from;
}

static const char *change_text(mutation *mu, const char *text) {
    static const char *const texts[] = {"", "main", "sandbox", "test", "a", "other", "x y", "..",
        "\n", "an_ordinary_name_of_31_letters_", "an_ordinary_name_of_32_letters__"};
    const uint32_t count = sizeof texts / sizeof *texts;
    const uint32_t choice = choose(mu, count + 2);
    if (choice < count) {
        return texts[choice];
    }
    const size_t size = choice == count ? choose(mu, 256) : strlen(text);
    char *copy = take(mu, size + 1);
    if (copy == NULL) {
        return text;
    }
    memset(copy, 'a', size);
    copy[size] = '\0';
    memcpy(copy, text, strlen(text) < size ? strlen(text) : size);
    if (size > 0) {
        copy[choose(mu, 256) % size] = (char)cairn_read_u8(&mu->choices);
        copy[size] = '\0';
    }
    return copy;
}

// Removes, repeats, swaps or changes elements. Returns the new array, the old one if there is no
// memory for it.
static const void *change_array(
    mutation *mu, const void *array, uint32_t *count, size_t element_size) {
    const uint32_t verb = choose(mu, 8);
    if (verb == 0 && *count > 0) {
        *count = (uint32_t)any_number(mu, 2) % *count;
        return array;
    }
    const uint32_t added = verb == 1 ? choose(mu, 64) : verb <= 3 ? 1 : 0;
    uint8_t *copy = take(mu, (*count + added) * element_size);
    if (copy == NULL) {
        return array;
    }
    memset(copy, 0, (*count + added) * element_size);
    if (*count > 0) {
        memcpy(copy, array, *count * element_size);
    }
    for (uint32_t i = 0; i < added; ++i) { // of an element, or new ones
        uint8_t *end = copy + (*count + i) * element_size;
        if (*count > 0) {
            memcpy(end, copy + any_number(mu, 2) % *count * element_size, element_size);
        } else {
            cairn_read_bytes(&mu->choices, end, element_size);
        }
    }
    *count += added;
    if (*count == 0) {
        return copy;
    }
    uint8_t *a = copy + any_number(mu, 2) % *count * element_size;
    uint8_t *b = copy + any_number(mu, 2) % *count * element_size;
    if (verb == 4) {
        for (size_t i = 0; i < element_size; ++i) {
            const uint8_t kept = a[i];
            a[i] = b[i];
            b[i] = kept;
        }
    } else if (verb == 5) {
        *count -= 1;
        memmove(a, a + element_size, (size_t)(copy + *count * element_size - a));
    } else if (element_size == 1) {
        *a = cairn_read_u8(&mu->choices);
    } else {
        change_word(mu, a, element_size);
    }
    return copy;
}

// One change for each kind of member in schema/codec_tables.h and schema/control_tables.h.
#define CHANGE_NUMBER(FIELD, field)                                                                \
    _Generic((t->field), float                                                                     \
             : change_real, default                                                                \
             : change_number)(mu, &t->field, sizeof t->field);
#define CHANGE_TEXT(FIELD, field) t->field = change_text(mu, t->field);
#define CHANGE_STRUCT(FIELD, field, Wire) change_word(mu, &t->field, sizeof t->field);
#define CHANGE_ADDED(FIELD, field, Wire) CHANGE_STRUCT(FIELD, field, Wire)
#define CHANGE_BYTES(FIELD, field, count)                                                          \
    t->field = change_array(mu, t->field, &t->count, sizeof *t->field);
#define CHANGE_OPTIONAL(FIELD, field, count) CHANGE_BYTES(FIELD, field, count)
#define CHANGE_VECTOR(FIELD, field, count, Wire) CHANGE_BYTES(FIELD, field, count)
#define CHANGE_NUMBERS(FIELD, field, count, type) CHANGE_BYTES(FIELD, field, count)
#define CHANGE_REAL(FIELD, field) change_real(mu, &t->field, sizeof t->field);
#define CHANGE_VEC3(FIELD, field) CHANGE_STRUCT(FIELD, field, )
#define CHANGE_QUAT(FIELD, field) CHANGE_STRUCT(FIELD, field, )
#define CHANGE_HASH(FIELD, field) CHANGE_STRUCT(FIELD, field, )
#define CHANGE_FLAG(FIELD, field) CHANGE_NUMBER(FIELD, field)
#define CHANGE_BODY_KIND(FIELD, field) CHANGE_NUMBER(FIELD, field)
#define CHANGE_LIMITED_TEXT(FIELD, field, size_max) CHANGE_TEXT(FIELD, field)
#define CHANGE_LIMITED_BYTES(FIELD, field, count, count_max) CHANGE_BYTES(FIELD, field, count)
#define CHANGE_POINTS(FIELD, field, count, count_max) CHANGE_BYTES(FIELD, field, count)
#define CHANGE_LIST(FIELD, field, count, element, Wire, count_max) CHANGE_BYTES(FIELD, field, count)
#define CHANGE_ONE(FIELD, field, element, Wire) change_control_##element(mu, &t->field);

#define COUNT_MEMBER(KIND, ...) +1u
#define CHANGE_CHOSEN(KIND, ...)                                                                   \
    if (at-- == 0) {                                                                               \
        CHANGE_##KIND(__VA_ARGS__)                                                                 \
    }
#define CHANGE_FUNCTION(structure, Table)                                                          \
    static void change_##Table(mutation *mu, cairn_##structure *t) {                               \
        uint32_t at = choose(mu, 0 MEMBERS_##structure(COUNT_MEMBER));                             \
        MEMBERS_##structure(CHANGE_CHOSEN)                                                         \
    }
#define CHANGE_CONTROL_FUNCTION(structure)                                                         \
    static void change_control_##structure(mutation *mu, cairn_control_##structure *t) {           \
        uint32_t at = choose(mu, 0 CONTROL_MEMBERS_##structure(COUNT_MEMBER));                     \
        CONTROL_MEMBERS_##structure(CHANGE_CHOSEN)                                                 \
    }
#define CHANGE_REQUEST_FUNCTION(VERB, member, structure, Table) CHANGE_CONTROL_FUNCTION(structure)
#define CHANGE_ANSWER_FUNCTION(structure, Table) CHANGE_CONTROL_FUNCTION(structure)
// clang-format off
EACH_TABLE(CHANGE_FUNCTION)
CHANGE_CONTROL_FUNCTION(body)
CHANGE_CONTROL_FUNCTION(joint)
EACH_CONTROL_REQUEST(CHANGE_REQUEST_FUNCTION)
EACH_CONTROL_ANSWER_STRUCT(CHANGE_ANSWER_FUNCTION)
// clang-format on

#define CHANGE_REQUEST_CASE(VERB, member, structure, Table)                                        \
    case CAIRN_CONTROL_##VERB:                                                                     \
        change_control_##structure(mu, &t->member);                                                \
        break;
#define CHANGE_ANSWER_CASE(VERB, member, structure)                                                \
    case CAIRN_CONTROL_##VERB:                                                                     \
        change_control_##structure(mu, &t->member);                                                \
        break;

// Texts are never NULL.
#define BLANK_NUMBER(FIELD, field)
#define BLANK_REAL(FIELD, field)
#define BLANK_VEC3(FIELD, field)
#define BLANK_LIMITED_BYTES(FIELD, field, count, count_max)
#define BLANK_POINTS(FIELD, field, count, count_max)
#define BLANK_LIST(FIELD, field, count, element, Wire, count_max)
#define BLANK_LIMITED_TEXT(FIELD, field, size_max) t->field = "";
#define BLANK_OF(KIND, ...) BLANK_##KIND(__VA_ARGS__)
#define BLANK_REQUEST_CASE(VERB, member, structure, Table)                                         \
    case CAIRN_CONTROL_##VERB: {                                                                   \
        cairn_control_##structure *t = &request.member;                                            \
        (void)t;                                                                                   \
        CONTROL_MEMBERS_##structure(BLANK_OF) break;                                               \
    }

cairn_control_request mutation_blank_request(uint32_t verb) {
    cairn_control_request request = {.verb = verb, .room = ""};
    switch (verb) {
        EACH_CONTROL_REQUEST(BLANK_REQUEST_CASE)
    default:
        break;
    }
    return request;
}

static void change_Control(mutation *mu, cairn_control_request *t) {
    const uint32_t part = choose(mu, 8);
    if (part == 0) {
        change_number(mu, &t->number, sizeof t->number);
    } else if (part == 1) {
        t->room = change_text(mu, t->room);
    } else if (part == 2) {
        *t = mutation_blank_request(choose(mu, CAIRN_CONTROL_VERB_COUNT + 1));
    } else {
        switch (t->verb) {
            EACH_CONTROL_REQUEST(CHANGE_REQUEST_CASE)
        default:
            break;
        }
    }
}

static void change_Answer(mutation *mu, cairn_control_answer *t) {
    switch (choose(mu, 12)) {
    case 0:
        change_number(mu, &t->number, sizeof t->number);
        break;
    case 1:
        change_number(mu, &t->refusal, sizeof t->refusal);
        break;
    case 2:
        t->reason = change_text(mu, t->reason);
        break;
    case 3:
        t->room = change_text(mu, t->room);
        break;
    case 4:
        change_number(mu, &t->tick, sizeof t->tick);
        break;
    case 5:
        change_word(mu, &t->root, sizeof t->root);
        break;
    default:
        switch (t->refusal == CAIRN_CONTROL_DONE ? t->verb : 0) {
            EACH_CONTROL_ANSWER(CHANGE_ANSWER_CASE)
        default:
            break;
        }
    }
}

#define MESSAGE_CASE(KIND, member, Table)                                                          \
    case CAIRN_MESSAGE_##KIND:                                                                     \
        change_##Table(m, &message->member);                                                       \
        break;
#define CHUNK_CASE(KIND, member, Table)                                                            \
    case CAIRN_CHUNK_##KIND:                                                                       \
        change_##Table(m, &chunk->member);                                                         \
        break;

void mutate_message(mutation *m, cairn_message *message) {
    switch (message->kind) {
        EACH_MESSAGE(MESSAGE_CASE)
    case CAIRN_MESSAGE_NONE:
    case CAIRN_MESSAGE_KIND_COUNT:
        break;
    }
}

void mutate_chunk(mutation *m, cairn_chunk *chunk) {
    switch (chunk->kind) {
        EACH_CHUNK(CHUNK_CASE)
    case CAIRN_CHUNK_NONE:
    case CAIRN_CHUNK_KIND_COUNT:
        break;
    }
}

static mutation shared; // of the custom mutators; too large for a stack
static cairn_encoder *encoder;

// Returns how many members to change.
static uint32_t begin_encoded(uint8_t choices[192], uint32_t seed) {
    cairn_random random = cairn_random_of(seed);
    if (encoder == NULL) {
        CAIRN_ASSERT(cairn_encoder_create(4 * CAIRN_MESSAGE_SIZE_MAX, &encoder) == CAIRN_OK);
    }
    cairn_random_fill(&random, choices, 192);
    mutation_begin(&shared, choices, 192);
    return 1 + (uint32_t)cairn_random_below(&random, 4);
}

static size_t store(
    uint8_t *data, size_t size_max, cairn_status status, const uint8_t *bytes, size_t size) {
    if (status != CAIRN_OK || size > size_max) {
        return 0;
    }
    memcpy(data, bytes, size);
    return size;
}

// What a refused answer leaves out is zero, so that a mutation that takes the refusal away finds
// empty lists there.
static bool decode_from_either(const uint8_t *bytes, size_t size, cairn_message *out) {
    static const cairn_direction directions[] = {CAIRN_TO_SERVER, CAIRN_TO_CLIENT};
    for (uint32_t i = 0; i < 2; ++i) {
        memset(out, 0, sizeof *out);
        if (cairn_message_decode(bytes, size, directions[i], out) == CAIRN_DECODE_OK) {
            return true;
        }
    }
    return false;
}

size_t mutate_encoded_message(uint8_t *data, size_t size, size_t size_max, uint32_t seed) {
    uint8_t choices[192];
    const uint32_t changes = begin_encoded(choices, seed);
    uint8_t *exact = kit_exact_copy(data, size); // aligned
    cairn_message message;
    size_t changed = 0;
    if (decode_from_either(exact, size, &message)) {
        const uint8_t *bytes = NULL;
        for (uint32_t i = 0; i < changes; ++i) {
            mutate_message(&shared, &message);
        }
        const cairn_status status = cairn_message_encode(encoder, &message, &bytes, &changed);
        changed = store(data, size_max, status, bytes, changed);
    }
    free(exact);
    return changed;
}

size_t mutate_encoded_chunk(uint8_t *data, size_t size, size_t size_max, uint32_t seed) {
    uint8_t choices[192];
    const uint32_t changes = begin_encoded(choices, seed);
    uint8_t *exact = kit_exact_copy(data, size);
    cairn_chunk chunk;
    size_t changed = 0;
    if (cairn_chunk_decode(exact, size, &chunk) == CAIRN_DECODE_OK) {
        const uint8_t *bytes = NULL;
        for (uint32_t i = 0; i < changes; ++i) {
            mutate_chunk(&shared, &chunk);
        }
        const cairn_status status = cairn_chunk_encode(encoder, &chunk, &bytes, &changed);
        changed = store(data, size_max, status, bytes, changed);
    }
    free(exact);
    return changed;
}
