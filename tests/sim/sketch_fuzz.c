// SPDX-License-Identifier: MIT
// The input is a sketch, or is XORed into a valid one. The keys of the difference are in order, and
// their elements can be encoded.

#include "sim/serialize/sketch.h"
#include "tests/sim/fuzz_kit.h"

#define CELLS 40

static cairn_world *world;

static void read_difference(const uint8_t *sketch, size_t size) {
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
    static uint8_t valid[CELLS * CAIRN_SKETCH_CELL_SIZE];
    uint8_t damaged[sizeof valid];
    if (world == NULL) {
        world = fuzz_world();
        cairn_sketch_build(world, CELLS, valid);
    }
    read_difference(data, size);
    memcpy(damaged, valid, sizeof damaged);
    for (size_t i = 0; i < size && i < sizeof damaged; ++i) {
        damaged[i] ^= data[i];
    }
    read_difference(damaged, sizeof damaged);
    return 0;
}
