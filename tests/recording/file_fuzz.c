// SPDX-License-Identifier: MIT
// Any bytes as a recording file: walked to an end, every piece inside the bytes; chunks decoded.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/file.h"
#include "schema/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (size > 0) {
        memcpy(exact, data, size);
    }
    cairn_recording_reader reader = cairn_recording_reader_of(exact, size);
    cairn_recording_piece piece;
    size_t at = reader.at;
    while (cairn_recording_next(&reader, &piece)) {
        CAIRN_ASSERT(reader.at > at && reader.at <= size);
        at = reader.at;
        cairn_chunk chunk;
        (void)cairn_chunk_decode(piece.payload, piece.size, &chunk);
    }
    CAIRN_ASSERT(reader.end != CAIRN_RECORDING_GOES_ON && reader.at <= size);
    free(exact);
    return 0;
}
