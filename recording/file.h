// SPDX-License-Identifier: MIT
#pragma once

// The file around a recording's chunks (schema/recording.h): append only, cut anywhere it still
// reads up to its last whole chunk, damage is told from a cut. Bytes in, bytes out; nobody opens a
// file here. docs/PROTOCOL.md, "Recording file", is normative.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/recording.h"

#define CAIRN_RECORDING_VERSION 1
#define CAIRN_RECORDING_HEAD_SIZE 16
#define CAIRN_RECORDING_CHUNK_HEAD_SIZE 24
// Of one chunk's payload.
#define CAIRN_RECORDING_PAYLOAD_SIZE_MAX (CAIRN_STATE_SIZE_MAX + 4096)

// ------------------------------------------------------------------------------------- writing

// The first bytes of a file: magic and version.
void cairn_recording_head(uint8_t bytes[CAIRN_RECORDING_HEAD_SIZE]);

// What goes before and behind a chunk's payload: write head, payload, then tail_size bytes of tail.
typedef struct cairn_recording_frame {
    uint8_t head[CAIRN_RECORDING_CHUNK_HEAD_SIZE];
    uint8_t tail[8];
    size_t tail_size; // 0 .. 7
} cairn_recording_frame;

// `payload` comes from cairn_chunk_encode; size 1 .. CAIRN_RECORDING_PAYLOAD_SIZE_MAX, asserted.
cairn_recording_frame cairn_recording_frame_of(
    cairn_chunk_kind kind, const uint8_t *payload, size_t size);

// ------------------------------------------------------------------------------------- reading

typedef enum cairn_recording_end {
    CAIRN_RECORDING_GOES_ON = 0, // not at its end yet
    CAIRN_RECORDING_CLEAN,       // the end chunk, and nothing behind it
    CAIRN_RECORDING_CUT,         // the bytes stop before the end chunk; what was read is sound
    CAIRN_RECORDING_FOREIGN,     // no recording: other magic
    CAIRN_RECORDING_VERSION_MISMATCH,
    CAIRN_RECORDING_DAMAGED_HEAD,    // a chunk's head does not match its checksum
    CAIRN_RECORDING_DAMAGED_PAYLOAD, // a chunk's payload does not match its checksum
    CAIRN_RECORDING_DAMAGED_PADDING, // bytes that must be zero are not
    CAIRN_RECORDING_CHUNK_KIND,      // unknown, or not where it belongs: the start chunk comes
                                     // first and once
    CAIRN_RECORDING_CHUNK_SIZE,      // zero, or larger than CAIRN_RECORDING_PAYLOAD_SIZE_MAX
    CAIRN_RECORDING_TRAILING,        // bytes behind the end chunk
    CAIRN_RECORDING_END_COUNT
} cairn_recording_end;
// A short lower-case English phrase, never NULL.
const char *cairn_recording_end_text(cairn_recording_end end);

// Walks a recording that is whole in memory. Fields are to be read only.
typedef struct cairn_recording_reader {
    const uint8_t *bytes; // the caller's, starts on 8 bytes (asserted)
    size_t size;
    size_t at; // where the next chunk begins; at the end: behind the last whole chunk
    uint32_t chunk_count;
    cairn_recording_end end;
    cairn_chunk_kind last;
} cairn_recording_reader;

typedef struct cairn_recording_piece {
    cairn_chunk_kind kind;
    const uint8_t *payload; // into the reader's bytes, starts on 8: for cairn_chunk_decode
    size_t size;
    size_t offset; // of the chunk's head in the file
} cairn_recording_piece;

cairn_recording_reader cairn_recording_reader_of(const uint8_t *bytes, size_t size);
// The next whole chunk. False at the end; reader->end then says which, reader->at where.
bool cairn_recording_next(cairn_recording_reader *reader, cairn_recording_piece *out);
