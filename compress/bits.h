// SPDX-License-Identifier: MIT
#pragma once

// A stream of bits, low bits of each byte first. One set of functions writes and reads, so that
// both directions of a code are one piece of text: what is known goes in, what the stream says
// comes out. A failure is remembered: nothing more is written, and zeros are read.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cairn_bits {
    uint8_t *out;      // writing; NULL: reading
    const uint8_t *in; // reading
    size_t size;
    size_t at;
    uint64_t word;  // bits that wait
    uint32_t count; // of them, below 32 between calls
    bool failed;    // no room, or read beyond the end
} cairn_bits;

static inline cairn_bits cairn_bits_writer(uint8_t *bytes, size_t size) {
    return (cairn_bits){.out = bytes, .size = size};
}

static inline cairn_bits cairn_bits_reader(const uint8_t *bytes, size_t size) {
    return (cairn_bits){.in = bytes, .size = size};
}

static inline void cairn_bits_flush(cairn_bits *bits) {
    if (bits->size - bits->at < 4) {
        bits->failed = true;
        bits->count = 0;
        return;
    }
    const uint32_t low = (uint32_t)bits->word;
    uint8_t *out = bits->out + bits->at;
    out[0] = (uint8_t)low;
    out[1] = (uint8_t)(low >> 8);
    out[2] = (uint8_t)(low >> 16);
    out[3] = (uint8_t)(low >> 24);
    bits->at += 4;
    bits->word >>= 32;
    bits->count -= 32;
}

static inline void cairn_bits_refill(cairn_bits *bits) {
    while (bits->count <= 56 && bits->at < bits->size) {
        bits->word |= (uint64_t)bits->in[bits->at++] << bits->count;
        bits->count += 8;
    }
}

// Of a writer. `count` is at most 32; `value` has no other bits.
static inline void cairn_bits_put(cairn_bits *bits, uint32_t count, uint32_t value) {
    bits->word |= (uint64_t)value << bits->count;
    bits->count += count;
    if (bits->count >= 32) {
        cairn_bits_flush(bits);
    }
}

static inline uint32_t cairn_bits_code(cairn_bits *bits, uint32_t count, uint32_t value) {
    if (bits->out != NULL) {
        cairn_bits_put(bits, count, value);
        return value;
    }
    if (bits->count < count) {
        cairn_bits_refill(bits);
        if (bits->count < count) {
            bits->failed = true;
            bits->count = 0;
            bits->at = bits->size;
            return 0;
        }
    }
    value = (uint32_t)(bits->word & ((UINT64_C(1) << count) - 1));
    bits->word >>= count;
    bits->count -= count;
    return value;
}

// The bytes of what was written, filled up with zeros; 0: there was no room, or nothing.
static inline size_t cairn_bits_finish(cairn_bits *bits) {
    for (; bits->count > 0 && !bits->failed; bits->count -= bits->count < 8 ? bits->count : 8) {
        if (bits->at == bits->size) {
            bits->failed = true;
        } else {
            bits->out[bits->at++] = (uint8_t)bits->word;
            bits->word >>= 8;
        }
    }
    return bits->failed ? 0 : bits->at;
}

static inline bool cairn_bits_code_bool(cairn_bits *bits, bool value) {
    return cairn_bits_code(bits, 1, value ? 1u : 0u) != 0;
}

static inline uint32_t cairn_bits_length(uint64_t value) {
    return value == 0 ? 0 : 64u - (uint32_t)__builtin_clzll(value);
}

// A number, short if it is below 2^order (exponential Golomb code): how many bits the number
// divided by 2^order and plus one has beyond its first one, in unary; these bits; the low ones.
static inline uint32_t cairn_bits_code_number(cairn_bits *bits, uint32_t order, uint32_t value) {
    uint64_t whole = ((uint64_t)value >> order) + 1;
    const uint32_t low_bits = value & ((1u << order) - 1u);
    uint32_t more = 0;
    if (bits->out != NULL) {
        more = cairn_bits_length(whole) - 1;
        const uint64_t ones = (UINT64_C(1) << more) - 1;
        cairn_bits_code(bits, more < 32 ? more : 32, (uint32_t)ones);
        cairn_bits_code(bits, 1, 0);
    } else {
        while (more < 32 && cairn_bits_code_bool(bits, true)) {
            more += 1;
        }
        // The largest number has 32 ones and a zero.
        bits->failed = bits->failed || (more == 32 && cairn_bits_code(bits, 1, 0) != 0);
    }
    const uint64_t mask = (UINT64_C(1) << more) - 1;
    whole = (mask + 1) | cairn_bits_code(bits, more, (uint32_t)(whole & mask));
    const uint32_t low = cairn_bits_code(bits, order, low_bits);
    return (uint32_t)((whole - 1) << order) | low;
}

// Of a writer. Mostly all bits at once.
static inline void cairn_bits_put_number(cairn_bits *bits, uint32_t order, uint32_t value) {
    const uint64_t whole = ((uint64_t)value >> order) + 1;
    const uint32_t more = 63u - (uint32_t)__builtin_clzll(whole);
    const uint32_t size = 2 * more + 1 + order;
    if (__builtin_expect(size > 32, false)) {
        (void)cairn_bits_code_number(bits, order, value);
        return;
    }
    const uint32_t ones = (UINT32_C(1) << more) - 1;
    const uint32_t low = value & ((UINT32_C(1) << order) - 1);
    const uint32_t middle = ((uint32_t)whole & ones) | low << more; // what comes after the zero
    cairn_bits_put(bits, size, (middle << 1) << more | ones);
}

// The difference to a number that is known, modulo 2^32: 0, -1, 1, -2 become 0, 1, 2, 3.
static inline int32_t cairn_bits_code_change(
    cairn_bits *bits, uint32_t order, int32_t from, int32_t to) {
    const uint32_t difference = (uint32_t)to - (uint32_t)from;
    const uint32_t folded = (difference << 1) ^ (0u - (difference >> 31));
    const uint32_t coded = cairn_bits_code_number(bits, order, folded);
    return (int32_t)((uint32_t)from + ((coded >> 1) ^ (0u - (coded & 1))));
}
