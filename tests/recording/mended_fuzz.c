// SPDX-License-Identifier: MIT
// Any bytes as the chunks of a recording with valid magic and checksums, which a fuzzer would not
// find: heads, packing and payloads are the fuzzer's.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "recording/chunk_reader.h"
#include "recording/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// From chunk to chunk, as far as the sizes in their heads lead.
static void mend(uint8_t *bytes, size_t size) {
    size_t at = CAIRN_RECORDING_HEAD_SIZE;
    while (size - at >= CAIRN_RECORDING_CHUNK_HEAD_SIZE) {
        uint8_t *head = bytes + at;
        cairn_reader reader = cairn_reader_of(head, 4);
        size_t stored = cairn_read_u32(&reader);
        size_t left = size - at - CAIRN_RECORDING_CHUNK_HEAD_SIZE;
        size_t padded = stored + (8 - stored % 8) % 8;
        cairn_writer writer = cairn_writer_of(head + 24, 16);
        cairn_write_u64(&writer, stored <= left ? cairn_checksum(head + 40, stored) : 0);
        cairn_write_u64(&writer, cairn_checksum(head, 32));
        if (padded > left) {
            return;
        }
        memset(head + 40 + stored, 0, padded - stored);
        at += CAIRN_RECORDING_CHUNK_HEAD_SIZE + padded;
    }
}

static void walk_all(const uint8_t *bytes, size_t size) {
    cairn_chunk_reader walk = cairn_chunk_reader_of(bytes, size);
    size_t at = walk.file.at;
    while (cairn_chunk_reader_next(&walk)) {
        CAIRN_ASSERT(walk.file.at > at && walk.file.at <= size);
        CAIRN_ASSERT(walk.payload_size <= CAIRN_RECORDING_PAYLOAD_SIZE_MAX);
        at = walk.file.at;
    }
    cairn_chunk_reader_end(&walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t whole = CAIRN_RECORDING_HEAD_SIZE + size;
    uint8_t *bytes = malloc(whole);
    cairn_recording_head(bytes);
    if (size > 0) {
        memcpy(bytes + CAIRN_RECORDING_HEAD_SIZE, data, size);
    }
    mend(bytes, whole);
    walk_all(bytes, whole);
    cairn_recording_index index;
    if (cairn_recording_index_of(bytes, whole, &index) == CAIRN_OK) {
        for (uint64_t tick = 0; tick < 4; ++tick) {
            (void)cairn_recording_index_find(&index, tick);
        }
        cairn_recording_index_end(&index);
    }
    free(bytes);
    return 0;
}
