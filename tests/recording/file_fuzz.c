// SPDX-License-Identifier: MIT
// Any bytes as a recording file: walked to an end, every piece inside the bytes; chunks unpacked
// and decoded.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/chunk_reader.h"
#include "tests/kit/exact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *exact = kit_exact_copy(data, size);
    cairn_chunk_reader walk = cairn_chunk_reader_of(exact, size);
    size_t at = walk.file.at;
    while (cairn_chunk_reader_next(&walk)) {
        CAIRN_ASSERT(walk.file.at > at && walk.file.at <= size);
        CAIRN_ASSERT(walk.payload_size <= CAIRN_RECORDING_PAYLOAD_SIZE_MAX);
        at = walk.file.at;
    }
    CAIRN_ASSERT(!walk.valid || walk.file.end != CAIRN_RECORDING_UNFINISHED);
    cairn_chunk_reader_end(&walk);
    free(exact);
    return 0;
}
