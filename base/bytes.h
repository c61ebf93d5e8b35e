// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Little-endian reader and writer that remember failure: read or write straight through, then
// look at `ok` once at the end. After a failure every read returns zero and nothing more is
// written, so no half-checked value escapes.

typedef struct cairn_reader {
    const uint8_t *bytes; // not owned
    size_t size;
    size_t at;
    bool ok;
} cairn_reader;

typedef struct cairn_writer {
    uint8_t *bytes; // not owned
    size_t size;    // room in `bytes`
    size_t at;      // bytes written
    bool ok;
} cairn_writer;

// `bytes` may be NULL when `size` is 0. It must outlive the reader and every view taken of it.
cairn_reader cairn_reader_of(const void *bytes, size_t size);
uint8_t cairn_read_u8(cairn_reader *reader);
uint16_t cairn_read_u16(cairn_reader *reader);
uint32_t cairn_read_u32(cairn_reader *reader);
uint64_t cairn_read_u64(cairn_reader *reader);
int32_t cairn_read_i32(cairn_reader *reader);
// The float's bits as they were written; may be NaN, the caller checks.
float cairn_read_f32(cairn_reader *reader);
// Fills `out` with zeros after a failure.
void cairn_read_bytes(cairn_reader *reader, void *out, size_t size);
// `count` u32s, one after the other at any address. Zeros after a failure.
void cairn_read_u32s(cairn_reader *reader, void *out, size_t count);
// LEB128: seven bits a byte, low ones first; at most ten bytes. A failure beyond 64 bits.
uint64_t cairn_read_count(cairn_reader *reader);
// With the sign moved to bit 0, so that differences near zero are short.
int64_t cairn_read_difference(cairn_reader *reader);
// A pointer to the next `size` of the reader's own bytes, or NULL after a failure.
const uint8_t *cairn_read_view(cairn_reader *reader, size_t size);
// Bytes not read yet; 0 after a failure.
size_t cairn_reader_left(const cairn_reader *reader);
// Whether nothing failed and nothing is left over.
bool cairn_reader_done(const cairn_reader *reader);

// `bytes` may be NULL when `size` is 0.
cairn_writer cairn_writer_of(void *bytes, size_t size);
void cairn_write_u8(cairn_writer *writer, uint8_t value);
void cairn_write_u16(cairn_writer *writer, uint16_t value);
void cairn_write_u32(cairn_writer *writer, uint32_t value);
void cairn_write_u64(cairn_writer *writer, uint64_t value);
void cairn_write_i32(cairn_writer *writer, int32_t value);
void cairn_write_f32(cairn_writer *writer, float value);
void cairn_write_bytes(cairn_writer *writer, const void *bytes, size_t size);
void cairn_write_u32s(cairn_writer *writer, const void *words, size_t count); // at any address
void cairn_write_count(cairn_writer *writer, uint64_t value);
void cairn_write_difference(cairn_writer *writer, int64_t value);
void cairn_write_zeros(cairn_writer *writer, size_t size);
