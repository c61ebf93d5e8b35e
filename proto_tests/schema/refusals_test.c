// SPDX-License-Identifier: MIT
// Each test takes a valid message, breaks one thing, and expects the refusal that names it.

#include "tests/kit/test.h"

#include <string.h>

#include "proto_tests/schema/flat.h"
#include "proto_tests/schema/samples.h"
#include "schema/game_items.h"
#include "schema/message_check.h"

#define NAN_BITS 0x7fc00000u
#define INFINITY_BITS 0x7f800000u
#define TWO_BITS 0x40000000u   // 2.0f
#define MINUS_BITS 0xbf800000u // -1.0f

typedef enum breaking {
    REMOVE,      // a field
    SET,         // 32 bits of a field
    SET_ELEMENT, // 32 bits at a byte offset into a field's vector or text
    STRETCH,     // a vector to `value` elements of `offset` bytes
    MISALIGN,    // a vector of 8-byte structs by 4
} breaking;

typedef struct broken {
    int kind; // of a message or a chunk, or a verb
    breaking how;
    unsigned field; // its id in the .fbs file
    int offset;
    uint32_t value;
    cairn_decode_refusal refusal;
} broken;

// The fields that must be there, and those of them that are texts, as bits of their ids.
typedef struct field_rule {
    int kind;
    uint32_t required;
    uint32_t texts;
} field_rule;

#define F(id) (1u << (id))
#define MESSAGE(name) CAIRN_MESSAGE_##name
#define NO(name) CAIRN_DECODE_##name

static const field_rule message_fields[] = {
    {MESSAGE(HELLO), F(4) | F(6) | F(7) | F(9), F(6) | F(7)}, {MESSAGE(INPUT), F(0), 0},
    {MESSAGE(ROOT_REPORT), F(0), 0}, {MESSAGE(RESYNC_REQUEST), F(2), 0},
    {MESSAGE(CONTROL), F(1) | F(3), F(1)},
    {MESSAGE(RESYNC_RESPONSE), F(2) | F(4) | F(5) | F(6), F(4)}, {MESSAGE(EVENT), F(4), F(4)},
    {MESSAGE(ANSWER), F(3) | F(4) | F(6) | F(8), F(4)},
    {MESSAGE(WELCOME), F(7) | F(8) | F(9) | F(10) | F(13) | F(15), F(7) | F(8) | F(10) | F(13)},
    {MESSAGE(MESH), F(9), 0}, {MESSAGE(WORLD_EVENTS), F(1), 0}, {MESSAGE(REFUSED), F(1), F(1)},
    {MESSAGE(SHAPES), F(1) | F(2) | F(3) | F(4), 0}, {MESSAGE(SNAPSHOT), F(0), 0},
    {MESSAGE(STATE), F(3), 0}, {MESSAGE(PLAYER_MESSAGE), F(0), 0},
    {MESSAGE(GAME_MESSAGES), F(3), 0}};

static const broken messages[] = {
    {MESSAGE(HELLO), SET_ELEMENT, 4, 0, 0x00000061 | 7 << 8, NO(TEXT)}, // a bell, then zeros
    {MESSAGE(HELLO), SET_ELEMENT, 4, 0, 0x00006107, NO(TEXT)},          // as the first letter
    {MESSAGE(HELLO), SET_ELEMENT, 4, 3, 0xff646e61, NO(TEXT)},
    {MESSAGE(HELLO), SET, 2, 0, 4, NO(OUT_OF_RANGE)},
    {MESSAGE(HELLO), SET, 3, 0, 2, NO(OUT_OF_RANGE)},
    {MESSAGE(ROOT_REPORT), STRETCH, 0, 24, 65, NO(COUNT_LIMIT)},
    {MESSAGE(ROOT_REPORT), MISALIGN, 0, 0, 0, NO(NOT_FLATBUFFERS)},
    {MESSAGE(ROOT_REPORT), SET_ELEMENT, 0, 24, 5, NO(ORDER)},
    {MESSAGE(RESYNC_REQUEST), STRETCH, 2, 1, CAIRN_DIFFERENCE_SKETCH_SIZE_MAX + 1, NO(COUNT_LIMIT)},
    {MESSAGE(RESYNC_REQUEST), SET, 1, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(RESYNC_REQUEST), SET, 1, 0, 4, NO(OUT_OF_RANGE)},
    {MESSAGE(RESYNC_RESPONSE), SET, 1, 0, CAIRN_RESYNC_VERDICT_COUNT, NO(OUT_OF_RANGE)},
    {MESSAGE(EVENT), SET, 0, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(EVENT), SET, 0, 0, CAIRN_EVENT_LAST + 1, NO(OUT_OF_RANGE)},
    {MESSAGE(EVENT), SET, 1, 0, 256, NO(OUT_OF_RANGE)},
    {MESSAGE(MESH), STRETCH, 9, 4, CAIRN_MESH_WORDS_PER_MESSAGE_MAX + 1, NO(COUNT_LIMIT)},
    {MESSAGE(MESH), STRETCH, 9, 4, 13, NO(OUT_OF_RANGE)}, // beyond the end of the mesh
    {MESSAGE(MESH), STRETCH, 9, 4, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(MESH), SET, 0, 0, 0x100000, NO(OUT_OF_RANGE)},
    {MESSAGE(MESH), SET, 1, 0, 3, NO(OUT_OF_RANGE)},
    {MESSAGE(MESH), SET, 1, 0, 2, NO(OUT_OF_RANGE)}, // a height field has no vertices
    {MESSAGE(MESH), SET, 2, 0, 2, NO(OUT_OF_RANGE)},
    {MESSAGE(MESH), SET, 2, 0, CAIRN_MESH_VERTICES_MAX + 1, NO(OUT_OF_RANGE)},
    {MESSAGE(MESH), SET, 3, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(MESH), SET, 3, 0, CAIRN_MESH_TRIANGLES_MAX + 1, NO(OUT_OF_RANGE)},
    {MESSAGE(MESH), SET, 8, 0, 4, NO(OUT_OF_RANGE)},
    {MESSAGE(MESH), SET, 8, 0, UINT32_MAX, NO(OUT_OF_RANGE)},
    {MESSAGE(MESH), SET_ELEMENT, 9, 8, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(MESH), SET_ELEMENT, 9, 36, 4, NO(OUT_OF_RANGE)}, // an index of no vertex
    {MESSAGE(MESH), SET_ELEMENT, 9, 40, 4, NO(OUT_OF_RANGE)},
    {MESSAGE(WORLD_EVENTS), STRETCH, 1, 64, 65, NO(COUNT_LIMIT)},
    {MESSAGE(WORLD_EVENTS), MISALIGN, 1, 0, 0, NO(NOT_FLATBUFFERS)},
    {MESSAGE(WORLD_EVENTS), SET_ELEMENT, 1, 28, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(WORLD_EVENTS), SET_ELEMENT, 1, 44, INFINITY_BITS, NO(NON_FINITE)},
    {MESSAGE(WORLD_EVENTS), SET_ELEMENT, 1, 52, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(WORLD_EVENTS), SET_ELEMENT, 1, 56, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(WORLD_EVENTS), SET_ELEMENT, 1, 8, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(WORLD_EVENTS), SET_ELEMENT, 1, 8, 6, NO(OUT_OF_RANGE)},
    {MESSAGE(WORLD_EVENTS), SET_ELEMENT, 1, 8, 7, NO(OUT_OF_RANGE)},
    {MESSAGE(WORLD_EVENTS), SET_ELEMENT, 1, 60, 1, NO(OUT_OF_RANGE)},
    {MESSAGE(WORLD_EVENTS), SET_ELEMENT, 1, 64, 94, NO(ORDER)},
    {MESSAGE(PLAYER_MESSAGE), STRETCH, 0, 1, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(PLAYER_MESSAGE), STRETCH, 0, 1, 257, NO(COUNT_LIMIT)},
    {MESSAGE(GAME_MESSAGES), STRETCH, 3, 1, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(GAME_MESSAGES), STRETCH, 3, 1, CAIRN_GAME_ITEMS_SIZE_MAX + 1, NO(COUNT_LIMIT)},
    {MESSAGE(GAME_MESSAGES), STRETCH, 3, 1, 7, NO(OUT_OF_RANGE)},              // half a head
    {MESSAGE(GAME_MESSAGES), STRETCH, 3, 1, 8, NO(OUT_OF_RANGE)},              // a head alone
    {MESSAGE(GAME_MESSAGES), SET_ELEMENT, 3, 0, 0x68000051, NO(OUT_OF_RANGE)}, // before tick 0
    {MESSAGE(GAME_MESSAGES), SET_ELEMENT, 3, 5, 0x21000003, NO(OUT_OF_RANGE)}, // ticks decrease
    {MESSAGE(SNAPSHOT), SET_ELEMENT, 1, 0, 0x68ff0002, NO(OUT_OF_RANGE)},
    {MESSAGE(SNAPSHOT), STRETCH, 2, 1, CAIRN_SHARED_PACKED_SIZE_MAX + 1, NO(COUNT_LIMIT)},
    {MESSAGE(SNAPSHOT), STRETCH, 0, 1, 14, NO(OUT_OF_RANGE)},             // half a head
    {MESSAGE(SNAPSHOT), SET_ELEMENT, 0, 0, 0x0007000f, NO(OUT_OF_RANGE)}, // tick 0
    {MESSAGE(SNAPSHOT), SET_ELEMENT, 0, 0, 0x5007500f, NO(OUT_OF_RANGE)}, // the base is tick 0
    {MESSAGE(SNAPSHOT), SET_ELEMENT, 0, 4, 0x22330882, NO(OUT_OF_RANGE)}, // 1026 shared words
    {MESSAGE(ANSWER), REMOVE, 7, 0, 0, NO(OUT_OF_RANGE)}, // no body, although the verb was done
    {MESSAGE(ANSWER), SET, 1, 0, 256 + CAIRN_CONTROL_BODIES, NO(OUT_OF_RANGE)},
    {MESSAGE(ANSWER), SET, 1, 0, CAIRN_CONTROL_GET,
        NO(OUT_OF_RANGE)}, // the body belongs to another verb
    {MESSAGE(WELCOME), SET, 11, 0, 2, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET_ELEMENT, 15, 0, 3, NO(OUT_OF_RANGE)},           // kind of a field
    {MESSAGE(WELCOME), SET_ELEMENT, 15, 4, 33, NO(OUT_OF_RANGE)},          // bits
    {MESSAGE(WELCOME), SET_ELEMENT, 15, 20, 25, NO(OUT_OF_RANGE)},         // bits of a float
    {MESSAGE(WELCOME), SET_ELEMENT, 15, 24, 0x40000000, NO(OUT_OF_RANGE)}, // lower above upper
    {MESSAGE(WELCOME), SET_ELEMENT, 15, 24, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(WELCOME), STRETCH, 15, 16, 17, NO(COUNT_LIMIT)},
    {MESSAGE(WELCOME), SET, 1, 0, 256, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 1, 0, 65536, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 2, 0, 9, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 2, 0, 241, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 3, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 3, 0, 61, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 4, 0, 4, NO(OUT_OF_RANGE)},
    {MESSAGE(REFUSED), SET, 0, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(REFUSED), SET, 0, 0, CAIRN_REFUSAL_LAST + 1, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 12, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 24, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 28, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 32, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 44, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 0, 0x100000, NO(OUT_OF_RANGE)}, // generation without index
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 4, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 8, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 8, 100, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 8, 5, NO(OUT_OF_RANGE)},  // a hull without corners
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 8, 9, NO(OUT_OF_RANGE)},  // a height field without a mesh
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 60, 1, NO(OUT_OF_RANGE)}, // a box with a mesh
    {MESSAGE(SHAPES), SET_ELEMENT, 4, 4, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 20, MINUS_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 24, MINUS_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 28, MINUS_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 56, 0, NO(OUT_OF_RANGE)}, // a rotation of length 0
    {MESSAGE(SHAPES), SET_ELEMENT, 2, 4, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(STATE), STRETCH, 3, 1, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(STATE), SET, 1, 0, 11, NO(OUT_OF_RANGE)},
    {MESSAGE(STATE), SET, 1, 0, UINT32_MAX, NO(OUT_OF_RANGE)},
    {MESSAGE(STATE), SET, 2, 0, CAIRN_STATE_SIZE_MAX + 1, NO(OUT_OF_RANGE)}};

#define VERB(name) CAIRN_CONTROL_##name

// In the table of the verb.
static const field_rule request_fields[] = {{VERB(SAVE_WRITE), F(0) | F(4), F(0)},
    {VERB(SAVE), 0, F(0)}, {VERB(LOAD), F(0), 0}, {VERB(FORK), F(0), 0},
    {VERB(ROOM_CREATE), F(1), F(1)}, {VERB(SPAWN_BOX), F(0) | F(1), 0}, {VERB(IMPULSE), F(1), 0},
    {VERB(RAY), F(1), 0}, {VERB(DIFF), 0, F(0)}, {VERB(CAST), F(0) | F(4), 0}};

static const broken requests[] = {
    {VERB(SAVE_WRITE), STRETCH, 4, 1, CAIRN_CONTROL_PIECE_SIZE_MAX + 1, NO(COUNT_LIMIT)},
    {VERB(SPAWN_BOX), SET, 0, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(SPAWN_SPHERE), SET, 1, 0, INFINITY_BITS, NO(NON_FINITE)},
    {VERB(SET_POSITION), SET, 1, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(SET_VELOCITY), SET, 2, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(IMPULSE), SET, 1, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(OVERLAP), SET, 3, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(FAULTS), SET, 1, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(CAST), SET, 4, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(CLOSEST), SET, 1, 0, NAN_BITS, NO(NON_FINITE)}};

static const field_rule answer_fields[] = {{VERB(BODIES), F(1), 0}, {VERB(GET), F(0), 0},
    {VERB(RAY), F(3), 0}, {VERB(STATE), F(0), F(1)}, {VERB(HASH), F(1), 0},
    {VERB(CLOSEST), F(4) | F(5), 0}};

static const broken answers[] = {{VERB(BODIES), SET_ELEMENT, 1, 16, NAN_BITS, NO(NON_FINITE)},
    {VERB(BODIES), SET_ELEMENT, 1, 68 + 64, INFINITY_BITS, NO(NON_FINITE)},
    {VERB(BODIES), STRETCH, 1, 68, CAIRN_CONTROL_BODIES_MAX + 1, NO(COUNT_LIMIT)},
    {VERB(BODIES), SET_ELEMENT, 1, 4, 3, NO(OUT_OF_RANGE)},   // a kind of body
    {VERB(BODIES), SET_ELEMENT, 1, 8, 2, NO(OUT_OF_RANGE)},   // awake
    {VERB(CLIENTS), SET_ELEMENT, 0, 16, 4, NO(OUT_OF_RANGE)}, // a mode
    {VERB(RAY), SET, 5, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(ROOMS), SET_ELEMENT, 0, 8, 0x0a0a0a0a, NO(TEXT)}, // in a name
    {VERB(ROOMS), MISALIGN, 0, 0, 0, NO(NOT_FLATBUFFERS)},
    {VERB(SAVE_READ), STRETCH, 2, 1, CAIRN_CONTROL_READ_SIZE_MAX + 1, NO(COUNT_LIMIT)},
    {VERB(OVERLAP), STRETCH, 1, 8, CAIRN_CONTROL_OVERLAPS_MAX + 1, NO(COUNT_LIMIT)},
    {VERB(DIFF), STRETCH, 1, 76, CAIRN_CONTROL_DIFFERENCES_MAX + 1, NO(COUNT_LIMIT)},
    {VERB(DIFF), SET_ELEMENT, 1, 12, 0x0a0a0a0a, NO(TEXT)}};

#define CHUNK(name) CAIRN_CHUNK_##name

static const field_rule chunk_fields[] = {
    {CHUNK(START), F(2) | F(3) | F(4) | F(6), F(2) | F(3) | F(4)}, {CHUNK(TICKS), F(0) | F(1), 0},
    {CHUNK(KEYFRAME), F(1), 0}, {CHUNK(REPLACE), F(1), 0},
    {CHUNK(DESYNC), F(0) | F(1) | F(2) | F(3) | F(4) | F(5), F(1) | F(2)}};

static const broken chunks[] = {{CHUNK(START), STRETCH, 6, 1, 0, NO(OUT_OF_RANGE)},
    {CHUNK(TICKS), STRETCH, 0, 32, 4097, NO(COUNT_LIMIT)},
    {CHUNK(TICKS), MISALIGN, 0, 0, 0, NO(NOT_FLATBUFFERS)},
    {CHUNK(TICKS), SET_ELEMENT, 1, 16, NAN_BITS, NO(NON_FINITE)},
    {CHUNK(TICKS), SET_ELEMENT, 1, 4, 256, NO(OUT_OF_RANGE)},
    {CHUNK(TICKS), SET_ELEMENT, 0, 32, 1002, NO(ORDER)},
    {CHUNK(KEYFRAME), STRETCH, 1, 1, 0, NO(OUT_OF_RANGE)},
    {CHUNK(REPLACE), STRETCH, 1, 1, 0, NO(OUT_OF_RANGE)},
    {CHUNK(DESYNC), SET, 0, 0, 0, NO(OUT_OF_RANGE)},           // a step to tick 0
    {CHUNK(DESYNC), SET_ELEMENT, 3, -4, 31, NO(OUT_OF_RANGE)}, // half a root
    {CHUNK(DESYNC), SET_ELEMENT, 4, -4, 15, NO(OUT_OF_RANGE)},
    {CHUNK(DESYNC), STRETCH, 5, 20, 1025, NO(COUNT_LIMIT)},
    {CHUNK(DESYNC), SET_ELEMENT, 5, 0, 13, NO(ORDER)},
    {CHUNK(DESYNC), SET_ELEMENT, 5, 20, 5, NO(ORDER)}};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static flat f;
static cairn_encoder *encoder;

typedef enum table_kind { MESSAGES, REQUESTS, ANSWERS, CHUNKS } table_kind;

static void encode_message(cairn_message_kind kind) {
    const cairn_message message = sample_message(kind);
    flat_encode_message(&f, encoder, &message);
}

static void encode_chunk(cairn_chunk_kind kind) {
    const cairn_chunk chunk = sample_chunk(kind);
    flat_encode_chunk(&f, encoder, &chunk);
}

static void encode(table_kind table, int kind) {
    if (table == MESSAGES) {
        encode_message((cairn_message_kind)kind);
    } else if (table == CHUNKS) {
        encode_chunk((cairn_chunk_kind)kind);
    } else {
        const uint32_t verb = (uint32_t)kind;
        const cairn_message request = {
            .kind = CAIRN_MESSAGE_CONTROL, .control = sample_control_request(verb)};
        const cairn_message answer = {
            .kind = CAIRN_MESSAGE_ANSWER, .answer = sample_control_answer(verb)};
        flat_encode_message(&f, encoder, table == REQUESTS ? &request : &answer);
    }
}

static void apply(const broken *b) {
    uint8_t *vector;
    switch (b->how) {
    case REMOVE:
        memset(flat_slot(&f, b->field), 0, 2);
        break;
    case SET:
        flat_put_u32(flat_field(&f, b->field), b->value);
        break;
    case SET_ELEMENT:
        flat_put_u32(flat_vector(&f, b->field) + 4 + b->offset, b->value);
        break;
    case STRETCH:
        flat_stretch(&f, b->field, b->value, (size_t)b->offset);
        break;
    case MISALIGN:
        vector = flat_field(&f, b->field);
        flat_put_u32(vector + flat_u32(vector) + 4, 1); // one element there
        flat_put_u32(vector, flat_u32(vector) + 4);
        break;
    }
}

static cairn_decode_refusal decode(cairn_direction direction) {
    cairn_message message;
    const cairn_decode_refusal refusal = cairn_message_decode(f.bytes, f.size, direction, &message);
    assert_int_equal(message.kind == CAIRN_MESSAGE_NONE, refusal != CAIRN_DECODE_OK);
    return refusal;
}

static cairn_decode_refusal decode_chunk(void) {
    cairn_chunk chunk;
    const int refusal = cairn_chunk_decode(f.bytes, f.size, &chunk);
    assert_int_equal(chunk.kind == CAIRN_CHUNK_NONE, refusal != CAIRN_DECODE_OK);
    return (cairn_decode_refusal)refusal;
}

static cairn_decode_refusal decode_as(table_kind table, int kind) {
    if (table == MESSAGES) {
        return decode(sample_direction((cairn_message_kind)kind));
    }
    return table == CHUNKS ? decode_chunk()
                           : decode(table == REQUESTS ? CAIRN_TO_SERVER : CAIRN_TO_CLIENT);
}

static void expect_refused(table_kind table, const broken *b) {
    static const char *const tables[] = {"message", "request", "answer", "chunk"};
    encode(table, b->kind);
    assert_int_equal(decode_as(table, b->kind), CAIRN_DECODE_OK);
    f.inner = table == REQUESTS ? 3 : table == ANSWERS ? 8 : 0;
    apply(b);
    const cairn_decode_refusal refusal = decode_as(table, b->kind);
    if (refusal != b->refusal) {
        fail_msg("%s %d, field %u at %d: refused as \"%s\", not as \"%s\"", tables[table], b->kind,
            b->field, b->offset, cairn_decode_refusal_text(refusal),
            cairn_decode_refusal_text(b->refusal));
    }
}

static void expect_fields_refused(table_kind table, const field_rule *rules, size_t count) {
    static const uint32_t unprintable[] = {0x0a0a0a0a, 0x7f7f7f7f, 0x1b1b1b1b};
    for (size_t i = 0; i < count; ++i) {
        for (unsigned field = 0; field < 32; ++field) {
            broken b = {rules[i].kind, REMOVE, field, 0, 0, NO(MISSING_FIELD)};
            if ((rules[i].required & F(field)) != 0) {
                expect_refused(table, &b);
            }
            for (size_t k = 0; k < COUNT_OF(unprintable); ++k) {
                b = (broken){rules[i].kind, SET_ELEMENT, field, 0, unprintable[k], NO(TEXT)};
                if ((rules[i].texts & F(field)) != 0) {
                    expect_refused(table, &b);
                }
            }
        }
    }
}

static void expect_all_refused(table_kind table, const broken *rows, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        expect_refused(table, &rows[i]);
    }
}

TEST("a message without a required field, or with an unprintable text, is refused") {
    expect_fields_refused(MESSAGES, message_fields, COUNT_OF(message_fields));
    expect_fields_refused(REQUESTS, request_fields, COUNT_OF(request_fields));
    expect_fields_refused(ANSWERS, answer_fields, COUNT_OF(answer_fields));
    expect_fields_refused(CHUNKS, chunk_fields, COUNT_OF(chunk_fields));
}

TEST("a message with one invalid value is refused for the right reason") {
    expect_all_refused(MESSAGES, messages, COUNT_OF(messages));
}

TEST("a request or answer with one invalid value is refused for the right reason") {
    expect_all_refused(REQUESTS, requests, COUNT_OF(requests));
    expect_all_refused(ANSWERS, answers, COUNT_OF(answers));
}

TEST("a chunk with one invalid value is refused for the right reason") {
    expect_all_refused(CHUNKS, chunks, COUNT_OF(chunks));
}

// The verb of a newer operator client must reach the server, whose answer says that it is unknown.
TEST("a request with an unknown verb is decoded") {
    static const uint8_t tags[] = {0, CAIRN_CONTROL_VERB_COUNT, 255};
    for (size_t i = 0; i < COUNT_OF(tags); ++i) {
        encode_message(CAIRN_MESSAGE_CONTROL);
        *flat_field(&f, 2) = tags[i];
        cairn_message message;
        assert_int_equal(
            cairn_message_decode(f.bytes, f.size, CAIRN_TO_SERVER, &message), CAIRN_DECODE_OK);
        assert_int_equal(message.control.verb, tags[i]);
        assert_int_equal(message.control.number, 94);
    }
}

TEST("a message from the wrong side is refused") {
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        encode_message((cairn_message_kind)kind);
        const bool to_server = sample_direction((cairn_message_kind)kind) == CAIRN_TO_SERVER;
        const cairn_direction other = to_server ? CAIRN_TO_CLIENT : CAIRN_TO_SERVER;
        assert_int_equal(decode(other), CAIRN_DECODE_WRONG_DIRECTION);
    }
}

TEST("a message without its body or with an unknown tag is refused") {
    static const uint8_t tags[] = {CAIRN_MESSAGE_KIND_COUNT, 255, 0};
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        const cairn_direction direction = sample_direction((cairn_message_kind)kind);
        encode_message((cairn_message_kind)kind);
        for (size_t i = 0; i < COUNT_OF(tags); ++i) {
            *flat_tag(&f) = tags[i];
            assert_int_equal(decode(direction), CAIRN_DECODE_UNKNOWN_KIND);
        }
        *flat_tag(&f) = (uint8_t)kind;
        memset(flat_body_slot(&f), 0, 2);
        assert_int_equal(decode(direction), CAIRN_DECODE_UNKNOWN_KIND);
    }
    for (int kind = CAIRN_CHUNK_START; kind < CAIRN_CHUNK_KIND_COUNT; ++kind) {
        encode_chunk((cairn_chunk_kind)kind);
        *flat_tag(&f) = CAIRN_CHUNK_KIND_COUNT;
        assert_int_equal(decode_chunk(), CAIRN_DECODE_UNKNOWN_KIND);
        *flat_tag(&f) = (uint8_t)kind;
        memset(flat_body_slot(&f), 0, 2);
        assert_int_equal(decode_chunk(), CAIRN_DECODE_UNKNOWN_KIND);
    }
}

TEST("a message without its identifier or of another size is refused") {
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        const cairn_direction direction = sample_direction((cairn_message_kind)kind);
        encode_message((cairn_message_kind)kind);
        f.bytes[4] ^= 1;
        assert_int_equal(decode(direction), CAIRN_DECODE_NOT_FLATBUFFERS);
        f.bytes[4] ^= 1;
        f.size = 7;
        assert_int_equal(decode(direction), CAIRN_DECODE_NOT_FLATBUFFERS);
        f.size = 0;
        assert_int_equal(decode(direction), CAIRN_DECODE_EMPTY);
        f.size = CAIRN_MESSAGE_SIZE_MAX + 1;
        assert_int_equal(decode(direction), CAIRN_DECODE_EMPTY);
    }
}

TEST("a message does not decode as a chunk, nor a chunk as a message") {
    encode_message(CAIRN_MESSAGE_TICKS);
    assert_int_equal(decode_chunk(), CAIRN_DECODE_NOT_FLATBUFFERS);
    encode_chunk(CAIRN_CHUNK_TICKS);
    assert_int_equal(decode(CAIRN_TO_CLIENT), CAIRN_DECODE_NOT_FLATBUFFERS);
    cairn_chunk chunk;
    assert_int_equal(cairn_chunk_decode(f.bytes, 0, &chunk), CAIRN_DECODE_EMPTY);
}

static void expect_not_encoded(const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    assert_int_equal(cairn_message_encode(encoder, message, &bytes, &size), CAIRN_INVALID_ARGUMENT);
}

TEST("a message that would be refused is not encoded") {
    cairn_message message = sample_message(CAIRN_MESSAGE_WELCOME);
    message.welcome.slot = 256;
    const uint8_t *bytes;
    size_t size;
    expect_not_encoded(&message);
    message = sample_message(CAIRN_MESSAGE_HELLO);
    message.hello.rules_name = NULL;
    expect_not_encoded(&message);
    message.hello.rules_name = "a name that is one byte too long";
    expect_not_encoded(&message);
    message = sample_message(CAIRN_MESSAGE_CONTROL);
    message.control.save_write.byte_count = CAIRN_CONTROL_PIECE_SIZE_MAX + 1;
    expect_not_encoded(&message);
    message.control = sample_control_request(CAIRN_CONTROL_LOAD);
    message.control.load.name = NULL;
    expect_not_encoded(&message);
    message.control.verb = UINT8_MAX + 1;
    expect_not_encoded(&message);
    message = sample_message(CAIRN_MESSAGE_ANSWER);
    message.answer.bodies.listed_count = CAIRN_CONTROL_BODIES_MAX + 1;
    expect_not_encoded(&message);
    message = sample_message(CAIRN_MESSAGE_TICKS);
    message.ticks.payload_size -= 1;
    expect_not_encoded(&message);
    message = sample_message(CAIRN_MESSAGE_INPUT);
    message.input.payload_size = 4;
    expect_not_encoded(&message);
    message.input.payload = NULL;
    expect_not_encoded(&message);
    message.kind = CAIRN_MESSAGE_NONE;
    expect_not_encoded(&message);
    static const uint32_t heights[4];
    message = sample_message(CAIRN_MESSAGE_MESH);
    message.mesh = (cairn_mesh_message){.mesh = message.mesh.mesh,
        .kind = CAIRN_MESH_HEIGHTS,
        .columns = 2,
        .rows = 2,
        .spacing_x = 1.0f,
        .spacing_z = 1.0f,
        .words = heights,
        .word_count = 4};
    assert_int_equal(cairn_message_encode(encoder, &message, &bytes, &size), CAIRN_OK);
    message.mesh.spacing_z = 0.0f;
    expect_not_encoded(&message);
    cairn_chunk chunk = sample_chunk(CAIRN_CHUNK_REPLACE);
    chunk.replace.state_size = 1;
    assert_int_equal(cairn_chunk_encode(encoder, &chunk, &bytes, &size), CAIRN_OK);
    chunk.replace.state_size = 0;
    assert_int_equal(cairn_chunk_encode(encoder, &chunk, &bytes, &size), CAIRN_INVALID_ARGUMENT);
}

// Payloads of INPUT and TICKS: each row breaks one rule of a head or of a record.
TEST("a packed payload that breaks a rule is refused") {
    static const struct {
        const char *name;
        cairn_message_kind kind;
        uint8_t payload[40];
        uint32_t size;
        bool valid;
    } rows[] = {
        {"an input without inputs", CAIRN_MESSAGE_INPUT, {0, 9, 0}, 3, true},
        {"no number of inputs", CAIRN_MESSAGE_INPUT, {0, 9}, 2, false},
        {"an epoch that is there and 0", CAIRN_MESSAGE_INPUT, {1, 0, 9, 0}, 4, false},
        {"a snapshot that is there and 0", CAIRN_MESSAGE_INPUT, {2, 0, 9, 0}, 4, false},
        {"nothing is shown", CAIRN_MESSAGE_INPUT, {8, 9, 0, 0}, 4, true},
        {"a span of 1024", CAIRN_MESSAGE_INPUT, {8, 9, 0x80, 8, 0, 0, 0, 0, 0, 0}, 10, true},
        {"a span of 1025", CAIRN_MESSAGE_INPUT, {8, 9, 0x81, 8, 0, 0, 0, 0, 0, 0}, 10, false},
        {"a share of 1", CAIRN_MESSAGE_INPUT, {8, 9, 1, 0, 0, 0, 0x80, 0x3f, 0}, 9, true},
        {"a share above 1", CAIRN_MESSAGE_INPUT, {8, 9, 1, 0, 1, 0, 0x80, 0x3f, 0}, 9, false},
        {"a share of -0", CAIRN_MESSAGE_INPUT, {8, 9, 1, 0, 0, 0, 0, 0x80, 0}, 9, false},
        {"a share of NaN", CAIRN_MESSAGE_INPUT, {8, 9, 1, 0, 0, 0, 0xc0, 0x7f, 0}, 9, false},
        {"64 inputs of 3 parts", CAIRN_MESSAGE_INPUT, {0, 9, 0x84, 3, 0}, 5, true},
        {"65 inputs", CAIRN_MESSAGE_INPUT, {0, 9, 0x86, 3, 0}, 5, false},
        {"a base without ticks", CAIRN_MESSAGE_INPUT, {0, 0, 7, 0}, 4, false},
        {"a base without inputs", CAIRN_MESSAGE_INPUT, {0, 9, 1}, 3, false},
        {"a tick before 0", CAIRN_MESSAGE_INPUT, {0, 9, 6, 21}, 4, false},
        {"no ticks", CAIRN_MESSAGE_TICKS, {0, 9, 0, 0}, 4, true},
        {"unknown fields", CAIRN_MESSAGE_TICKS, {16, 9, 0, 0}, 4, false},
        {"late inputs that are there and 0", CAIRN_MESSAGE_TICKS, {4, 9, 0, 0, 0}, 5, false},
        {"a tick", CAIRN_MESSAGE_TICKS, {0, 9, 0, 0, 4, 7, 1, 2, 3, 4}, 10, true},
        {"a tick without its root", CAIRN_MESSAGE_TICKS, {0, 9, 0, 0, 4, 7, 1, 2, 3}, 9, false},
        {"0 ticks left out", CAIRN_MESSAGE_TICKS, {0, 9, 0, 0, 2, 0, 1, 2, 3, 4}, 10, false},
        {"a key", CAIRN_MESSAGE_TICKS, {0, 63, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, 21, true},
        {"a key with half its root", CAIRN_MESSAGE_TICKS, {0, 63, 0, 0, 0, 1}, 13, false},
        {"a key that says it is alone", CAIRN_MESSAGE_TICKS, {0, 63, 0, 0, 1, 1}, 21, false},
        {"commands beyond the end", CAIRN_MESSAGE_TICKS, {0, 9, 0, 0, 40, 1, 2, 3}, 10, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const cairn_message message =
            rows[i].kind == CAIRN_MESSAGE_INPUT
                ? (cairn_message){.kind = rows[i].kind, .input = {rows[i].payload, rows[i].size}}
                : (cairn_message){.kind = rows[i].kind, .ticks = {rows[i].payload, rows[i].size}};
        const cairn_decode_refusal refusal = cairn_message_check(&message);
        if (refusal != (rows[i].valid ? CAIRN_DECODE_OK : CAIRN_DECODE_OUT_OF_RANGE)) {
            fail_msg("%s: %s", rows[i].name, cairn_decode_refusal_text(refusal));
        }
    }
}

TEST("every refusal has its own text") {
    for (int i = 0; i <= CAIRN_DECODE_REFUSAL_COUNT; ++i) {
        for (int k = 0; k < i; ++k) {
            assert_string_not_equal(cairn_decode_refusal_text((cairn_decode_refusal)i),
                cairn_decode_refusal_text((cairn_decode_refusal)k));
        }
    }
}

BEFORE_ALL {
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder), CAIRN_OK);
}

AFTER_ALL {
    cairn_encoder_destroy(encoder);
}

TEST("game messages are whole, in order of their ticks, and of ticks that have been") {
    static const struct {
        const char *bytes; // age in two bytes, size - 1, the bytes
        uint32_t size;
        uint64_t tick;
        bool good;
    } rows[] = {{"", 0, 5, true}, {"\0\0\0a", 4, 0, true}, {"\5\0\0a", 4, 5, true},
        {"\6\0\0a", 4, 5, false}, {"\0\1\0a", 4, 255, false}, {"\0\1\0a", 4, 256, true},
        {"\5\0\0a\5\0\0b", 8, 5, true}, {"\5\0\0a\4\0\1bc", 9, 5, true},
        {"\4\0\0a\5\0\0b", 8, 5, false}, {"\0\0\1a", 4, 5, false}, {"\0\0", 2, 5, false},
        {"\0\0\0", 3, 5, false}, {"\0\0\0a\0", 5, 5, false}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_int_equal(
            cairn_game_items_check((const uint8_t *)rows[i].bytes, rows[i].size, rows[i].tick),
            rows[i].good);
    }
}
