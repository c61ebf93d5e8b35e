// SPDX-License-Identifier: MIT
#pragma once

// A binary arithmetic coder: each decision costs as many bits as it was unlikely. It keeps the two
// ends of an interval in 32 bits and writes the bytes that both have in common, so that nothing is
// carried into bytes already written. (Witten, Neal and Cleary, "Arithmetic coding for data
// compression", CACM 30(6), 1987; with two symbols a decision needs one multiplication.)
//
// Encoder and decoder run the same code: the functions below take the decision of an encoder,
// ignore that of a decoder, and return the one that was coded.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// That a decision is true, in 65536ths; 1 .. 65535.
typedef uint16_t cairn_probability;

typedef enum cairn_coder_mode {
    CAIRN_CODER_ENCODE,
    CAIRN_CODER_DECODE,
    CAIRN_CODER_COUNT, // writes nothing, counts decisions: for the program that trains the model
} cairn_coder_mode;

typedef struct cairn_range_coder {
    cairn_coder_mode mode;
    uint32_t low, high; // the interval, both ends included
    uint32_t value;     // of a decoder: the next 32 bits
    uint8_t *bytes;     // of an encoder
    const uint8_t *input;
    size_t size;     // of `bytes` or `input`
    size_t position; // of the next byte; of an encoder it may pass `size`: too long
    const cairn_probability *counted; // COUNT: counts[i] belongs to counted[i]
    uint32_t (*counts)[2];
} cairn_range_coder;

cairn_range_coder cairn_range_encoder(uint8_t *bytes, size_t size);
// A decoder reads zeros after the end, since the encoder leaves out zeros there. Every input
// decodes to something: the caller checks what it gets.
cairn_range_coder cairn_range_decoder(const uint8_t *bytes, size_t size);
// The bytes written, without the zeros at their end; 0 bytes are possible. SIZE_MAX: `bytes` was
// too small.
size_t cairn_range_finish(cairn_range_coder *coder);

// A loop over decisions is compiled once for each mode: `mode` is the coder's, as a constant, and
// all of the loop is inlined.
#define CAIRN_FOR_EACH_MODE __attribute__((always_inline)) static inline

CAIRN_FOR_EACH_MODE bool cairn_code_bit_as(
    cairn_coder_mode mode, cairn_range_coder *coder, const cairn_probability *likely, bool bit) {
    if (mode == CAIRN_CODER_COUNT) {
        coder->counts[likely - coder->counted][bit]++;
        return bit;
    }
    const uint64_t width = coder->high - coder->low;
    const uint32_t middle = coder->low + (uint32_t)(width * *likely >> 16);
    if (mode == CAIRN_CODER_DECODE) {
        bit = coder->value <= middle;
    }
    coder->high = bit ? middle : coder->high;
    coder->low = bit ? coder->low : middle + 1;
    while ((coder->low ^ coder->high) >> 24 == 0) {
        const bool inside = coder->position < coder->size;
        if (mode == CAIRN_CODER_DECODE) {
            coder->value = coder->value << 8 | (inside ? coder->input[coder->position] : 0u);
        } else if (inside) {
            coder->bytes[coder->position] = (uint8_t)(coder->high >> 24);
        }
        coder->position++;
        coder->low <<= 8;
        coder->high = coder->high << 8 | 0xff;
    }
    return bit;
}

// The same, and the probability moves towards what was coded, by a 2^CAIRN_ADAPTION_SHIFT-th of the
// way: both ends have the same tables afterwards. It stays within 1 .. 65535 if it starts there.
#define CAIRN_ADAPTION_SHIFT 6
CAIRN_FOR_EACH_MODE bool cairn_code_adapting_bit_as(
    cairn_coder_mode mode, cairn_range_coder *coder, cairn_probability *likely, bool bit) {
    bit = cairn_code_bit_as(mode, coder, likely, bit);
    if (mode != CAIRN_CODER_COUNT) {
        const uint32_t now = *likely;
        *likely = (cairn_probability)(bit ? now + ((65536u - now) >> CAIRN_ADAPTION_SHIFT)
                                          : now - (now >> CAIRN_ADAPTION_SHIFT));
    }
    return bit;
}

// The lowest `bits` of `value`, each as likely 0 as 1; at most 32.
CAIRN_FOR_EACH_MODE uint32_t cairn_code_raw_as(
    cairn_coder_mode mode, cairn_range_coder *coder, uint32_t bits, uint32_t value) {
    static const cairn_probability even = 32768;
    if (mode == CAIRN_CODER_COUNT) {
        return value;
    }
    uint32_t result = 0;
    while (bits-- > 0) {
        result = result << 1 | cairn_code_bit_as(mode, coder, &even, value >> bits & 1);
    }
    return result;
}

// As above, for what is coded seldom.
bool cairn_code_bit(cairn_range_coder *coder, const cairn_probability *likely, bool bit);
uint32_t cairn_code_raw(cairn_range_coder *coder, uint32_t bits, uint32_t value);
