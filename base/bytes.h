// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"

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
static inline cairn_reader cairn_reader_of(const void *bytes, size_t size);
static inline uint8_t cairn_read_u8(cairn_reader *reader);
static inline uint16_t cairn_read_u16(cairn_reader *reader);
static inline uint32_t cairn_read_u32(cairn_reader *reader);
static inline uint64_t cairn_read_u64(cairn_reader *reader);
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
static inline const uint8_t *cairn_read_view(cairn_reader *reader, size_t size);
// Bytes not read yet; 0 after a failure.
static inline size_t cairn_reader_left(const cairn_reader *reader);
// Whether nothing failed and nothing is left over.
static inline bool cairn_reader_done(const cairn_reader *reader);

// `bytes` may be NULL when `size` is 0.
static inline cairn_writer cairn_writer_of(void *bytes, size_t size);
static inline void cairn_write_u8(cairn_writer *writer, uint8_t value);
static inline void cairn_write_u16(cairn_writer *writer, uint16_t value);
static inline void cairn_write_u32(cairn_writer *writer, uint32_t value);
static inline void cairn_write_u64(cairn_writer *writer, uint64_t value);
void cairn_write_i32(cairn_writer *writer, int32_t value);
void cairn_write_f32(cairn_writer *writer, float value);
static inline void cairn_write_bytes(cairn_writer *writer, const void *bytes, size_t size);
void cairn_write_u32s(cairn_writer *writer, const void *words, size_t count); // at any address
void cairn_write_count(cairn_writer *writer, uint64_t value);
void cairn_write_difference(cairn_writer *writer, int64_t value);
void cairn_write_zeros(cairn_writer *writer, size_t size);

// ------------------------------------------------------------------ what every message is read by

// The bytes of an empty reader: arithmetic on NULL would be undefined.
static const uint8_t cairn_no_bytes[1];

static inline cairn_reader cairn_reader_of(const void *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    return (cairn_reader){
        .bytes = bytes != NULL ? bytes : cairn_no_bytes, .size = size, .at = 0, .ok = true};
}

static inline size_t cairn_reader_left(const cairn_reader *reader) {
    CAIRN_ASSERT(reader->at <= reader->size);
    return reader->ok ? reader->size - reader->at : 0;
}

static inline bool cairn_reader_done(const cairn_reader *reader) {
    CAIRN_ASSERT(reader->at <= reader->size);
    return reader->ok && reader->at == reader->size;
}

static inline const uint8_t *cairn_read_view(cairn_reader *reader, size_t size) {
    CAIRN_ASSERT(reader->at <= reader->size);
    if (!reader->ok || size > reader->size - reader->at) {
        reader->ok = false;
        return NULL;
    }
    const uint8_t *view = reader->bytes + reader->at;
    reader->at += size;
    CAIRN_ASSERT(reader->at <= reader->size);
    return view;
}

// The value whose bytes in memory are those of `value` from low to high, and back.
static inline uint64_t cairn_little_endian(uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return value;
#else
    return __builtin_bswap64(value);
#endif
}

static inline uint64_t cairn_read_little_endian(cairn_reader *reader, size_t size) {
    CAIRN_ASSERT(size >= 1 && size <= 8);
    const uint8_t *view = cairn_read_view(reader, size);
    if (view == NULL) {
        return 0;
    }
    uint64_t bytes = 0;
    memcpy(&bytes, view, size);
    return cairn_little_endian(bytes);
}

static inline uint8_t cairn_read_u8(cairn_reader *reader) {
    return (uint8_t)cairn_read_little_endian(reader, 1);
}

static inline uint16_t cairn_read_u16(cairn_reader *reader) {
    return (uint16_t)cairn_read_little_endian(reader, 2);
}

static inline uint32_t cairn_read_u32(cairn_reader *reader) {
    return (uint32_t)cairn_read_little_endian(reader, 4);
}

static inline uint64_t cairn_read_u64(cairn_reader *reader) {
    return cairn_read_little_endian(reader, 8);
}

static inline cairn_writer cairn_writer_of(void *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    return (cairn_writer){.bytes = bytes, .size = size, .at = 0, .ok = true};
}

// Where the next `size` bytes go; NULL after a failure.
static inline uint8_t *cairn_write_claim(cairn_writer *writer, size_t size) {
    CAIRN_ASSERT(writer->at <= writer->size);
    if (!writer->ok || size > writer->size - writer->at) {
        writer->ok = false;
        return NULL;
    }
    uint8_t *place = size > 0 ? writer->bytes + writer->at : writer->bytes;
    writer->at += size;
    return place;
}

static inline void cairn_write_little_endian(cairn_writer *writer, uint64_t value, size_t size) {
    CAIRN_ASSERT(size >= 1 && size <= 8);
    uint8_t *place = cairn_write_claim(writer, size);
    if (place == NULL) {
        return;
    }
    const uint64_t bytes = cairn_little_endian(value);
    memcpy(place, &bytes, size);
}

static inline void cairn_write_u8(cairn_writer *writer, uint8_t value) {
    cairn_write_little_endian(writer, value, 1);
}

static inline void cairn_write_u16(cairn_writer *writer, uint16_t value) {
    cairn_write_little_endian(writer, value, 2);
}

static inline void cairn_write_u32(cairn_writer *writer, uint32_t value) {
    cairn_write_little_endian(writer, value, 4);
}

static inline void cairn_write_u64(cairn_writer *writer, uint64_t value) {
    cairn_write_little_endian(writer, value, 8);
}

static inline void cairn_write_bytes(cairn_writer *writer, const void *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    uint8_t *place = cairn_write_claim(writer, size);
    if (place != NULL && size > 0) {
        memcpy(place, bytes, size);
    }
}
