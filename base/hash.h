// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// 128-bit hash of 32-bit words for finding where two worlds differ. Not for adversaries: who must
// resist forgery chains BLAKE2b over these.
typedef struct cairn_hash128 {
    uint64_t lo;
    uint64_t hi;
} cairn_hash128;

// Hash of `count` words, aligned as they please, keyed by `key` (an id, a section number): equal
// words under two keys have unrelated hashes, so swapped or mirrored twins are seen. The value
// depends on the words alone, never on the byte order or the vectors of the machine. Costs little
// from a few hundred bytes on: half of it is paid once a call.
cairn_hash128 cairn_hash_words(uint64_t key, const void *words, size_t count);

// The hashes of `count` blocks of `word_count` words each that lie one after the other, keyed
// first_key, first_key + 1 and so on: the values of cairn_hash_words, sooner.
void cairn_hash_blocks(
    uint64_t first_key, const void *words, size_t word_count, size_t count, cairn_hash128 *leaves);

// Adds a keyed leaf to a set; the order of additions does not matter, taking one out is
// cairn_hash_remove. Sound only for leaves of different keys.
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

// The hash of a list of hashes, keyed; here order matters. That of their words, four a hash, lowest
// first.
cairn_hash128 cairn_hash_list(uint64_t key, const cairn_hash128 *hashes, size_t count);

bool cairn_hash_equal(cairn_hash128 a, cairn_hash128 b);

// 32 lower-case hexadecimal digits (hi first) and a terminator. Returns `text`.
#define CAIRN_HASH_TEXT_SIZE 33
char *cairn_hash_print(cairn_hash128 hash, char text[CAIRN_HASH_TEXT_SIZE]);
