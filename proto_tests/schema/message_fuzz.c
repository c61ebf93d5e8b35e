// SPDX-License-Identifier: MIT
// Any bytes, in both directions: refused, or a message whose encoding reads and writes the same.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "proto_tests/schema/mutate.h"
#include "schema/codec.h"
#include "tests/kit/exact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);

// Members of the message three times in four, otherwise bytes, which the verifier must refuse.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed) {
    const size_t changed = seed % 4 == 0 ? 0 : mutate_encoded_message(data, size, size_max, seed);
    return changed > 0 ? changed : LLVMFuzzerMutate(data, size, size_max);
}

static cairn_encoder *encoders[2];

static void expect_fixed_point(const cairn_message *message, cairn_direction direction) {
    const uint8_t *bytes[2];
    size_t size[2];
    cairn_message second;
    CAIRN_ASSERT(cairn_message_encode(encoders[0], message, &bytes[0], &size[0]) == CAIRN_OK);
    CAIRN_ASSERT(cairn_message_decode(bytes[0], size[0], direction, &second) == CAIRN_DECODE_OK);
    CAIRN_ASSERT(cairn_message_encode(encoders[1], &second, &bytes[1], &size[1]) == CAIRN_OK);
    CAIRN_ASSERT(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int i = 0; i < 2 && encoders[i] == NULL; ++i) {
        CAIRN_ASSERT(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoders[i]) == CAIRN_OK);
    }
    uint8_t *exact = kit_exact_copy(data, size);
    for (int direction = CAIRN_TO_SERVER; direction <= CAIRN_TO_CLIENT; ++direction) {
        cairn_message message;
        if (cairn_message_decode(exact, size, (cairn_direction)direction, &message) ==
            CAIRN_DECODE_OK) {
            expect_fixed_point(&message, (cairn_direction)direction);
        }
    }
    free(exact);
    return 0;
}
