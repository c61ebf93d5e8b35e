// SPDX-License-Identifier: MIT
#pragma once

// Reads a recording chunk by chunk: each is verified, unpacked and decoded once.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/file.h"
#include "recording/pack.h"
#include "schema/recording.h"
#include <cairn/sim.h>

// One sentence that says what is wrong with a recording, and where.
#define CAIRN_RECORDING_ERROR_SIZE 512

// Fields are to be read only.
typedef struct cairn_chunk_reader {
    cairn_recording_reader file;
    cairn_recording_piece piece; // the current one
    cairn_chunk chunk;           // its content; valid until the next is read
    const uint8_t *payload;      // its bytes, unpacked
    size_t payload_size;
    bool valid; // false: `error` says what is wrong with the current chunk
    char error[CAIRN_RECORDING_ERROR_SIZE];
    cairn_unpacker *unpacker; // owned; created when first needed
    uint8_t *buffer;          // owned; the last unpacked payload
    size_t buffer_size;
} cairn_chunk_reader;

// `bytes` are aligned to 8 and must outlive the reader. Pair with cairn_chunk_reader_end.
cairn_chunk_reader cairn_chunk_reader_of(const uint8_t *bytes, size_t size);
void cairn_chunk_reader_end(cairn_chunk_reader *reader);
// Reads the next chunk. False at the end and at a chunk that cannot be read.
bool cairn_chunk_reader_next(cairn_chunk_reader *reader);
// After the last chunk: whether the file ends with damage, not with its end chunk or a cut.
bool cairn_chunk_reader_damaged(const cairn_chunk_reader *reader);
// Writes one sentence on how the file ends, with the offset if it matters.
void cairn_chunk_reader_end_text(
    const cairn_chunk_reader *reader, char text[CAIRN_RECORDING_ERROR_SIZE]);
