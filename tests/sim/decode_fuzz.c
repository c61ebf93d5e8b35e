// SPDX-License-Identifier: MIT
// A world that accepts an encoding must encode to the same bytes, step without faults and, from its
// own encoding, continue as the same world.

#include "tests/sim/fuzz_kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static cairn_world *victim;
    static uint8_t valid[FUZZ_SIZE_MAX];
    static uint8_t again[FUZZ_SIZE_MAX];
    static uint8_t later[FUZZ_SIZE_MAX];
    static size_t valid_size;
    if (victim == NULL) {
        cairn_world *world = fuzz_world();
        victim = golden_create(golden_scene_named("joints"));
        valid_size = cairn_world_encode(world, valid, sizeof valid);
        CAIRN_ASSERT(victim != NULL && valid_size > 0);
        cairn_world_destroy(world);
    }
    size_t count = 0;
    const uint8_t *bytes = fuzz_encoding(valid, valid_size, data, size, &count);
    if (bytes == NULL || cairn_world_decode(victim, bytes, count, NULL) != CAIRN_OK) {
        return 0;
    }
    const cairn_hash128 hash = cairn_world_hash_read(victim).full;
    CAIRN_ASSERT(cairn_world_encode(victim, again, sizeof again) == count);
    CAIRN_ASSERT(memcmp(again, bytes, count) == 0);
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_world_step(victim, NULL, 0);
        const size_t later_size = cairn_world_encode(victim, later, sizeof later);
        CAIRN_ASSERT(cairn_world_decode(victim, later, later_size, NULL) == CAIRN_OK);
    }
    CAIRN_ASSERT(cairn_world_decode(victim, again, count, NULL) == CAIRN_OK);
    CAIRN_ASSERT(cairn_hash_equal(hash, cairn_world_hash_read(victim).full));
    return 0;
}
