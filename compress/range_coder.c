// SPDX-License-Identifier: MIT
#include "compress/range_coder.h"

#include "base/assert.h"

cairn_range_coder cairn_range_encoder(uint8_t *bytes, size_t size) {
    return (cairn_range_coder){
        .mode = CAIRN_CODER_ENCODE, .high = UINT32_MAX, .bytes = bytes, .size = size};
}

cairn_range_coder cairn_range_decoder(const uint8_t *bytes, size_t size) {
    cairn_range_coder coder = {
        .mode = CAIRN_CODER_DECODE, .high = UINT32_MAX, .input = bytes, .size = size};
    for (; coder.position < 4; ++coder.position) {
        coder.value = coder.value << 8 | (coder.position < size ? bytes[coder.position] : 0u);
    }
    return coder;
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

static void write_byte(cairn_range_coder *coder, uint32_t byte) {
    if (coder->position < coder->size) {
        coder->bytes[coder->position] = (uint8_t)byte;
    }
    coder->position++;
}

// The number of the interval with the fewest bytes before its zeros.
size_t cairn_range_finish(cairn_range_coder *coder) {
    CAIRN_ASSERT(coder->mode == CAIRN_CODER_ENCODE);
    for (uint32_t bytes = 1; coder->low > 0 && bytes <= 4; ++bytes) {
        const uint64_t step = UINT64_C(1) << (32 - 8 * bytes);
        const uint64_t number = (coder->low + step - 1) / step * step;
        if (number <= coder->high) {
            for (uint32_t i = 0; i < bytes; ++i) {
                write_byte(coder, (uint32_t)(number >> (24 - 8 * i)) & 0xff);
            }
            break;
        }
    }
    if (coder->position > coder->size) {
        return SIZE_MAX;
    }
    while (coder->position > 0 && coder->bytes[coder->position - 1] == 0) {
        coder->position--;
    }
    return coder->position;
}
