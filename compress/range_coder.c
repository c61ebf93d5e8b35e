// SPDX-License-Identifier: MIT
#include "compress/range_coder.h"

#include "base/assert.h"

cairn_range_coder cairn_range_encoder(uint8_t *bytes, size_t size) {
    return (cairn_range_coder){
        .mode = CAIRN_CODER_ENCODE, .high = UINT32_MAX, .bytes = bytes, .size = size};
}

static uint32_t read_byte(cairn_range_coder *coder) {
    const size_t at = coder->position++;
    return at < coder->size ? coder->input[at] : 0;
}

static void write_byte(cairn_range_coder *coder, uint32_t byte) {
    if (coder->position < coder->size) {
        coder->bytes[coder->position] = (uint8_t)byte;
    }
    coder->position++;
}

cairn_range_coder cairn_range_decoder(const uint8_t *bytes, size_t size) {
    cairn_range_coder coder = {
        .mode = CAIRN_CODER_DECODE, .high = UINT32_MAX, .input = bytes, .size = size};
    for (int i = 0; i < 4; ++i) {
        coder.value = coder.value << 8 | read_byte(&coder);
    }
    return coder;
}

bool cairn_code_bit(cairn_range_coder *coder, const cairn_probability *likely, bool bit) {
    if (coder->mode == CAIRN_CODER_COUNT) {
        coder->counts[likely - coder->counted][bit]++;
        return bit;
    }
    const uint64_t width = coder->high - coder->low;
    const uint32_t middle = coder->low + (uint32_t)(width * *likely >> 16);
    if (coder->mode == CAIRN_CODER_DECODE) {
        bit = coder->value <= middle;
    }
    if (bit) {
        coder->high = middle;
    } else {
        coder->low = middle + 1;
    }
    while ((coder->low ^ coder->high) >> 24 == 0) {
        if (coder->mode == CAIRN_CODER_ENCODE) {
            write_byte(coder, coder->high >> 24);
        } else {
            coder->value = coder->value << 8 | read_byte(coder);
        }
        coder->low <<= 8;
        coder->high = coder->high << 8 | 0xff;
    }
    return bit;
}

uint32_t cairn_code_raw(cairn_range_coder *coder, uint32_t bits, uint32_t value) {
    static const cairn_probability even = 32768;
    if (coder->mode == CAIRN_CODER_COUNT) {
        return value;
    }
    uint32_t result = 0;
    while (bits-- > 0) {
        result = result << 1 | cairn_code_bit(coder, &even, value >> bits & 1);
    }
    return result;
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
