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

static void write_byte(cairn_range_coder *coder, uint64_t byte) {
    if (coder->position < coder->size) {
        coder->bytes[coder->position] = (uint8_t)byte;
    }
    coder->position++;
}

// The interval goes beyond 2^48: one more in the number that is written already.
static void carry(cairn_range_coder *coder) {
    size_t i = coder->position < coder->size ? coder->position : coder->size;
    while (i > 0 && ++coder->bytes[i - 1] == 0) {
        --i;
    }
    coder->low -= RANGE_MAX;
}

void cairn_range_write(cairn_range_coder *coder) {
    if (coder->low >= RANGE_MAX) {
        carry(coder);
    }
    write_byte(coder, coder->low >> 40);
    write_byte(coder, coder->low >> 32 & 0xff);
    coder->low = (coder->low & UINT32_MAX) << 16;
    coder->range <<= 16;
}

void cairn_range_read(cairn_range_coder *coder) {
    for (uint32_t i = 0; i < 2; ++i, ++coder->position) {
        const bool inside = coder->position < coder->size;
        coder->low = coder->low << 8 | (inside ? coder->input[coder->position] : 0u);
    }
    coder->range <<= 16;
}

bool cairn_code_bit(cairn_range_coder *coder, const cairn_probability *likely, bool bit) {
    switch (coder->mode) {
    case CAIRN_CODER_ENCODE:
        return cairn_code_bit_as(CAIRN_CODER_ENCODE, coder, likely, bit);
    case CAIRN_CODER_DECODE:
        return cairn_code_bit_as(CAIRN_CODER_DECODE, coder, likely, bit);
    case CAIRN_CODER_COUNT:
        break;
    }
    return cairn_code_bit_as(CAIRN_CODER_COUNT, coder, likely, bit);
}

uint32_t cairn_code_raw(cairn_range_coder *coder, uint32_t bits, uint32_t value) {
    switch (coder->mode) {
    case CAIRN_CODER_ENCODE:
        return cairn_code_raw_as(CAIRN_CODER_ENCODE, coder, bits, value);
    case CAIRN_CODER_DECODE:
        return cairn_code_raw_as(CAIRN_CODER_DECODE, coder, bits, value);
    case CAIRN_CODER_COUNT:
        break;
    }
    return value;
}

// The number of the interval with the fewest bytes before its zeros.
size_t cairn_range_finish(cairn_range_coder *coder) {
    CAIRN_ASSERT(coder->mode == CAIRN_CODER_ENCODE);
    for (uint32_t bytes = 0; bytes <= 6; ++bytes) {
        const uint64_t step = RANGE_MAX >> 8 * bytes;
        const uint64_t number = (coder->low + step - 1) / step * step;
        if (number - coder->low < coder->range) {
            coder->low = number;
            break;
        }
    }
    if (coder->low >= RANGE_MAX) {
        carry(coder);
    }
    for (; coder->low > 0; coder->low = coder->low << 8 & (RANGE_MAX - 1)) {
        write_byte(coder, coder->low >> 40);
    }
    if (coder->position > coder->size) {
        return SIZE_MAX;
    }
    while (coder->position > 0 && coder->bytes[coder->position - 1] == 0) {
        coder->position--;
    }
    return coder->position;
}
