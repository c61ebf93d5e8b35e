// SPDX-License-Identifier: MIT
#pragma once

// Shared by the fuzzers of states: a world with many kinds of elements, and inputs that change
// words of a valid encoding.

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "tests/sim/golden_scenes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_SIZE_MAX 65536

// With joints, a heap and the free slot of a destroyed body.
static inline cairn_world *fuzz_world(void) {
    cairn_world *world = golden_world_at(golden_scene_named("joints"), 60);
    CAIRN_ASSERT(cairn_body_destroy(world, 5) == CAIRN_OK);
    return world;
}

// The input is either a complete encoding after a byte 0xff, or after any other byte words to
// change in the valid one: six bytes each, a position and the word to write there. Returns the
// encoding to try, NULL if the input is too short or too long.
static inline const uint8_t *fuzz_encoding(
    const uint8_t *valid, size_t valid_size, const uint8_t *data, size_t data_size, size_t *size) {
    static uint8_t bytes[FUZZ_SIZE_MAX];
    if (data_size == 0 || data_size > FUZZ_SIZE_MAX) {
        return NULL;
    }
    *size = data_size - 1;
    if (data[0] == 0xff) {
        return data + 1;
    }
    cairn_reader reader = cairn_reader_of(data + 1, data_size - 1);
    memcpy(bytes, valid, valid_size);
    while (cairn_reader_left(&reader) >= 6) {
        const size_t at = 4 * (size_t)(cairn_read_u16(&reader) % (valid_size / 4));
        cairn_writer writer = cairn_writer_of(bytes + at, 4);
        cairn_write_u32(&writer, cairn_read_u32(&reader));
    }
    *size = valid_size;
    return bytes;
}
