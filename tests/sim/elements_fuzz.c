// SPDX-License-Identifier: MIT
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim/serialize/element_key.h"
#include "sim/serialize/sketch.h"
#include "tests/sim/fuzz_kit.h"

// The input is either a complete payload of elements or a list of words to change in a valid one. A
// world must step without faults after a payload that it accepts, and a refused one changes
// nothing.

#define PAYLOAD_SIZE_MAX 65536
#define KEYS_MAX 512

static cairn_world *sound;
static cairn_world *victim;
static uint8_t payload[PAYLOAD_SIZE_MAX];
static size_t payload_size;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Every element there is, in order.
static uint32_t all_keys(cairn_element_key *keys) {
    const cairn_state *state = &sound->state;
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

static void set_up(void) {
    cairn_element_key keys[KEYS_MAX];
    sound = fuzz_world();
    CAIRN_ASSERT(cairn_body_destroy(sound, 5) == CAIRN_OK);
    CAIRN_ASSERT(cairn_world_fork(sound, &victim) == CAIRN_OK);
    payload_size = cairn_elements_encode(sound, keys, all_keys(keys), payload, sizeof payload);
    CAIRN_ASSERT(payload_size > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t bytes[PAYLOAD_SIZE_MAX];
    if (sound == NULL) {
        set_up();
    }
    if (size == 0 || size > PAYLOAD_SIZE_MAX) {
        return 0;
    }
    const bool whole = data[0] == 0xff;
    const size_t count =
        whole ? size - 1 : fuzz_patch(bytes, payload, payload_size, data + 1, size - 1);
    const cairn_hash128 before = cairn_world_hash_read(victim).full;
    if (cairn_elements_apply(victim, whole ? data + 1 : bytes, count, NULL) != CAIRN_OK) {
        CAIRN_ASSERT(cairn_hash_equal(before, cairn_world_hash_read(victim).full));
        return 0;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_world_step(victim, NULL, 0);
    }
    CAIRN_ASSERT(cairn_world_copy(victim, sound) == CAIRN_OK);
    return 0;
}
