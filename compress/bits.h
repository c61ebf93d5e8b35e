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
    uint32_t count; // of them; of a writer below 8 between calls
    bool failed;    // no room, or read beyond the end
} cairn_bits;

static inline cairn_bits cairn_bits_writer(uint8_t *bytes, size_t size) {
    return (cairn_bits){.out = bytes, .size = size};
}

static inline cairn_bits cairn_bits_reader(const uint8_t *bytes, size_t size) {
    return (cairn_bits){.in = bytes, .size = size};
}

static inline void cairn_bits_refill(cairn_bits *bits) {
    while (bits->count <= 56 && bits->at < bits->size) {
        bits->word |= (uint64_t)bits->in[bits->at++] << bits->count;
        bits->count += 8;
    }
}

// Whole bytes of what waits, near the end.
static inline void cairn_bits_put_last(cairn_bits *bits) {
    for (; bits->count >= 8; bits->count -= 8) {
        if (bits->at == bits->size) {
            bits->failed = true;
            bits->count = 0;
            return;
        }
        bits->out[bits->at++] = (uint8_t)bits->word;
        bits->word >>= 8;
    }
}

// Of a writer. `count` is at most 56; `value` has no other bits. All that waits is written each
// time, up to eight bytes, so that no branch depends on how many are whole.
static inline void cairn_bits_put(cairn_bits *bits, uint32_t count, uint64_t value) {
    bits->word |= value << bits->count;
    bits->count += count;
    if (__builtin_expect(bits->size - bits->at < 8, false)) {
        cairn_bits_put_last(bits);
        return;
    }
    const uint64_t word = bits->word;
    uint8_t *out = bits->out + bits->at;
    out[0] = (uint8_t)word; // compilers see that this is one number
    out[1] = (uint8_t)(word >> 8);
    out[2] = (uint8_t)(word >> 16);
    out[3] = (uint8_t)(word >> 24);
    out[4] = (uint8_t)(word >> 32);
    out[5] = (uint8_t)(word >> 40);
    out[6] = (uint8_t)(word >> 48);
    out[7] = (uint8_t)(word >> 56);
    bits->at += bits->count >> 3;
    bits->word >>= bits->count & 56;
    bits->count &= 7;
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

// Of a number, as cairn_bits_code_number has it.
typedef struct cairn_number_code {
    uint64_t bits;
    uint32_t count; // at most 65: then `bits` are not all of them
} cairn_number_code;

static inline cairn_number_code cairn_number_code_of(uint32_t order, uint32_t value) {
    const uint64_t whole = ((uint64_t)value >> order) + 1;
    const uint32_t more = 63u - (uint32_t)__builtin_clzll(whole);
    const uint64_t ones = (UINT64_C(1) << more) - 1;
    const uint64_t low = value & ((UINT32_C(1) << order) - 1);
    const uint64_t middle = (whole & ones) | low << more; // what comes after the zero
    return (cairn_number_code){.bits = (middle << 1) << more | ones, .count = 2 * more + 1 + order};
}

// Of a writer. Mostly all bits at once.
static inline void cairn_bits_put_number(cairn_bits *bits, uint32_t order, uint32_t value) {
    const cairn_number_code code = cairn_number_code_of(order, value);
    if (__builtin_expect(code.count <= 56, true)) {
        cairn_bits_put(bits, code.count, code.bits);
    } else {
        (void)cairn_bits_code_number(bits, order, value);
    }
}

// Eight bytes at once where there are so many. Bits above those counted may be of the stream, too:
// they are read again.
static inline void cairn_bits_refill_fast(cairn_bits *bits) {
    if (bits->size - bits->at < 8) {
        cairn_bits_refill(bits);
        return;
    }
    const uint8_t *in = bits->in + bits->at;
    const uint64_t next = (uint64_t)in[0] | (uint64_t)in[1] << 8 | (uint64_t)in[2] << 16 |
                          (uint64_t)in[3] << 24 | (uint64_t)in[4] << 32 | (uint64_t)in[5] << 40 |
                          (uint64_t)in[6] << 48 | (uint64_t)in[7] << 56;
    bits->word |= next << bits->count;
    bits->at += (63 - bits->count) >> 3;
    bits->count |= 56;
}

// As cairn_bits_code_number, of a reader. Mostly all bits at once.
static inline uint32_t cairn_bits_read_number(cairn_bits *bits, uint32_t order) {
    if (bits->count < 48) {
        cairn_bits_refill_fast(bits);
    }
    const uint32_t more = (uint32_t)__builtin_ctzll(~bits->word | UINT64_C(1) << 63);
    const uint32_t count = 2 * more + 1 + order;
    if (__builtin_expect(count > bits->count || count > 48, false)) {
        return cairn_bits_code_number(bits, order, 0);
    }
    const uint64_t middle = bits->word >> (more + 1);
    const uint64_t ones = (UINT64_C(1) << more) - 1;
    const uint64_t low = middle >> more & ((UINT64_C(1) << order) - 1);
    bits->word >>= count;
    bits->count -= count;
    return (uint32_t)(((ones + 1) | (middle & ones)) - 1) << order | (uint32_t)low;
}

static inline int32_t cairn_bits_read_change(cairn_bits *bits, uint32_t order, int32_t from) {
    const uint32_t coded = cairn_bits_read_number(bits, order);
    return (int32_t)((uint32_t)from + ((coded >> 1) ^ (0u - (coded & 1))));
}

// The difference to a number that is known, modulo 2^32: 0, -1, 1, -2 become 0, 1, 2, 3.
static inline int32_t cairn_bits_code_change(
    cairn_bits *bits, uint32_t order, int32_t from, int32_t to) {
    const uint32_t difference = (uint32_t)to - (uint32_t)from;
    const uint32_t folded = (difference << 1) ^ (0u - (difference >> 31));
    const uint32_t coded = cairn_bits_code_number(bits, order, folded);
    return (int32_t)((uint32_t)from + ((coded >> 1) ^ (0u - (coded & 1))));
}
