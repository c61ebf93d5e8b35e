// SPDX-License-Identifier: MIT
// Any bytes as a packed state: refused, or a state, the same one each time. The first two bytes are
// its size in words.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "compress/state_packer.h"
#include "tests/kit/exact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    const size_t state_size = 4 * (size_t)(data[0] | data[1] << 8);
    uint8_t *exact = kit_exact_copy(data + 2, size - 2);
    uint8_t *state = malloc(state_size > 0 ? state_size : 1);
    uint8_t *again = malloc(state_size > 0 ? state_size : 1);
    CAIRN_ASSERT(state != NULL && again != NULL);
    memset(state, 0x11, state_size);
    memset(again, 0x22, state_size);
    // Words that it does not write, or reads before it wrote them, differ.
    if (cairn_state_unpack(exact, size - 2, state, state_size)) {
        CAIRN_ASSERT(cairn_state_unpack(exact, size - 2, again, state_size));
        CAIRN_ASSERT(memcmp(state, again, state_size) == 0);
    }
    free(again);
    free(state);
    free(exact);
    return 0;
}
