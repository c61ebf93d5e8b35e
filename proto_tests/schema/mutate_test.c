// SPDX-License-Identifier: MIT
// The mutators of the fuzzers: what they make is a message again, every kind of message is changed,
// and the same seed makes the same bytes.
#include "tests/kit/test.h"

#include <string.h>

#include "proto_tests/schema/mutate.h"
#include "proto_tests/schema/samples.h"

SCOPE_POINTER_ENDS(cairn_encoder, cairn_encoder_destroy)

#define SIZE_MAX_HERE (64 * 1024)

static _Alignas(8) uint8_t first[SIZE_MAX_HERE], again[SIZE_MAX_HERE], original[SIZE_MAX_HERE];

TEST("a mutated message decodes, differs, and is the same for the same seed") {
    SCOPED(cairn_encoder) *encoder = NULL;
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder), CAIRN_OK);
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        const cairn_message message = sample_message((cairn_message_kind)kind);
        const cairn_direction direction = sample_direction((cairn_message_kind)kind);
        const uint8_t *bytes;
        size_t size;
        uint32_t encoded = 0;
        uint32_t differed = 0;
        assert_int_equal(cairn_message_encode(encoder, &message, &bytes, &size), CAIRN_OK);
        memcpy(original, bytes, size);
        for (uint32_t seed = 1; seed <= 200; ++seed) {
            memcpy(first, original, size);
            memcpy(again, original, size);
            const size_t changed = mutate_encoded_message(first, size, SIZE_MAX_HERE, seed);
            assert_int_equal(mutate_encoded_message(again, size, SIZE_MAX_HERE, seed), changed);
            assert_memory_equal(first, again, changed);
            if (changed > 0) {
                cairn_message decoded;
                const cairn_decode_refusal refusal =
                    cairn_message_decode(first, changed, direction, &decoded);
                assert_int_equal(refusal, CAIRN_DECODE_OK);
                encoded += 1;
                differed += changed != size || memcmp(first, original, size) != 0 ? 1 : 0;
            }
        }
        assert_in_range(encoded, 10, 200); // the rules of some kinds refuse most changes
        assert_in_range(differed, encoded / 2, 200);
    }
}

TEST("a mutated chunk decodes, and garbage is left to others") {
    SCOPED(cairn_encoder) *encoder = NULL;
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder), CAIRN_OK);
    for (int kind = 1; kind < CAIRN_CHUNK_KIND_COUNT; ++kind) {
        const cairn_chunk chunk = sample_chunk((cairn_chunk_kind)kind);
        const uint8_t *bytes;
        size_t size;
        uint32_t encoded = 0;
        assert_int_equal(cairn_chunk_encode(encoder, &chunk, &bytes, &size), CAIRN_OK);
        for (uint32_t seed = 1; seed <= 200; ++seed) {
            memcpy(first, bytes, size);
            const size_t changed = mutate_encoded_chunk(first, size, SIZE_MAX_HERE, seed);
            cairn_chunk decoded;
            encoded += changed > 0 ? 1 : 0;
            assert_true(changed == 0 || cairn_chunk_decode(first, changed, &decoded) == 0);
        }
        assert_in_range(encoded, 10, 200);
    }
    assert_int_equal(mutate_encoded_chunk(original, 0, SIZE_MAX_HERE, 1), 0);
    assert_int_equal(mutate_encoded_message(original, 3, SIZE_MAX_HERE, 1), 0);
}

TEST("each verb has a request with texts") {
    SCOPED(cairn_encoder) *encoder = NULL;
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder), CAIRN_OK);
    for (uint32_t verb = 1; verb < CAIRN_CONTROL_VERB_COUNT; ++verb) {
        const cairn_message message = {
            .kind = CAIRN_MESSAGE_CONTROL, .control = mutation_blank_request(verb)};
        const uint8_t *bytes;
        size_t size;
        assert_int_equal(cairn_message_encode(encoder, &message, &bytes, &size), CAIRN_OK);
    }
}
