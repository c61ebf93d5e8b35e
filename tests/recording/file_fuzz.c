// SPDX-License-Identifier: MIT
// Any bytes as a recording file: walked to an end, every piece inside the bytes; chunks unpacked
// and decoded.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (size > 0) {
        memcpy(exact, data, size);
    }
    cairn_replay_walk walk = cairn_replay_walk_of(exact, size);
    size_t at = walk.reader.at;
    while (cairn_replay_next(&walk)) {
        CAIRN_ASSERT(walk.reader.at > at && walk.reader.at <= size);
        CAIRN_ASSERT(walk.payload_size <= CAIRN_RECORDING_PAYLOAD_SIZE_MAX);
        at = walk.reader.at;
    }
    CAIRN_ASSERT(!walk.sound || walk.reader.end != CAIRN_RECORDING_GOES_ON);
    cairn_replay_walk_end(&walk);
    free(exact);
    return 0;
}
