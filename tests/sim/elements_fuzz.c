// SPDX-License-Identifier: MIT
// A world that accepts a payload of elements must step without faults. A refused payload changes
// nothing.

#include "sim/serialize/element_key.h"
#include "sim/serialize/sketch.h"
#include "tests/sim/fuzz_kit.h"

#define KEYS_MAX 512

// Of every element of the world, in order.
static uint32_t all_keys(const cairn_world *world, cairn_element_key *keys) {
    const cairn_state *state = &world->state;
    uint32_t count = 0;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const uint32_t elements = cairn_array_count(state->settings, array);
        for (uint32_t i = 0; i < elements; ++i) {
            const cairn_element_key key = array == CAIRN_ARRAY_CONTACTS
                                              ? element_key_of_contact(&state->contacts[i])
                                              : element_key(array, i);
            if (count < KEYS_MAX && cairn_element_find(state, key) != NULL) {
                keys[count++] = key;
            }
        }
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static cairn_world *original;
    static cairn_world *victim;
    static uint8_t payload[FUZZ_SIZE_MAX];
    static size_t payload_size;
    if (original == NULL) {
        cairn_element_key keys[KEYS_MAX];
        original = fuzz_world();
        const uint32_t count = all_keys(original, keys);
        CAIRN_ASSERT(cairn_world_fork(original, &victim) == CAIRN_OK);
        payload_size = cairn_elements_encode(original, keys, count, payload, sizeof payload);
        CAIRN_ASSERT(payload_size > 0);
    }
    size_t count = 0;
    const uint8_t *bytes = fuzz_encoding(payload, payload_size, data, size, &count);
    if (bytes == NULL) {
        return 0;
    }
    const cairn_hash128 before = cairn_world_hash_read(victim).full;
    if (cairn_elements_apply(victim, bytes, count, NULL) != CAIRN_OK) {
        CAIRN_ASSERT(cairn_hash_equal(before, cairn_world_hash_read(victim).full));
        return 0;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_world_step(victim, NULL, 0);
    }
    CAIRN_ASSERT(cairn_world_copy(victim, original) == CAIRN_OK);
    return 0;
}
