// SPDX-License-Identifier: MIT
#pragma once

// The file format around a recording's chunks (schema/recording.h). A file is append only. A file
// that was cut off anywhere can be read up to its last complete chunk, and the reader distinguishes
// a cut from damage. This module works on bytes and opens no files. docs/PROTOCOL.md, "Recording
// file", is normative.

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/recording.h"

// The version that is written; files of version 1 can be read as well.
#define CAIRN_RECORDING_VERSION 2
#define CAIRN_RECORDING_HEAD_SIZE 16
#define CAIRN_RECORDING_CHUNK_HEAD_SIZE 40 // of version 1: 24
// The file name of a broadcast's segment, for printf with its number.
#define CAIRN_SEGMENT_NAME "%08" PRIu64 ".cairn"
// The largest payload of one chunk, unpacked.
#define CAIRN_RECORDING_PAYLOAD_SIZE_MAX (CAIRN_STATE_SIZE_MAX + 4096)

typedef enum cairn_packing {
    CAIRN_PACKING_NONE = 0,
    CAIRN_PACKING_ZSTD = 1, // recording/pack.h
    CAIRN_PACKING_COUNT
} cairn_packing;

// The fields of a chunk's head.
typedef struct cairn_recording_piece {
    cairn_chunk_kind kind;
    cairn_packing packing;
    // The first tick of a ticks chunk, the tick of a state, the tick that an end chunk names. Heads
    // of version 1 have neither this nor tick_count: both are 0 then.
    uint64_t tick;
    uint32_t tick_count;    // of a ticks chunk; 0 for others
    const uint8_t *payload; // starts on 8 bytes: into the reader's bytes, for cairn_chunk_decode,
                            // or for cairn_unpack when packed
    size_t size;            // of `payload`
    size_t raw_size;        // of the payload unpacked; more than `size` when packed, else equal
    size_t offset;          // of the chunk's head in the file
} cairn_recording_piece;

// ------------------------------------------------------------------------------------- writing

// The first bytes of a file: magic and version.
void cairn_recording_head(uint8_t bytes[CAIRN_RECORDING_HEAD_SIZE]);

// What surrounds a chunk's payload: write head, payload, then tail_size bytes of tail.
typedef struct cairn_recording_frame {
    uint8_t head[CAIRN_RECORDING_CHUNK_HEAD_SIZE];
    uint8_t tail[8];
    size_t tail_size; // 0 .. 7
} cairn_recording_frame;

// Uses every field of the piece except `offset`. Asserts sizes of 1 ..
// CAIRN_RECORDING_PAYLOAD_SIZE_MAX.
cairn_recording_frame cairn_recording_frame_of(const cairn_recording_piece *piece);

// The piece of a chunk that cairn_chunk_encode made into `payload`, not packed.
cairn_recording_piece cairn_recording_piece_of(
    const cairn_chunk *chunk, const uint8_t *payload, size_t size);

// ------------------------------------------------------------------------------------- reading

typedef enum cairn_recording_end {
    CAIRN_RECORDING_UNFINISHED = 0, // not read to its end yet
    CAIRN_RECORDING_CLEAN,          // the end chunk, and nothing after it
    CAIRN_RECORDING_CUT,            // the bytes stop before the end chunk; what was read is valid
    CAIRN_RECORDING_FOREIGN,        // not a recording: other magic
    CAIRN_RECORDING_VERSION_MISMATCH,
    CAIRN_RECORDING_DAMAGED_HEAD,    // a chunk's head does not match its checksum
    CAIRN_RECORDING_DAMAGED_PAYLOAD, // a chunk's payload does not match its checksum
    CAIRN_RECORDING_DAMAGED_PADDING, // bytes that must be zero are not
    CAIRN_RECORDING_CHUNK_KIND,      // unknown, or not where it belongs: the start chunk comes
                                     // first and once
    CAIRN_RECORDING_CHUNK_SIZE,      // zero, larger than CAIRN_RECORDING_PAYLOAD_SIZE_MAX, or
                                     // packed into no less
    CAIRN_RECORDING_CHUNK_PACKING,   // unknown
    CAIRN_RECORDING_TRAILING,        // bytes after the end chunk
    CAIRN_RECORDING_END_COUNT
} cairn_recording_end;
// A short lower-case English phrase, never NULL.
const char *cairn_recording_end_text(cairn_recording_end end);

// Walks a recording that is completely in memory. Fields are read-only.
typedef struct cairn_recording_reader {
    const uint8_t *bytes; // the caller's, starts on 8 bytes (asserted)
    size_t size;
    size_t at; // where the next chunk begins; at the end: after the last complete chunk
    uint32_t version;
    uint32_t chunk_count;
    cairn_recording_end end;
    cairn_chunk_kind last;
} cairn_recording_reader;

cairn_recording_reader cairn_recording_reader_of(const uint8_t *bytes, size_t size);
// Reads the next complete chunk. False at the end; reader->end then says which end, reader->at
// where.
bool cairn_recording_next(cairn_recording_reader *reader, cairn_recording_piece *out);
// The same, but checks only the head: payload and padding are present and not read. For an index of
// a long recording.
bool cairn_recording_skip(cairn_recording_reader *reader, cairn_recording_piece *out);
// Continues at the chunk with this offset, which must come from a piece of the same file.
void cairn_recording_jump(cairn_recording_reader *reader, size_t offset);
