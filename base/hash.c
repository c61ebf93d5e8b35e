// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <string.h>

// The body is MurmurHash3's 128-bit round (Appleby, public domain) read by 32-bit words: portable
// 64-bit multiplies, strong enough to tell structured errors apart, no 128-bit product needed.
static const uint64_t c1 = UINT64_C(0x87c37b91114253d5);
static const uint64_t c2 = UINT64_C(0x4cf5ad432745937f);

static inline uint64_t rotate_left(uint64_t value, unsigned bits) {
    return (value << bits) | (value >> (64 - bits));
}

static inline uint64_t finish(uint64_t k) {
    k ^= k >> 33;
    k *= UINT64_C(0xff51afd7ed558ccd);
    k ^= k >> 33;
    k *= UINT64_C(0xc4ceb9fe1a85ec53);
    return k ^ (k >> 33);
}

static inline void absorb(cairn_hash128 *state, uint64_t k1, uint64_t k2) {
    state->lo ^= rotate_left(k1 * c1, 31) * c2;
    state->lo = (rotate_left(state->lo, 27) + state->hi) * 5 + 0x52dce729;
    state->hi ^= rotate_left(k2 * c2, 33) * c1;
    state->hi = (rotate_left(state->hi, 31) + state->lo) * 5 + 0x38495ab5;
}

static inline cairn_hash128 begin(uint64_t key) {
    return (cairn_hash128){.lo = finish(key + c1), .hi = finish(key ^ c2)};
}

static inline cairn_hash128 end(cairn_hash128 state, uint64_t count) {
    state.lo ^= count;
    state.hi ^= count;
    state.lo += state.hi;
    state.hi += state.lo;
    state.lo = finish(state.lo);
    state.hi = finish(state.hi);
    state.lo += state.hi;
    state.hi += state.lo;
    return state;
}

// From bytes that may be part of any struct of words.
static uint64_t word_at(const unsigned char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static uint64_t pair_at(const unsigned char *bytes) {
    return word_at(bytes) | word_at(bytes + 4) << 32;
}

static inline cairn_hash128 hash_at(uint64_t key, const unsigned char *bytes, size_t count) {
    cairn_hash128 state = begin(key);
    size_t left = count;
    for (; left >= 4; left -= 4, bytes += 16) {
        absorb(&state, pair_at(bytes), pair_at(bytes + 8));
    }
    if (left != 0) {
        const uint64_t first = left > 1 ? pair_at(bytes) : word_at(bytes);
        absorb(&state, first, left > 2 ? word_at(bytes + 8) : 0);
    }
    return end(state, count);
}

cairn_hash128 cairn_hash_words(uint64_t key, const uint32_t *words, size_t count) {
    return hash_at(key, (const unsigned char *)words, count);
}

cairn_hash128 cairn_hash_elements(
    uint64_t first_key, const void *elements, size_t word_count, size_t count) {
    const unsigned char *bytes = elements;
    cairn_hash128 sum = {.lo = 0};
    for (size_t i = 0; i < count; ++i) {
        sum = cairn_hash_add(sum, hash_at(first_key + i, bytes + 4 * word_count * i, word_count));
    }
    return sum;
}

cairn_hash128 cairn_hash_add(cairn_hash128 set, cairn_hash128 leaf) {
    return (cairn_hash128){.lo = set.lo + leaf.lo, .hi = set.hi + leaf.hi};
}

cairn_hash128 cairn_hash_remove(cairn_hash128 set, cairn_hash128 leaf) {
    return (cairn_hash128){.lo = set.lo - leaf.lo, .hi = set.hi - leaf.hi};
}

cairn_hash128 cairn_hash_list(uint64_t key, const cairn_hash128 *hashes, size_t count) {
    cairn_hash128 state = begin(key);
    for (size_t i = 0; i < count; ++i) {
        absorb(&state, hashes[i].lo, hashes[i].hi);
    }
    return end(state, count);
}

bool cairn_hash_equal(cairn_hash128 a, cairn_hash128 b) {
    return a.lo == b.lo && a.hi == b.hi;
}

static char *print_half(uint64_t half, char *text) {
    for (int i = 0; i < 16; ++i) {
        text[i] = "0123456789abcdef"[(half >> (60 - 4 * i)) & 15];
    }
    return text + 16;
}

char *cairn_hash_print(cairn_hash128 hash, char text[CAIRN_HASH_TEXT_SIZE]) {
    *print_half(hash.lo, print_half(hash.hi, text)) = '\0';
    return text;
}
