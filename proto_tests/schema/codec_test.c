// SPDX-License-Identifier: MIT

#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto_tests/schema/control_samples.h"
#include "proto_tests/schema/flat.h"
#include "proto_tests/schema/samples.h"
#include "tests/kit/exact.h"

SCOPE_POINTER_ENDS(cairn_encoder, cairn_encoder_destroy)

static cairn_encoder *encoder;
static flat f;

static void encode(const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    assert_int_equal(cairn_message_encode(encoder, message, &bytes, &size), CAIRN_OK);
    assert_int_equal((uintptr_t)bytes % 8, 0);
    assert_int_equal(size % 8, 0);
    flat_copy(&f, bytes, size);
}

static void encode_chunk(const cairn_chunk *chunk) {
    const uint8_t *bytes;
    size_t size;
    assert_int_equal(cairn_chunk_encode(encoder, chunk, &bytes, &size), CAIRN_OK);
    flat_copy(&f, bytes, size);
}

static cairn_message decode(cairn_message_kind kind) {
    cairn_message message;
    assert_int_equal(cairn_message_decode(f.bytes, f.size, sample_direction(kind), &message), 0);
    return message;
}

TEST("every message comes back as it went") {
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        const cairn_message sent = sample_message((cairn_message_kind)kind);
        encode(&sent);
        const cairn_message taken = decode((cairn_message_kind)kind);
        expect_same_message(&sent, &taken);
    }
}

TEST("every verb comes back as it went") {
    for (uint32_t verb = 1; verb <= CAIRN_CONTROL_VERB_COUNT; ++verb) {
        const cairn_message request = {
            .kind = CAIRN_MESSAGE_CONTROL, .control = sample_control_request(verb)};
        encode(&request);
        const cairn_message taken_request = decode(CAIRN_MESSAGE_CONTROL);
        expect_same_message(&request, &taken_request);
        cairn_message answer = {
            .kind = CAIRN_MESSAGE_ANSWER, .answer = sample_control_answer(verb)};
        encode(&answer);
        const cairn_message taken_answer = decode(CAIRN_MESSAGE_ANSWER);
        expect_same_message(&answer, &taken_answer);
        answer.answer.refusal = CAIRN_CONTROL_BUSY;
        answer.answer.reason = "not now";
        encode(&answer);
        const cairn_message taken_refusal = decode(CAIRN_MESSAGE_ANSWER);
        expect_same_message(&answer, &taken_refusal);
    }
}

TEST("every chunk comes back as it went") {
    for (int kind = 1; kind < CAIRN_CHUNK_KIND_COUNT; ++kind) {
        const cairn_chunk written = sample_chunk((cairn_chunk_kind)kind);
        encode_chunk(&written);
        cairn_chunk read;
        assert_int_equal(cairn_chunk_decode(f.bytes, f.size, &read), CAIRN_DECODE_OK);
        expect_same_chunk(&written, &read);
    }
}

TEST("vectors and texts may be empty") {
    const cairn_message sent[] = {
        {.kind = CAIRN_MESSAGE_HELLO, .hello = {.rules_name = "", .room = "", .build = ""}},
        {.kind = CAIRN_MESSAGE_INPUT, .input = {.inputs = NULL}},
        {.kind = CAIRN_MESSAGE_ROOT_REPORT, .root_report = {.roots = NULL}},
        {.kind = CAIRN_MESSAGE_SHAPES, .shapes = {.tick = 1}},
        {.kind = CAIRN_MESSAGE_KEYFRAME, .keyframe = {.tick = 1}},
        {.kind = CAIRN_MESSAGE_DELTA, .delta = {.tick = 1}},
        {.kind = CAIRN_MESSAGE_TICKS, .ticks = {.ticks = NULL}},
    };
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; ++i) {
        encode(&sent[i]);
        const cairn_message taken = decode(sent[i].kind);
        expect_same_message(&sent[i], &taken);
    }
}

#if __BYTE_ORDER__ ==                                                                              \
    __ORDER_LITTLE_ENDIAN__ // others turn the words of a copy: schema/byte_order.h
TEST("a decoded message points into its bytes") {
    const cairn_message sent = sample_message(CAIRN_MESSAGE_KEYFRAME);
    encode(&sent);
    const cairn_message taken = decode(CAIRN_MESSAGE_KEYFRAME);
    const uint8_t *bodies = (const uint8_t *)taken.keyframe.bodies;
    assert_true(bodies > f.bytes && bodies < f.bytes + f.size);
}
#endif

TEST("a message larger than the encoder is refused") {
    static uint8_t piece[4096];
    SCOPED(cairn_encoder) *small = NULL;
    assert_int_equal(cairn_encoder_create(1024, &small), CAIRN_OK);
    const uint8_t *bytes;
    size_t size;
    cairn_status status = CAIRN_OK;
    uint32_t most = 0;
    for (uint32_t n = 1; n <= sizeof piece; ++n) {
        const cairn_message message = {
            .kind = CAIRN_MESSAGE_STATE, .state = {.total_size = n, .bytes = piece, .size = n}};
        status = cairn_message_encode(small, &message, &bytes, &size);
        assert_true(status == CAIRN_OK ? size <= 1024 : status == CAIRN_CAPACITY);
        most = status == CAIRN_OK ? n : most;
    }
    assert_int_equal(status, CAIRN_CAPACITY);
    assert_true(most > 1024 - 128 && most < 1024);
}

TEST("destroying no encoder is allowed") {
    cairn_encoder_destroy(NULL);
}

// The kept bytes of each sample: what an older or another implementation wrote.
static size_t read_vector(const char *name, uint8_t *bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.hex", CAIRN_VECTORS, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("no vector %s", path);
    }
    size_t size = 0;
    unsigned byte;
    while (size < 4096 && fscanf(file, "%2x", &byte) == 1) {
        bytes[size++] = (uint8_t)byte;
    }
    fclose(file);
    return size;
}

static void compare_with_vector(const char *name) {
    static _Alignas(8) uint8_t vector[4096];
    const char *fresh = getenv("CAIRN_VECTORS_OUT");
    if (fresh != NULL) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.hex", fresh, name);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        for (size_t i = 0; i < f.size; ++i) {
            fprintf(file, "%02x%s", f.bytes[i], i % 16 == 15 || i + 1 == f.size ? "\n" : " ");
        }
        fclose(file);
        return;
    }
    assert_int_equal(read_vector(name, vector), f.size);
    assert_memory_equal(vector, f.bytes, f.size);
}

TEST("every message has its kept bytes") {
    static const char *const names[CAIRN_MESSAGE_KIND_COUNT] = {NULL, "hello", "input",
        "root_report", "resync_request", "control", "welcome", "refused", "shapes", "keyframe",
        "delta", "ticks", "state", "resync_response", "event", "answer"};
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        const cairn_message message = sample_message((cairn_message_kind)kind);
        encode(&message);
        compare_with_vector(names[kind]);
    }
}

TEST("every chunk has its kept bytes") {
    static const char *const names[CAIRN_CHUNK_KIND_COUNT] = {NULL, "chunk_start", "chunk_ticks",
        "chunk_end", "chunk_keyframe", "chunk_replace", "chunk_desync"};
    for (int kind = 1; kind < CAIRN_CHUNK_KIND_COUNT; ++kind) {
        const cairn_chunk chunk = sample_chunk((cairn_chunk_kind)kind);
        encode_chunk(&chunk);
        compare_with_vector(names[kind]);
    }
}

TEST("an end of version 1 has no seal") {
    static _Alignas(8) uint8_t old[4096];
    const cairn_wire_seal none = {.chain = {0}};
    cairn_chunk chunk;
    size_t size = read_vector("chunk_end_1", old);
    assert_int_equal(cairn_chunk_decode(old, size, &chunk), CAIRN_DECODE_OK);
    assert_int_equal(chunk.end.tick, 1002);
    assert_int_equal(chunk.end.tick_count, 2);
    assert_memory_equal(&chunk.end.seal, &none, sizeof none);
}

// Decodes a copy that is exactly as large, so that a sanitizer sees a read past its end.
static void expect_refusal_or_consistency(
    const uint8_t *bytes, size_t size, cairn_direction direction) {
    uint8_t *copy = kit_exact_copy(bytes, size);
    cairn_message taken;
    if (cairn_message_decode(copy, size, direction, &taken) == CAIRN_DECODE_OK) {
        const uint8_t *again;
        size_t again_size;
        cairn_message second;
        assert_int_equal(cairn_message_encode(encoder, &taken, &again, &again_size), CAIRN_OK);
        assert_int_equal(cairn_message_decode(again, again_size, direction, &second), 0);
        expect_same_message(&taken, &second);
    }
    free(copy);
}

static const uint8_t masks[] = {0x01, 0x80, 0xff, 0x04};

TEST("each broken byte is refused or reads consistently") {
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        const cairn_message message = sample_message((cairn_message_kind)kind);
        encode(&message);
        for (size_t i = 0; i < f.size * sizeof masks; ++i) {
            const uint8_t mask = masks[i % sizeof masks];
            f.bytes[i / sizeof masks] ^= mask;
            expect_refusal_or_consistency(f.bytes, f.size, CAIRN_TO_SERVER);
            expect_refusal_or_consistency(f.bytes, f.size, CAIRN_TO_CLIENT);
            f.bytes[i / sizeof masks] ^= mask;
        }
        for (size_t cut = 0; cut < f.size; ++cut) {
            expect_refusal_or_consistency(f.bytes, cut, sample_direction((cairn_message_kind)kind));
        }
    }
}

TEST("each broken byte of a chunk is refused or reads consistently") {
    for (int kind = 1; kind < CAIRN_CHUNK_KIND_COUNT; ++kind) {
        const cairn_chunk chunk = sample_chunk((cairn_chunk_kind)kind);
        encode_chunk(&chunk);
        for (size_t i = 0; i < f.size * sizeof masks; ++i) {
            const uint8_t mask = masks[i % sizeof masks];
            f.bytes[i / sizeof masks] ^= mask;
            cairn_chunk read;
            cairn_chunk second;
            if (cairn_chunk_decode(f.bytes, f.size, &read) == CAIRN_DECODE_OK) {
                const uint8_t *again;
                size_t size;
                assert_int_equal(cairn_chunk_encode(encoder, &read, &again, &size), CAIRN_OK);
                assert_int_equal(cairn_chunk_decode(again, size, &second), CAIRN_DECODE_OK);
                expect_same_chunk(&read, &second);
            }
            f.bytes[i / sizeof masks] ^= mask;
        }
    }
}

BEFORE_ALL {
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder), CAIRN_OK);
}

AFTER_ALL {
    cairn_encoder_destroy(encoder);
}
