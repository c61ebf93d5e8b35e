// SPDX-License-Identifier: MIT
// For every message that is good, one thing is broken, and the refusal must name it.

#include "tests/kit/test.h"

#include <string.h>

#include "proto_tests/schema/control_samples.h"
#include "proto_tests/schema/flat.h"
#include "proto_tests/schema/samples.h"

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
    int kind;
    breaking how;
    unsigned field; // its id in the .fbs file
    int offset;
    uint32_t value;
    cairn_decode_refusal refusal;
} broken;

#define MESSAGE(name) CAIRN_MESSAGE_##name
#define NO(name) CAIRN_DECODE_##name

static const broken messages[] = {{MESSAGE(HELLO), REMOVE, 4, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(HELLO), SET_ELEMENT, 4, 0, 0x00000061 | 7 << 8, NO(TEXT)}, // a bell, then zeros
    {MESSAGE(HELLO), SET_ELEMENT, 4, 3, 0xff646e61, NO(TEXT)},
    {MESSAGE(HELLO), REMOVE, 6, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(HELLO), REMOVE, 7, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(HELLO), REMOVE, 9, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(HELLO), SET_ELEMENT, 6, 0, 0x0a0a0a0a, NO(TEXT)},
    {MESSAGE(HELLO), SET_ELEMENT, 7, 0, 0x0a0a0a0a, NO(TEXT)},
    {MESSAGE(HELLO), SET, 2, 0, 4, NO(OUT_OF_RANGE)},
    {MESSAGE(HELLO), SET, 3, 0, 2, NO(OUT_OF_RANGE)},
    {MESSAGE(INPUT), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(INPUT), STRETCH, 3, 40, 65, NO(COUNT_LIMIT)},
    {MESSAGE(INPUT), STRETCH, 3, 40, 3, NO(ORDER)},
    {MESSAGE(INPUT), MISALIGN, 3, 0, 0, NO(NOT_FLATBUFFERS)},
    {MESSAGE(INPUT), SET_ELEMENT, 3, 16, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(INPUT), SET_ELEMENT, 3, 76, INFINITY_BITS, NO(NON_FINITE)},
    {MESSAGE(INPUT), SET_ELEMENT, 3, 16, TWO_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(INPUT), SET_ELEMENT, 3, 28, TWO_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(INPUT), SET_ELEMENT, 3, 40, 100, NO(ORDER)}, // twice the same tick
    {MESSAGE(INPUT), SET_ELEMENT, 3, 40, 99, NO(ORDER)},
    {MESSAGE(INPUT), SET, 5, 0, CAIRN_SHOWN_SPAN_MAX + 1, NO(OUT_OF_RANGE)},
    {MESSAGE(INPUT), SET, 6, 0, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(INPUT), SET, 6, 0, TWO_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(INPUT), SET, 6, 0, MINUS_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(ROOT_REPORT), REMOVE, 0, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(ROOT_REPORT), STRETCH, 0, 24, 65, NO(COUNT_LIMIT)},
    {MESSAGE(ROOT_REPORT), MISALIGN, 0, 0, 0, NO(NOT_FLATBUFFERS)},
    {MESSAGE(ROOT_REPORT), SET_ELEMENT, 0, 24, 5, NO(ORDER)},
    {MESSAGE(RESYNC_REQUEST), REMOVE, 2, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(RESYNC_REQUEST), STRETCH, 2, 1, CAIRN_DIFFERENCE_SKETCH_SIZE_MAX + 1, NO(COUNT_LIMIT)},
    {MESSAGE(RESYNC_REQUEST), SET, 1, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(RESYNC_REQUEST), SET, 1, 0, 4, NO(OUT_OF_RANGE)},
    {MESSAGE(CONTROL), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(CONTROL), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(CONTROL), SET_ELEMENT, 1, 0, 0x0a0a0a0a, NO(TEXT)},
    {MESSAGE(RESYNC_RESPONSE), REMOVE, 2, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(RESYNC_RESPONSE), REMOVE, 4, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(RESYNC_RESPONSE), REMOVE, 5, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(RESYNC_RESPONSE), REMOVE, 6, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(RESYNC_RESPONSE), SET_ELEMENT, 4, 0, 0x0a0a0a0a, NO(TEXT)},
    {MESSAGE(RESYNC_RESPONSE), SET, 1, 0, CAIRN_RESYNC_VERDICT_COUNT, NO(OUT_OF_RANGE)},
    {MESSAGE(EVENT), REMOVE, 4, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(EVENT), SET_ELEMENT, 4, 0, 0x0a0a0a0a, NO(TEXT)},
    {MESSAGE(EVENT), SET, 0, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(EVENT), SET, 0, 0, CAIRN_EVENT_LAST + 1, NO(OUT_OF_RANGE)},
    {MESSAGE(EVENT), SET, 1, 0, 64, NO(OUT_OF_RANGE)},
    {MESSAGE(ANSWER), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(ANSWER), REMOVE, 4, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(ANSWER), REMOVE, 6, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(ANSWER), REMOVE, 8, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(ANSWER), REMOVE, 7, 0, 0, NO(OUT_OF_RANGE)}, // no tag, but done
    {MESSAGE(ANSWER), SET, 1, 0, 256 + CAIRN_CONTROL_BODIES, NO(OUT_OF_RANGE)},
    {MESSAGE(ANSWER), SET, 1, 0, CAIRN_CONTROL_GET, NO(OUT_OF_RANGE)}, // the body is another verb's
    {MESSAGE(ANSWER), SET_ELEMENT, 4, 0, 0x0a0a0a0a, NO(TEXT)},
    {MESSAGE(TICKS), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(WELCOME), REMOVE, 10, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(WELCOME), REMOVE, 13, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(WELCOME), SET_ELEMENT, 10, 0, 0x0a0a0a0a, NO(TEXT)},
    {MESSAGE(WELCOME), SET_ELEMENT, 13, 0, 0x0a0a0a0a, NO(TEXT)},
    {MESSAGE(WELCOME), SET, 11, 0, 2, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), REMOVE, 7, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(WELCOME), REMOVE, 8, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(WELCOME), REMOVE, 9, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(WELCOME), SET_ELEMENT, 7, 0, 0x0a0a0a0a, NO(TEXT)},
    {MESSAGE(WELCOME), SET_ELEMENT, 8, 0, 0x7f7f7f7f, NO(TEXT)},
    {MESSAGE(WELCOME), SET, 1, 0, 64, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 1, 0, 256, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 2, 0, 9, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 2, 0, 241, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 3, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 3, 0, 61, NO(OUT_OF_RANGE)},
    {MESSAGE(WELCOME), SET, 4, 0, 4, NO(OUT_OF_RANGE)},
    {MESSAGE(REFUSED), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(REFUSED), SET_ELEMENT, 1, 0, 0x1b1b1b1b, NO(TEXT)},
    {MESSAGE(REFUSED), SET, 0, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(REFUSED), SET, 0, 0, CAIRN_REFUSAL_LAST + 1, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(SHAPES), REMOVE, 2, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(SHAPES), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(SHAPES), REMOVE, 4, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 12, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 24, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 28, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 32, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 44, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 0, 0x100000, NO(OUT_OF_RANGE)}, // generation without index
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 4, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 8, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 8, 6, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 8, 5, NO(OUT_OF_RANGE)}, // a hull without corners
    {MESSAGE(SHAPES), SET_ELEMENT, 4, 4, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 20, MINUS_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 24, MINUS_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 28, MINUS_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(SHAPES), SET_ELEMENT, 1, 56, 0, NO(OUT_OF_RANGE)}, // a rotation of length 0
    {MESSAGE(SHAPES), SET_ELEMENT, 2, 4, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(KEYFRAME), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(KEYFRAME), REMOVE, 2, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(KEYFRAME), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(KEYFRAME), REMOVE, 4, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(KEYFRAME), SET_ELEMENT, 4, 8, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(KEYFRAME), SET_ELEMENT, 4, 32, INFINITY_BITS, NO(NON_FINITE)},
    {MESSAGE(KEYFRAME), SET_ELEMENT, 4, 44, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(KEYFRAME), SET_ELEMENT, 4, 116, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(KEYFRAME), SET_ELEMENT, 4, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(KEYFRAME), SET_ELEMENT, 4, 4, 6, NO(OUT_OF_RANGE)}, // a fourth body kind
    {MESSAGE(KEYFRAME), SET_ELEMENT, 4, 20, TWO_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(KEYFRAME), SET_ELEMENT, 4, 60, 0x200001, NO(ORDER)}, // the index of the first
    {MESSAGE(DELTA), REMOVE, 2, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(DELTA), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(DELTA), REMOVE, 4, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(DELTA), REMOVE, 5, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(DELTA), SET, 1, 0, 80, NO(ORDER)},
    {MESSAGE(TICKS), REMOVE, 0, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(TICKS), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(TICKS), REMOVE, 2, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(TICKS), STRETCH, 1, 32, 4097, NO(COUNT_LIMIT)},
    {MESSAGE(TICKS), MISALIGN, 1, 0, 0, NO(NOT_FLATBUFFERS)},
    {MESSAGE(TICKS), SET_ELEMENT, 1, 28, 257, NO(COUNT_LIMIT)},
    {MESSAGE(TICKS), SET_ELEMENT, 1, 24, 1, NO(OUT_OF_RANGE)}, // a gap before the first share
    {MESSAGE(TICKS), SET_ELEMENT, 1, 60, 2, NO(OUT_OF_RANGE)}, // more than there is
    {MESSAGE(TICKS), SET_ELEMENT, 1, 60, 0, NO(OUT_OF_RANGE)}, // less than there is
    {MESSAGE(TICKS), SET_ELEMENT, 1, 32, 1002, NO(ORDER)},
    {MESSAGE(TICKS), SET_ELEMENT, 1, 32, 1000, NO(ORDER)},
    {MESSAGE(TICKS), SET_ELEMENT, 2, 16, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(TICKS), SET_ELEMENT, 2, 28, NAN_BITS, NO(NON_FINITE)},
    {MESSAGE(TICKS), SET_ELEMENT, 2, 0, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(TICKS), SET_ELEMENT, 2, 40, 4, NO(OUT_OF_RANGE)},
    {MESSAGE(TICKS), SET_ELEMENT, 2, 4, 64, NO(OUT_OF_RANGE)},
    {MESSAGE(TICKS), SET_ELEMENT, 2, 16, TWO_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(TICKS), SET_ELEMENT, 2, 28, TWO_BITS, NO(OUT_OF_RANGE)},
    {MESSAGE(TICKS), SET_ELEMENT, 2, 4, 1, NO(ORDER)}, // slot 1 before slot 0
    {MESSAGE(STATE), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {MESSAGE(STATE), STRETCH, 3, 1, 0, NO(OUT_OF_RANGE)},
    {MESSAGE(STATE), SET, 1, 0, 11, NO(OUT_OF_RANGE)},
    {MESSAGE(STATE), SET, 1, 0, UINT32_MAX, NO(OUT_OF_RANGE)},
    {MESSAGE(STATE), SET, 2, 0, CAIRN_STATE_SIZE_MAX + 1, NO(OUT_OF_RANGE)}};

#define VERB(name) CAIRN_CONTROL_##name

// In the table of the verb.
static const broken requests[] = {{VERB(SAVE_WRITE), REMOVE, 0, 0, 0, NO(MISSING_FIELD)},
    {VERB(SAVE_WRITE), REMOVE, 4, 0, 0, NO(MISSING_FIELD)},
    {VERB(SAVE_WRITE), SET_ELEMENT, 0, 0, 0x0a0a0a0a, NO(TEXT)},
    {VERB(SAVE_WRITE), STRETCH, 4, 1, CAIRN_CONTROL_PIECE_SIZE_MAX + 1, NO(COUNT_LIMIT)},
    {VERB(SAVE), SET_ELEMENT, 0, 0, 0x7f7f7f7f, NO(TEXT)},
    {VERB(LOAD), REMOVE, 0, 0, 0, NO(MISSING_FIELD)},
    {VERB(FORK), REMOVE, 0, 0, 0, NO(MISSING_FIELD)},
    {VERB(ROOM_CREATE), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {VERB(ROOM_CREATE), SET_ELEMENT, 1, 0, 0x0a0a0a0a, NO(TEXT)},
    {VERB(SPAWN_BOX), REMOVE, 0, 0, 0, NO(MISSING_FIELD)},
    {VERB(SPAWN_BOX), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {VERB(SPAWN_BOX), SET, 0, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(SPAWN_SPHERE), SET, 1, 0, INFINITY_BITS, NO(NON_FINITE)},
    {VERB(SET_POSITION), SET, 1, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(SET_VELOCITY), SET, 2, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(IMPULSE), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {VERB(IMPULSE), SET, 1, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(RAY), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {VERB(OVERLAP), SET, 3, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(DIFF), SET_ELEMENT, 0, 0, 0x0a0a0a0a, NO(TEXT)},
    {VERB(FAULTS), SET, 1, 0, NAN_BITS, NO(NON_FINITE)}};

static const broken answers[] = {{VERB(BODIES), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {VERB(BODIES), SET_ELEMENT, 1, 16, NAN_BITS, NO(NON_FINITE)},
    {VERB(BODIES), SET_ELEMENT, 1, 68 + 64, INFINITY_BITS, NO(NON_FINITE)},
    {VERB(BODIES), STRETCH, 1, 68, CAIRN_CONTROL_BODIES_MAX + 1, NO(COUNT_LIMIT)},
    {VERB(BODIES), SET_ELEMENT, 1, 4, 3, NO(OUT_OF_RANGE)},   // a kind of body
    {VERB(BODIES), SET_ELEMENT, 1, 8, 2, NO(OUT_OF_RANGE)},   // awake
    {VERB(CLIENTS), SET_ELEMENT, 0, 16, 4, NO(OUT_OF_RANGE)}, // a mode
    {VERB(GET), REMOVE, 0, 0, 0, NO(MISSING_FIELD)},
    {VERB(RAY), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {VERB(RAY), SET, 5, 0, NAN_BITS, NO(NON_FINITE)},
    {VERB(STATE), REMOVE, 0, 0, 0, NO(MISSING_FIELD)},
    {VERB(STATE), SET_ELEMENT, 1, 0, 0x0a0a0a0a, NO(TEXT)},
    {VERB(ROOMS), SET_ELEMENT, 0, 8, 0x0a0a0a0a, NO(TEXT)}, // in a name
    {VERB(ROOMS), MISALIGN, 0, 0, 0, NO(NOT_FLATBUFFERS)},
    {VERB(SAVE_READ), STRETCH, 2, 1, CAIRN_CONTROL_READ_SIZE_MAX + 1, NO(COUNT_LIMIT)},
    {VERB(OVERLAP), STRETCH, 1, 8, CAIRN_CONTROL_OVERLAPS_MAX + 1, NO(COUNT_LIMIT)},
    {VERB(HASH), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {VERB(DIFF), STRETCH, 1, 76, CAIRN_CONTROL_DIFFERENCES_MAX + 1, NO(COUNT_LIMIT)},
    {VERB(DIFF), SET_ELEMENT, 1, 12, 0x0a0a0a0a, NO(TEXT)}};

#define CHUNK(name) CAIRN_CHUNK_##name

static const broken chunks[] = {{CHUNK(START), REMOVE, 2, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(START), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(START), REMOVE, 4, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(START), REMOVE, 6, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(START), SET_ELEMENT, 2, 0, 0x0a0a0a0a, NO(TEXT)},
    {CHUNK(START), SET_ELEMENT, 3, 0, 0x0a0a0a0a, NO(TEXT)},
    {CHUNK(START), SET_ELEMENT, 4, 0, 0x0a0a0a0a, NO(TEXT)},
    {CHUNK(START), STRETCH, 6, 1, 0, NO(OUT_OF_RANGE)},
    {CHUNK(TICKS), REMOVE, 0, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(TICKS), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(TICKS), STRETCH, 0, 32, 4097, NO(COUNT_LIMIT)},
    {CHUNK(TICKS), MISALIGN, 0, 0, 0, NO(NOT_FLATBUFFERS)},
    {CHUNK(TICKS), SET_ELEMENT, 1, 16, NAN_BITS, NO(NON_FINITE)},
    {CHUNK(TICKS), SET_ELEMENT, 1, 4, 64, NO(OUT_OF_RANGE)},
    {CHUNK(TICKS), SET_ELEMENT, 0, 32, 1002, NO(ORDER)},
    {CHUNK(KEYFRAME), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(KEYFRAME), STRETCH, 1, 1, 0, NO(OUT_OF_RANGE)},
    {CHUNK(REPLACE), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(REPLACE), STRETCH, 1, 1, 0, NO(OUT_OF_RANGE)},
    {CHUNK(DESYNC), REMOVE, 0, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(DESYNC), REMOVE, 1, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(DESYNC), REMOVE, 2, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(DESYNC), REMOVE, 3, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(DESYNC), REMOVE, 4, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(DESYNC), REMOVE, 5, 0, 0, NO(MISSING_FIELD)},
    {CHUNK(DESYNC), SET_ELEMENT, 1, 0, 0x0a0a0a0a, NO(TEXT)},
    {CHUNK(DESYNC), SET_ELEMENT, 2, 0, 0x0a0a0a0a, NO(TEXT)},
    {CHUNK(DESYNC), SET, 0, 0, 0, NO(OUT_OF_RANGE)},           // a step to tick 0
    {CHUNK(DESYNC), SET_ELEMENT, 3, -4, 31, NO(OUT_OF_RANGE)}, // half a root
    {CHUNK(DESYNC), SET_ELEMENT, 4, -4, 15, NO(OUT_OF_RANGE)},
    {CHUNK(DESYNC), STRETCH, 5, 20, 1025, NO(COUNT_LIMIT)},
    {CHUNK(DESYNC), SET_ELEMENT, 5, 0, 13, NO(ORDER)},
    {CHUNK(DESYNC), SET_ELEMENT, 5, 20, 5, NO(ORDER)}};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static flat f;
static cairn_encoder *encoder;

static void encode_message(cairn_message_kind kind) {
    const cairn_message message = sample_message(kind);
    const uint8_t *bytes;
    size_t size;
    assert_int_equal(cairn_message_encode(encoder, &message, &bytes, &size), CAIRN_OK);
    flat_copy(&f, bytes, size);
}

static void encode_chunk(cairn_chunk_kind kind) {
    const cairn_chunk chunk = sample_chunk(kind);
    const uint8_t *bytes;
    size_t size;
    assert_int_equal(cairn_chunk_encode(encoder, &chunk, &bytes, &size), CAIRN_OK);
    flat_copy(&f, bytes, size);
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
        flat_put_u32(vector + flat_u32(vector) + 4, 0); // an empty one there
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

TEST("each broken message is refused by name") {
    for (size_t i = 0; i < COUNT_OF(messages); ++i) {
        const broken *b = &messages[i];
        encode_message((cairn_message_kind)b->kind);
        assert_int_equal(decode(sample_direction((cairn_message_kind)b->kind)), CAIRN_DECODE_OK);
        apply(b);
        const cairn_decode_refusal refusal = decode(sample_direction((cairn_message_kind)b->kind));
        if (refusal != b->refusal) {
            fail_msg("row %zu of kind %d: %s, not %s", i, b->kind,
                cairn_decode_refusal_text(refusal), cairn_decode_refusal_text(b->refusal));
        }
    }
}

static void encode_control(const broken *b, bool is_request) {
    const uint8_t *bytes;
    size_t size;
    cairn_message message = {
        .kind = CAIRN_MESSAGE_CONTROL, .control = sample_control_request((uint32_t)b->kind)};
    if (!is_request) {
        message = (cairn_message){
            .kind = CAIRN_MESSAGE_ANSWER, .answer = sample_control_answer((uint32_t)b->kind)};
    }
    assert_int_equal(cairn_message_encode(encoder, &message, &bytes, &size), CAIRN_OK);
    flat_copy(&f, bytes, size);
}

static void expect_control_refused(const broken *b, bool is_request) {
    const cairn_direction direction = is_request ? CAIRN_TO_SERVER : CAIRN_TO_CLIENT;
    encode_control(b, is_request);
    assert_int_equal(decode(direction), CAIRN_DECODE_OK);
    f.inner = is_request ? 3 : 8;
    apply(b);
    const cairn_decode_refusal refusal = decode(direction);
    if (refusal != b->refusal) {
        fail_msg("verb %d, field %u: %s, not %s", b->kind, b->field,
            cairn_decode_refusal_text(refusal), cairn_decode_refusal_text(b->refusal));
    }
}

TEST("each broken verb is refused by name") {
    for (size_t i = 0; i < COUNT_OF(requests); ++i) {
        expect_control_refused(&requests[i], true);
    }
    for (size_t i = 0; i < COUNT_OF(answers); ++i) {
        expect_control_refused(&answers[i], false);
    }
}

// A newer operator's verb must reach the server, which refuses it by name.
TEST("a verb that is unknown is no broken message") {
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

TEST("each broken chunk is refused by name") {
    for (size_t i = 0; i < COUNT_OF(chunks); ++i) {
        encode_chunk((cairn_chunk_kind)chunks[i].kind);
        assert_int_equal(decode_chunk(), CAIRN_DECODE_OK);
        apply(&chunks[i]);
        const cairn_decode_refusal refusal = decode_chunk();
        if (refusal != chunks[i].refusal) {
            fail_msg("row %zu: %s, not %s", i, cairn_decode_refusal_text(refusal),
                cairn_decode_refusal_text(chunks[i].refusal));
        }
    }
}

TEST("every kind may come from one side only") {
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        encode_message((cairn_message_kind)kind);
        const bool to_server = sample_direction((cairn_message_kind)kind) == CAIRN_TO_SERVER;
        const cairn_direction other = to_server ? CAIRN_TO_CLIENT : CAIRN_TO_SERVER;
        assert_int_equal(decode(other), CAIRN_DECODE_WRONG_DIRECTION);
    }
}

TEST("every kind needs its body and a tag that is known") {
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        const cairn_direction direction = sample_direction((cairn_message_kind)kind);
        encode_message((cairn_message_kind)kind);
        *flat_tag(&f) = CAIRN_MESSAGE_KIND_COUNT;
        assert_int_equal(decode(direction), CAIRN_DECODE_UNKNOWN_KIND);
        *flat_tag(&f) = 255;
        assert_int_equal(decode(direction), CAIRN_DECODE_UNKNOWN_KIND);
        *flat_tag(&f) = 0;
        assert_int_equal(decode(direction), CAIRN_DECODE_UNKNOWN_KIND);
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

TEST("every kind needs its identifier and all its bytes") {
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

TEST("a message is no chunk and a chunk no message") {
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

TEST("a message that is refused is not encoded") {
    cairn_message message = sample_message(CAIRN_MESSAGE_WELCOME);
    message.welcome.slot = 64;
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
    message.ticks.digest_count = 1;
    expect_not_encoded(&message);
    message = sample_message(CAIRN_MESSAGE_INPUT);
    message.input.inputs = NULL;
    expect_not_encoded(&message);
    const cairn_wire_tick last = {.tick = UINT64_MAX}; // has no world after it
    message = sample_message(CAIRN_MESSAGE_TICKS);
    message.ticks = (cairn_ticks_message){.ticks = &last, .tick_count = 1};
    expect_not_encoded(&message);
    message.kind = CAIRN_MESSAGE_NONE;
    expect_not_encoded(&message);
    cairn_chunk chunk = sample_chunk(CAIRN_CHUNK_REPLACE);
    chunk.replace.state_size = 0;
    assert_int_equal(cairn_chunk_encode(encoder, &chunk, &bytes, &size), CAIRN_INVALID_ARGUMENT);
}

TEST("every refusal has its words") {
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
