// SPDX-License-Identifier: MIT
#include "compress/range_coder.h"

#include "base/assert.h"

#define RANGE_MAX (UINT64_C(1) << 48)

cairn_range_coder cairn_range_encoder(uint8_t *bytes, size_t size) {
    return (cairn_range_coder){
        .mode = CAIRN_CODER_ENCODE, .range = RANGE_MAX, .bytes = bytes, .size = size};
}

cairn_range_coder cairn_range_decoder(const uint8_t *bytes, size_t size) {
    cairn_range_coder coder = {
        .mode = CAIRN_CODER_DECODE, .range = RANGE_MAX, .input = bytes, .size = size};
    for (; coder.position < 6; ++coder.position) {
        coder.low = coder.low << 8 | (coder.position < size ? bytes[coder.position] : 0u);
    }
    return coder;
}

// The interval goes beyond 2^48: one more in the number that is written already.
static void carry(uint8_t *bytes, size_t size, size_t position) {
    size_t i = position < size ? position : size;
    while (i > 0 && ++bytes[i - 1] == 0) {
        --i;
    }
}

void cairn_range_write(uint8_t *bytes, size_t size, size_t position, uint64_t low) {
    if (low >= RANGE_MAX) {
        carry(bytes, size, position);
    }
    if (position < size) {
        bytes[position] = (uint8_t)(low >> 40);
    }
    if (position + 1 < size) {
        bytes[position + 1] = (uint8_t)(low >> 32);
    }
}

uint32_t cairn_range_read(const uint8_t *input, size_t size, size_t position) {
    const uint32_t upper = position < size ? input[position] : 0u;
    return upper << 8 | (position + 1 < size ? input[position + 1] : 0u);
}

bool cairn_code_bit(cairn_range_coder *coder, const cairn_probability *likely, bool bit) {
    return coder->mode == CAIRN_CODER_ENCODE
               ? cairn_code_bit_as(CAIRN_CODER_ENCODE, coder, likely, bit)
               : cairn_code_bit_as(CAIRN_CODER_DECODE, coder, likely, bit);
}

uint32_t cairn_code_raw(cairn_range_coder *coder, uint32_t bits, uint32_t value) {
    return coder->mode == CAIRN_CODER_ENCODE
               ? cairn_code_raw_as(CAIRN_CODER_ENCODE, coder, bits, value)
               : cairn_code_raw_as(CAIRN_CODER_DECODE, coder, bits, value);
}

// Writes the number of the interval with the fewest bytes, such that it stays in the interval if
// they are followed by zeros, or by anything.
static void write_number(cairn_range_coder *coder, bool anything) {
    uint32_t bytes = 0;
    uint64_t number = 0;
    for (; bytes <= 6; ++bytes) {
        const uint64_t step = RANGE_MAX >> 8 * bytes;
        number = (coder->low + step - 1) / step * step;
        if (number - coder->low + (anything ? step - 1 : 0) < coder->range) {
            break;
        }
    }
    CAIRN_ASSERT(bytes <= 6);
    if (number >= RANGE_MAX) {
        carry(coder->bytes, coder->size, coder->position);
    }
    for (uint32_t i = 0; i < bytes; ++i, coder->position++) {
        if (coder->position < coder->size) {
            coder->bytes[coder->position] = (uint8_t)(number >> (40 - 8 * i));
        }
    }
}

size_t cairn_range_finish(cairn_range_coder *coder) {
    CAIRN_ASSERT(coder->mode == CAIRN_CODER_ENCODE);
    write_number(coder, coder->tail_size > 0);
    if (coder->position > coder->size || coder->size - coder->position < coder->tail_size) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < coder->tail_size; ++i) {
        coder->bytes[coder->position++] = coder->tail[coder->tail_size - 1 - i];
    }
    while (coder->tail_size == 0 && coder->position > 0 && coder->bytes[coder->position - 1] == 0) {
        coder->position--;
    }
    return coder->position;
}

size_t cairn_range_tail(const cairn_range_coder *coder, uint8_t *out, size_t size) {
    CAIRN_ASSERT(coder->mode == CAIRN_CODER_DECODE);
    const size_t count = coder->size < size ? coder->size : size;
    for (size_t i = 0; i < count; ++i) {
        out[i] = coder->input[coder->size - 1 - i];
    }
    return count;
}
