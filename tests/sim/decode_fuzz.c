// SPDX-License-Identifier: MIT
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tests/sim/fuzz_kit.h"
#include <cairn/sim.h>

// The input is either a complete encoding or a list of words to change in a valid one. A world that
// decode accepts must step without faults, and its encoding must decode to the same world.

#define ENCODED_SIZE_MAX 65536

static cairn_world *sound;
static cairn_world *victim;
static uint8_t encoded[ENCODED_SIZE_MAX];
static size_t encoded_size;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The scene with the most kinds of things in it: joints, a heap, freed slots.
static void set_up(void) {
    sound = fuzz_world();
    victim = golden_create(fuzz_scene());
    CAIRN_ASSERT(victim != NULL);
    CAIRN_ASSERT(cairn_body_destroy(sound, 5) == CAIRN_OK);
    encoded_size = cairn_world_encode(sound, encoded, sizeof encoded);
    CAIRN_ASSERT(encoded_size > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t bytes[ENCODED_SIZE_MAX];
    static uint8_t again[ENCODED_SIZE_MAX];
    if (sound == NULL) {
        set_up();
    }
    if (size == 0 || size > ENCODED_SIZE_MAX) {
        return 0;
    }
    const bool whole = data[0] == 0xff;
    const size_t count =
        whole ? size - 1 : fuzz_patch(bytes, encoded, encoded_size, data + 1, size - 1);
    if (cairn_world_decode(victim, whole ? data + 1 : bytes, count, NULL) != CAIRN_OK) {
        return 0;
    }
    const cairn_hash128 hash = cairn_world_hash_read(victim).full;
    CAIRN_ASSERT(cairn_world_encode(victim, again, sizeof again) == count);
    CAIRN_ASSERT(memcmp(again, whole ? data + 1 : bytes, count) == 0);
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_world_step(victim, NULL, 0);
        const size_t now = cairn_world_encode(victim, bytes, sizeof bytes);
        CAIRN_ASSERT(cairn_world_decode(victim, bytes, now, NULL) == CAIRN_OK);
    }
    CAIRN_ASSERT(cairn_world_decode(victim, again, count, NULL) == CAIRN_OK);
    CAIRN_ASSERT(cairn_hash_equal(hash, cairn_world_hash_read(victim).full));
    return 0;
}
