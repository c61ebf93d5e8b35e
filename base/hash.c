// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/assert.h"

uint32_t cairn_name_hash(const char *name) {
    uint32_t hash = 2166136261u;
    for (const char *at = name; *at != '\0'; ++at) {
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    }
    return name[0] == '\0' ? 0 : hash == 0 ? 1u : hash;
}

// Eight lanes of 64 bits, four pairs of them. A unit is four words, two numbers d0 and d1 of 64
// bits, low word first; unit u goes to pair u mod 4. Each lane L of the pair takes its own number
// through a product of 32 by 32 bits and the other's by a plain sum:
//   v = L ^ d_own;  L += d_other + low32(v) * high32(v)
// The product mixes and depends on everything that the lane has read before; the sum keeps a change
// visible that a factor of zero would hide. (Multiplying halves and crossing lanes is the idea of
// the wide hashes since UMAC's NH: Black and others 1999.) In portable C this is
// one multiplication a number; vectors of two, four or eight lanes compute the same.
#define LANES 8
#define UNIT_WORDS 4
#define UNIT_SIZE (UNIT_WORDS * sizeof(uint32_t))
#define PAIRS (LANES / 2)

// The first outputs of SplitMix64 from seed 0: eight for the lanes' start, eight made odd.
static const uint64_t start[LANES] = {UINT64_C(0xe220a8397b1dcdaf), UINT64_C(0x6e789e6aa1b965f4),
    UINT64_C(0x06c45d188009454f), UINT64_C(0xf88bb8a8724c81ec), UINT64_C(0x1b39896a51a8749b),
    UINT64_C(0x53cb9f0c747ea2ea), UINT64_C(0x2c829abe1f4532e1), UINT64_C(0xc584133ac916ab3c)};
static const uint64_t weights[LANES] = {UINT64_C(0x3ee5789041c98ac3), UINT64_C(0xf3b8488c368cb0a7),
    UINT64_C(0x657eecdd3cb13d09), UINT64_C(0xc2d326e0055bdef7), UINT64_C(0x8621a03fe0bbdb7b),
    UINT64_C(0x8e1f7555983aa92f), UINT64_C(0xb54e0f1600cc4d19), UINT64_C(0x84bb3f97971d80ab)};
static const uint64_t key_low = UINT64_C(0x9e3779b97f4a7c15);
static const uint64_t key_high = UINT64_C(0xc2b2ae3d27d4eb4f);

static inline uint64_t mix(uint64_t k) {
    k ^= k >> 33;
    k *= UINT64_C(0xff51afd7ed558ccd);
    k ^= k >> 33;
    k *= UINT64_C(0xc4ceb9fe1a85ec53);
    return k ^ (k >> 33);
}

static inline void absorb(uint64_t pair[2], uint64_t d0, uint64_t d1) {
    const uint64_t v0 = pair[0] ^ d0;
    const uint64_t v1 = pair[1] ^ d1;
    pair[0] += d1 + (v0 & UINT32_MAX) * (v0 >> 32);
    pair[1] += d0 + (v1 & UINT32_MAX) * (v1 >> 32);
}

// Lanes to 128 bits: two sums of the lanes under different weights, the key and the count, and
// MurmurHash3's finaliser (Appleby, public domain): every input bit affects every output bit.
static inline cairn_hash128 finish(const uint64_t lanes[LANES], uint64_t key, uint64_t count) {
    cairn_hash128 out = {.lo = 0};
    for (int i = 0; i < LANES; ++i) {
        out.lo += lanes[i] * weights[i];
        out.hi += out.lo;
    }
    out.lo = (out.lo + key * key_low) ^ count;
    out.hi = (out.hi ^ key * key_high) + count;
    out.lo += out.hi;
    out.hi += out.lo;
    out.lo = mix(out.lo);
    out.hi = mix(out.hi);
    out.lo += out.hi;
    out.hi += out.lo;
    return out;
}

// Reads words at any address, of any struct of words.
static uint64_t word_at(const unsigned char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

#if defined(__SSE2__)

static inline __m128i load(const void *bytes) {
    return _mm_loadu_si128((const __m128i *)bytes);
}

static inline void store(void *bytes, __m128i pair) {
    _mm_storeu_si128((__m128i *)bytes, pair);
}

static inline __m128i absorb_unit(__m128i pair, __m128i unit) {
    const __m128i v = _mm_xor_si128(pair, unit);
    const __m128i crossed = _mm_shuffle_epi32(unit, _MM_SHUFFLE(1, 0, 3, 2));
    const __m128i sum = _mm_add_epi64(pair, crossed);
    return _mm_add_epi64(sum, _mm_mul_epu32(v, _mm_srli_epi64(v, 32)));
}

// Four variables, not an array, so that every compiler keeps them in registers.
static inline void absorb_units(
    uint64_t lanes[LANES], const unsigned char *bytes, size_t unit_count) {
    __m128i a = load(&lanes[0]);
    __m128i b = load(&lanes[2]);
    __m128i c = load(&lanes[4]);
    __m128i d = load(&lanes[6]);
    size_t left = unit_count;
    for (; left >= PAIRS; left -= PAIRS, bytes += PAIRS * UNIT_SIZE) {
        a = absorb_unit(a, load(bytes));
        b = absorb_unit(b, load(bytes + UNIT_SIZE));
        c = absorb_unit(c, load(bytes + 2 * UNIT_SIZE));
        d = absorb_unit(d, load(bytes + 3 * UNIT_SIZE));
    }
    if (left > 0) {
        a = absorb_unit(a, load(bytes));
    }
    if (left > 1) {
        b = absorb_unit(b, load(bytes + UNIT_SIZE));
    }
    if (left > 2) {
        c = absorb_unit(c, load(bytes + 2 * UNIT_SIZE));
    }
    store(&lanes[0], a);
    store(&lanes[2], b);
    store(&lanes[4], c);
    store(&lanes[6], d);
}

#else

static inline void absorb_units(
    uint64_t lanes[LANES], const unsigned char *bytes, size_t unit_count) {
    for (size_t unit = 0; unit < unit_count; ++unit, bytes += UNIT_SIZE) {
        absorb(&lanes[2 * (unit % PAIRS)], word_at(bytes) | word_at(bytes + 4) << 32,
            word_at(bytes + 8) | word_at(bytes + 12) << 32);
    }
}

#endif

static inline cairn_hash128 hash_at(uint64_t key, const unsigned char *bytes, size_t count) {
    const size_t units = count / UNIT_WORDS;
    const size_t left = count % UNIT_WORDS;
    uint64_t lanes[LANES];
    memcpy(lanes, start, sizeof lanes);
    absorb_units(lanes, bytes, units);
    if (left != 0) {
        // The last one to three words, padded with zeros.
        const unsigned char *tail = bytes + units * UNIT_SIZE;
        const uint64_t second = left > 1 ? word_at(tail + 4) << 32 : 0;
        const uint64_t third = left > 2 ? word_at(tail + 8) : 0;
        absorb(&lanes[2 * (units % PAIRS)], word_at(tail) | second, third);
    }
    return finish(lanes, key, count);
}

cairn_hash128 cairn_hash_words(uint64_t key, const void *words, size_t count) {
    return hash_at(key, words, count);
}

// Blocks without a tail have a loop of their own, in which one block's finish overlaps the next.
void cairn_hash_blocks(
    uint64_t first_key, const void *words, size_t word_count, size_t count, cairn_hash128 *leaves) {
    const unsigned char *bytes = words;
    const size_t size = word_count * sizeof(uint32_t);
    if (word_count % UNIT_WORDS != 0) {
        for (size_t i = 0; i < count; ++i) {
            leaves[i] = hash_at(first_key + i, bytes + i * size, word_count);
        }
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        uint64_t lanes[LANES];
        memcpy(lanes, start, sizeof lanes);
        absorb_units(lanes, bytes + i * size, word_count / UNIT_WORDS);
        leaves[i] = finish(lanes, first_key + i, word_count);
    }
}

cairn_hash128 cairn_hash_list(uint64_t key, const cairn_hash128 *hashes, size_t count) {
    CAIRN_ASSERT(hashes != NULL || count == 0);
    uint64_t lanes[LANES];
    memcpy(lanes, start, sizeof lanes);
    for (size_t i = 0; i < count; ++i) {
        absorb(&lanes[2 * (i % PAIRS)], hashes[i].lo, hashes[i].hi);
    }
    return finish(lanes, key, UNIT_WORDS * count);
}

bool cairn_hash_equal(cairn_hash128 a, cairn_hash128 b) {
    return a.lo == b.lo && a.hi == b.hi;
}

char *cairn_hash_print(cairn_hash128 hash, char text[CAIRN_HASH_TEXT_SIZE]) {
    for (int i = 0; i < 32; ++i) {
        const uint64_t half = i < 16 ? hash.hi : hash.lo;
        text[i] = "0123456789abcdef"[(half >> (60 - 4 * (i % 16))) & 15];
    }
    text[32] = '\0';
    return text;
}
