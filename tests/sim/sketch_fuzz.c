// SPDX-License-Identifier: MIT
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "sim/serialize/sketch.h"
#include "tests/sim/fuzz_kit.h"

// The input is a sketch, or what is to be turned in a sound one. Keys that come out are in order
// and can be told of.

#define CELLS 40

static cairn_world *world;
static uint8_t sound[CELLS * CAIRN_SKETCH_CELL_SIZE];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_up(void) {
    world = fuzz_world();
    cairn_sketch_build(world, CELLS, sound);
}

static void look(const uint8_t *sketch, size_t size) {
    static uint8_t bytes[CAIRN_SKETCH_CELLS_MAX * 512];
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
    uint32_t count = 0;
    if (cairn_sketch_difference(world, sketch, size, keys, CAIRN_SKETCH_CELLS_MAX, &count) !=
        CAIRN_OK) {
        CAIRN_ASSERT(count == 0);
        return;
    }
    for (uint32_t i = 1; i < count; ++i) {
        CAIRN_ASSERT(keys[i - 1] < keys[i]);
    }
    const size_t written = cairn_elements_encode(world, keys, count, bytes, sizeof bytes);
    CAIRN_ASSERT(written == cairn_elements_size(world, keys, count));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t turned[sizeof sound];
    if (world == NULL) {
        set_up();
    }
    look(data, size);
    memcpy(turned, sound, sizeof turned);
    for (size_t i = 0; i < size && i < sizeof turned; ++i) {
        turned[i] ^= data[i];
    }
    look(turned, sizeof turned);
    return 0;
}
