// SPDX-License-Identifier: MIT
#include "base/bytes.h"

#include <string.h>

#include "base/assert.h"

int32_t cairn_read_i32(cairn_reader *reader) {
    uint32_t bits = cairn_read_u32(reader);
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float cairn_read_f32(cairn_reader *reader) {
    uint32_t bits = cairn_read_u32(reader);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void cairn_read_bytes(cairn_reader *reader, void *out, size_t size) {
    CAIRN_ASSERT(out != NULL || size == 0);
    const uint8_t *view = cairn_read_view(reader, size);
    if (size == 0) {
        return;
    }
    if (view == NULL) {
        memset(out, 0, size);
        return;
    }
    memcpy(out, view, size);
}

// A count whose size in bytes overflows exceeds any buffer.
static size_t size_of_words(size_t count) {
    return count <= SIZE_MAX / 4 ? 4 * count : SIZE_MAX;
}

void cairn_read_u32s(cairn_reader *reader, void *out, size_t count) {
    CAIRN_ASSERT(out != NULL || count == 0);
    unsigned char *place = out;
    const uint8_t *view = cairn_read_view(reader, size_of_words(count));
    if (view == NULL) {
        memset(place, 0, 4 * count);
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        const uint8_t *from = view + 4 * i;
        const uint32_t word = (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
                              (uint32_t)from[3] << 24;
        memcpy(place + 4 * i, &word, sizeof word);
    }
}

void cairn_write_i32(cairn_writer *writer, int32_t value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    cairn_write_u32(writer, bits);
}

void cairn_write_f32(cairn_writer *writer, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    cairn_write_u32(writer, bits);
}

void cairn_write_u32s(cairn_writer *writer, const void *words, size_t count) {
    CAIRN_ASSERT(words != NULL || count == 0);
    const unsigned char *from = words;
    uint8_t *place = cairn_write_claim(writer, size_of_words(count));
    for (size_t i = 0; place != NULL && i < count; ++i) {
        uint32_t word;
        memcpy(&word, from + 4 * i, sizeof word);
        place[4 * i] = (uint8_t)word;
        place[4 * i + 1] = (uint8_t)(word >> 8);
        place[4 * i + 2] = (uint8_t)(word >> 16);
        place[4 * i + 3] = (uint8_t)(word >> 24);
    }
}

void cairn_write_zeros(cairn_writer *writer, size_t size) {
    uint8_t *place = cairn_write_claim(writer, size);
    if (place != NULL && size > 0) {
        memset(place, 0, size);
    }
}

uint64_t cairn_read_count(cairn_reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        const uint64_t byte = cairn_read_u8(reader);
        const uint64_t bits = byte & 0x7f;
        reader->ok = reader->ok && bits << shift >> shift == bits;
        value |= bits << shift;
        if (byte < 0x80) {
            return reader->ok ? value : 0;
        }
    }
    reader->ok = false;
    return 0;
}

void cairn_write_count(cairn_writer *writer, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        cairn_write_u8(writer, (uint8_t)(value | 0x80));
    }
    cairn_write_u8(writer, (uint8_t)value);
}

int64_t cairn_read_difference(cairn_reader *reader) {
    const uint64_t folded = cairn_read_count(reader);
    return (int64_t)((folded >> 1) ^ (0u - (folded & 1)));
}

void cairn_write_difference(cairn_writer *writer, int64_t value) {
    const uint64_t bits = (uint64_t)value;
    cairn_write_count(writer, (bits << 1) ^ (0u - (bits >> 63)));
}
