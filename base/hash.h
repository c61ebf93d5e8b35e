// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/types.h>

// 128-bit hash of 32-bit words, to find where two worlds differ. Not collision resistant against an
// attacker: code that must resist forgery chains BLAKE2b over these hashes.

// Hash of `count` words, at any alignment, keyed by `key` (an id, a section number): equal
// words under two keys have unrelated hashes, so swapped or mirrored twins are noticed. The value
// depends on the words alone, never on the byte order or the SIMD width of the machine. Fast from a
// few hundred bytes on: the fixed cost of a call equals that of about as many bytes.
cairn_hash128 cairn_hash_words(uint64_t key, const void *words, size_t count);

// The hashes of `count` contiguous blocks of `word_count` words each, keyed first_key, first_key +
// 1 and so on. Equal to that many calls of cairn_hash_words, but faster.
void cairn_hash_blocks(
    uint64_t first_key, const void *words, size_t word_count, size_t count, cairn_hash128 *leaves);

// Adds a keyed leaf to a set hash; the order of additions does not matter. cairn_hash_remove
// removes a leaf. All leaves of a set must have different keys.
static inline cairn_hash128 cairn_hash_add(cairn_hash128 set, cairn_hash128 leaf) {
    set.lo += leaf.lo;
    set.hi += leaf.hi;
    return set;
}
static inline cairn_hash128 cairn_hash_remove(cairn_hash128 set, cairn_hash128 leaf) {
    set.lo -= leaf.lo;
    set.hi -= leaf.hi;
    return set;
}

// The hash of a list of hashes, keyed; here order matters. Equal to cairn_hash_words over their
// words, four per hash, lowest first.
cairn_hash128 cairn_hash_list(uint64_t key, const cairn_hash128 *hashes, size_t count);

// What one side knows of the other's root: all of it, or the low 32 bits of `lo` alone, which find
// a world that differs with all but one in 2^32 chances at each tick.
typedef struct cairn_root_check {
    cairn_hash128 root;
    bool full;
} cairn_root_check;

static inline bool cairn_root_agrees(cairn_root_check check, cairn_hash128 root) {
    return check.full ? check.root.lo == root.lo && check.root.hi == root.hi
                      : (uint32_t)check.root.lo == (uint32_t)root.lo;
}
