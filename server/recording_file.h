// SPDX-License-Identifier: MIT
#pragma once

// The file around a recording's chunks: append only, each chunk under a checksum, so that a file
// cut off anywhere still reads up to its last whole chunk. Bytes in, bytes out; files are the
// driver's and the tools' business. docs/PROTOCOL.md, "Recording file", is normative.
//
//     head    "cairnrec"  u32 version  u32 zero                                       16 bytes
//     chunk   u32 size  u32 kind  u64 checksum  payload[size]  zeros to a multiple of 8

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_RECORDING_VERSION 1
#define CAIRN_RECORDING_HEAD_SIZE 16
#define CAIRN_RECORDING_FRAME_SIZE 16

// Takes the file's next bytes, which last during the call. False: no more can be taken.
typedef bool cairn_recording_sink(void *user, const uint8_t *bytes, size_t size);

typedef struct cairn_recording_writer {
    cairn_recording_sink *sink;
    void *user;
    uint64_t size; // bytes taken so far
    bool ok;       // false once the sink refused; nothing is written after that
} cairn_recording_writer;

// Writes the head. False when the sink refused.
bool cairn_recording_begin(cairn_recording_writer *writer, cairn_recording_sink *sink, void *user);
// Writes one chunk (schema/recording.h's bytes); `size` is 1 .. UINT32_MAX - 7. False when the sink
// refused, now or before.
bool cairn_recording_append(
    cairn_recording_writer *writer, uint32_t kind, const uint8_t *payload, size_t size);

typedef enum cairn_recording_step {
    CAIRN_RECORDING_CHUNK = 0,     // *out holds the next chunk
    CAIRN_RECORDING_FINISHED,      // the bytes end behind a whole chunk
    CAIRN_RECORDING_CUT,           // the bytes end inside a chunk or the head
    CAIRN_RECORDING_DAMAGED,       // a checksum, size or padding is wrong
    CAIRN_RECORDING_NOT_ONE,       // does not begin like a recording
    CAIRN_RECORDING_OTHER_VERSION, // a recording of another version of the format
    CAIRN_RECORDING_STEP_COUNT
} cairn_recording_step;

const char *cairn_recording_step_text(cairn_recording_step step);

typedef struct cairn_recording_frame {
    uint32_t kind;          // as written; schema/recording.h's cairn_chunk_kind
    const uint8_t *payload; // into the reader's bytes; starts on 8 bytes if they do
    size_t size;
    size_t offset; // of the chunk in the file
} cairn_recording_frame;

typedef struct cairn_recording_reader {
    const uint8_t *bytes; // not owned
    size_t size;
    size_t at; // behind the last whole chunk: what holds, whatever follows
} cairn_recording_reader;

cairn_recording_reader cairn_recording_reader_of(const uint8_t *bytes, size_t size);
// The next chunk. Anything but CAIRN_RECORDING_CHUNK is the end, and every later call answers the
// same.
cairn_recording_step cairn_recording_next(
    cairn_recording_reader *reader, cairn_recording_frame *out);
