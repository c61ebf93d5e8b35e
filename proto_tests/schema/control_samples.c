// SPDX-License-Identifier: MIT
#include "proto_tests/schema/samples.h"

#include "tests/kit/test.h"

#include <string.h>

#include "schema/control_tables.h"

#define LIST_COUNT 2

static const uint8_t sample_bytes[5] = {1, 2, 3, 4, 255};
static uint32_t next_value;

static float next_real(void) {
    return 0.5f + (float)next_value++;
}

static cairn_vec3 next_vec3(void) {
    const float x = next_real();
    const float y = next_real();
    return (cairn_vec3){x, y, -next_real()};
}

// Integers get values of their own; a bool becomes true.
#define FILL_NUMBER(FIELD, field) m->field = ++next_value;
#define FILL_FLAG(FIELD, field) m->field = 1;
#define FILL_BODY_KIND(FIELD, field) m->field = CAIRN_BODY_DYNAMIC;
#define FILL_MODE(FIELD, field) m->field = 3;
#define FILL_REAL(FIELD, field) m->field = next_real();
#define FILL_LIMITED_TEXT(FIELD, field, size_max) m->field = "a " #field;
#define FILL_NAME(FIELD, field) strcpy(m->field, "a " #field);
#define FILL_VEC3(FIELD, field) m->field = next_vec3();
#define FILL_QUAT(FIELD, field) m->field = (cairn_quat){0.5f, 0.5f, -0.5f, 0.5f};
#define FILL_HASH(FIELD, field)                                                                    \
    m->field = (cairn_hash128){.lo = 0x1122334455667788 + next_value++, .hi = ~(uint64_t)0};
#define FILL_ONE(FIELD, field, element, Wire) fill_##element(&m->field);
#define FILL_LIST(FIELD, field, count, element, Wire, count_max)                                   \
    m->count = LIST_COUNT;                                                                         \
    m->field = list_of_##element();
#define FILL_LIMITED_BYTES(FIELD, field, count, count_max)                                         \
    m->count = sizeof sample_bytes;                                                                \
    m->field = sample_bytes;
#define FILL_OF(KIND, ...) FILL_##KIND(__VA_ARGS__)
#define FILL_FUNCTION(structure)                                                                   \
    static void fill_##structure(cairn_control_##structure *m) {                                   \
        memset(m, 0, sizeof *m);                                                                   \
        CONTROL_MEMBERS_##structure(FILL_OF)                                                       \
    }
#define FILL_LIST_FUNCTION(element)                                                                \
    FILL_FUNCTION(element)                                                                         \
    static const cairn_control_##element *list_of_##element(void) {                                \
        static cairn_control_##element list[LIST_COUNT];                                           \
        for (uint32_t i = 0; i < LIST_COUNT; ++i) {                                                \
            fill_##element(&list[i]);                                                              \
        }                                                                                          \
        return list;                                                                               \
    }
#define FILL_REQUEST_FUNCTION(VERB, member, structure, Table) FILL_FUNCTION(structure)
#define FILL_ANSWER_FUNCTION(structure, Table) FILL_FUNCTION(structure)

// clang-format off
FILL_LIST_FUNCTION(body)
FILL_LIST_FUNCTION(feature)
FILL_LIST_FUNCTION(room)
FILL_LIST_FUNCTION(saved)
FILL_LIST_FUNCTION(client)
FILL_LIST_FUNCTION(shape)
FILL_LIST_FUNCTION(section)
FILL_LIST_FUNCTION(difference)
EACH_CONTROL_REQUEST(FILL_REQUEST_FUNCTION)
EACH_CONTROL_ANSWER_STRUCT(FILL_ANSWER_FUNCTION)
// clang-format on

#define FILL_REQUEST_CASE(VERB, member, structure, Table)                                          \
    case CAIRN_CONTROL_##VERB:                                                                     \
        fill_##structure(&request.member);                                                         \
        break;
#define FILL_ANSWER_CASE(VERB, member, structure)                                                  \
    case CAIRN_CONTROL_##VERB:                                                                     \
        fill_##structure(&answer.member);                                                          \
        break;

cairn_control_request sample_control_request(uint32_t verb) {
    cairn_control_request request = {.number = 94, .verb = verb, .room = "arena"};
    next_value = 100;
    switch (verb) {
        EACH_CONTROL_REQUEST(FILL_REQUEST_CASE)
    default:
        break;
    }
    return request;
}

cairn_control_answer sample_control_answer(uint32_t verb) {
    cairn_control_answer answer = {.number = 65,
        .verb = verb,
        .reason = "",
        .room = "arena",
        .tick = 68,
        .root = {.lo = 0x1122334455667788, .hi = 0x99aabbccddeeff00}};
    next_value = 200;
    switch (verb) {
        EACH_CONTROL_ANSWER(FILL_ANSWER_CASE)
    default:
        break;
    }
    return answer;
}

#define SAME_NUMBER(FIELD, field) assert_true(a->field == b->field);
#define SAME_BITS(FIELD, field) assert_memory_equal(&a->field, &b->field, sizeof a->field);
#define SAME_REAL(FIELD, field) SAME_BITS(FIELD, field)
#define SAME_VEC3(FIELD, field) SAME_BITS(FIELD, field)
#define SAME_HASH(FIELD, field) SAME_BITS(FIELD, field)
#define SAME_LIMITED_TEXT(FIELD, field, size_max) assert_string_equal(a->field, b->field);
#define SAME_ONE(FIELD, field, element, Wire) SAME_BITS(FIELD, field)
#define SAME_LIST(FIELD, field, count, element, Wire, count_max)                                   \
    assert_int_equal(a->count, b->count);                                                          \
    if (a->count > 0) {                                                                            \
        assert_memory_equal(a->field, b->field, a->count * sizeof *a->field);                      \
    }
#define SAME_LIMITED_BYTES(FIELD, field, count, count_max)                                         \
    SAME_LIST(FIELD, field, count, , , count_max)
#define SAME_OF(KIND, ...) SAME_##KIND(__VA_ARGS__)
#define SAME_FUNCTION(structure)                                                                   \
    static void same_##structure(                                                                  \
        const cairn_control_##structure *a, const cairn_control_##structure *b) {                  \
        CONTROL_MEMBERS_##structure(SAME_OF)                                                       \
    }
#define SAME_REQUEST_FUNCTION(VERB, member, structure, Table) SAME_FUNCTION(structure)
#define SAME_ANSWER_FUNCTION(structure, Table) SAME_FUNCTION(structure)
// clang-format off
EACH_CONTROL_REQUEST(SAME_REQUEST_FUNCTION)
EACH_CONTROL_ANSWER_STRUCT(SAME_ANSWER_FUNCTION)
// clang-format on

#define SAME_CASE(VERB, member, structure, Table)                                                  \
    case CAIRN_CONTROL_##VERB:                                                                     \
        same_##structure(&a->member, &b->member);                                                  \
        break;
#define SAME_ANSWER_CASE(VERB, member, structure) SAME_CASE(VERB, member, structure, )

void expect_same_control_request(const cairn_control_request *a, const cairn_control_request *b) {
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->verb, b->verb);
    assert_string_equal(a->room, b->room);
    switch (a->verb) {
        EACH_CONTROL_REQUEST(SAME_CASE)
    default:
        break;
    }
}

void expect_same_control_answer(const cairn_control_answer *a, const cairn_control_answer *b) {
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->verb, b->verb);
    assert_int_equal(a->refusal, b->refusal);
    assert_string_equal(a->reason, b->reason);
    assert_string_equal(a->room, b->room);
    assert_int_equal(a->tick, b->tick);
    assert_memory_equal(&a->root, &b->root, sizeof a->root);
    switch (a->refusal == CAIRN_CONTROL_DONE ? a->verb : 0) {
        EACH_CONTROL_ANSWER(SAME_ANSWER_CASE)
    default:
        break;
    }
}
