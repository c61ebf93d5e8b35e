// SPDX-License-Identifier: MIT
#pragma once

// A binary arithmetic coder: each decision costs as many bits as it was unlikely. It keeps an
// interval of 48 bits, narrows it with one multiplication for a decision, and writes its upper 16
// bits when it has become shorter than 2^32. What is carried over goes into bytes already written.
// (Martin, "Range encoding: an algorithm for removing redundancy from a digitised message", 1979.)
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
} cairn_coder_mode;

typedef struct cairn_range_coder {
    cairn_coder_mode mode;
    uint64_t range; // length of the interval: 2^32 .. 2^48
    uint64_t low;   // of an encoder, where it begins; of a decoder, how far in it the input is
    uint8_t *bytes; // of an encoder
    const uint8_t *input;
    size_t size;     // of `bytes` or `input`
    size_t position; // of the next byte; of an encoder it may pass `size`: too long
    // Of an encoder: bits that are no decisions, in bytes that are kept until the end. They stand
    // after all decisions, the first byte last, so that a decoder finds them.
    const uint8_t *tail;
    size_t tail_size;
} cairn_range_coder;

cairn_range_coder cairn_range_encoder(uint8_t *bytes, size_t size);
// A decoder reads zeros after the end, since the encoder leaves out zeros there. Every input
// decodes to something: the caller checks what it gets.
cairn_range_coder cairn_range_decoder(const uint8_t *bytes, size_t size);
// The bytes written, without the zeros at their end unless there is a tail; 0 bytes are possible.
// SIZE_MAX: `bytes` was too small.
size_t cairn_range_finish(cairn_range_coder *coder);

// Of a decoder: the tail, or more, its first byte first. Returns its size, at most `size`.
size_t cairn_range_tail(const cairn_range_coder *coder, uint8_t *out, size_t size);

// A loop over decisions is compiled once for each mode: `mode` is the coder's, as a constant, and
// all of the loop is inlined.
#define CAIRN_FOR_EACH_MODE __attribute__((always_inline)) static inline

// The upper two bytes of `low` at a position, and the two bytes there: seldom. They do not take the
// coder, so that it may stay in registers.
void cairn_range_write(uint8_t *bytes, size_t size, size_t position, uint64_t low);
uint32_t cairn_range_read(const uint8_t *input, size_t size, size_t position);

// An interval that has become short grows.
CAIRN_FOR_EACH_MODE void cairn_range_shift(cairn_coder_mode mode, cairn_range_coder *coder) {
    if (__builtin_expect(coder->range >> 32 == 0, false)) {
        if (mode == CAIRN_CODER_DECODE) {
            const uint32_t next = cairn_range_read(coder->input, coder->size, coder->position);
            coder->low = coder->low << 16 | next;
        } else {
            cairn_range_write(coder->bytes, coder->size, coder->position, coder->low);
            coder->low = (coder->low & UINT32_MAX) << 16;
        }
        coder->position += 2;
        coder->range <<= 16;
    }
}

// Takes the first `part` of the interval, or what is after it.
CAIRN_FOR_EACH_MODE bool cairn_code_part_as(
    cairn_coder_mode mode, cairn_range_coder *coder, uint64_t part, bool first) {
    const uint64_t rest = coder->range - part;
    first = mode == CAIRN_CODER_DECODE ? coder->low < part : first;
    // By masks: compilers would branch, and what comes cannot be foreseen.
    const uint64_t after = (uint64_t)first - 1; // all bits, or none
    const uint64_t before = mode == CAIRN_CODER_DECODE ? 0 - (part & after) : part & after;
    coder->low += before;
    coder->range = part ^ ((part ^ rest) & after);
    cairn_range_shift(mode, coder);
    return first;
}

CAIRN_FOR_EACH_MODE bool cairn_code_bit_as(
    cairn_coder_mode mode, cairn_range_coder *coder, const cairn_probability *likely, bool bit) {
    return cairn_code_part_as(mode, coder, (coder->range >> 16) * *likely, bit);
}

// The same, and the probability moves towards what was coded, by a 2^CAIRN_ADAPTION_SHIFT-th of the
// way: both ends have the same tables afterwards. It stays within 1 .. 65535 if it starts there.
#define CAIRN_ADAPTION_SHIFT 6
CAIRN_FOR_EACH_MODE bool cairn_code_adapting_bit_as(
    cairn_coder_mode mode, cairn_range_coder *coder, cairn_probability *likely, bool bit) {
    const uint32_t now = *likely;
    bit = cairn_code_bit_as(mode, coder, likely, bit);
    const uint32_t gain = (0 - (uint32_t)bit) & ((UINT32_C(1) << (16 - CAIRN_ADAPTION_SHIFT)) - 1);
    *likely = (cairn_probability)(now - (now >> CAIRN_ADAPTION_SHIFT) + gain);
    return bit;
}

// The lowest `bits` of `value`, each as likely 0 as 1; at most 32.
CAIRN_FOR_EACH_MODE uint32_t cairn_code_raw_as(
    cairn_coder_mode mode, cairn_range_coder *coder, uint32_t bits, uint32_t value) {
    uint32_t result = 0;
    while (bits-- > 0) {
        result =
            result << 1 | cairn_code_part_as(mode, coder, coder->range >> 1, value >> bits & 1);
    }
    return result;
}

// As above, for what is coded seldom.
bool cairn_code_bit(cairn_range_coder *coder, const cairn_probability *likely, bool bit);
uint32_t cairn_code_raw(cairn_range_coder *coder, uint32_t bits, uint32_t value);
