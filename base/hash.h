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

// Hash of `count` words keyed by `key` (an id, a section number). The key goes through the mixer
// first, so equal words under two keys have unrelated hashes: swapped or mirrored twins are seen.
// The value depends on the words alone, never on the byte order of the machine.
cairn_hash128 cairn_hash_words(uint64_t key, const uint32_t *words, size_t count);

// The sum (cairn_hash_add) of the leaves of `count` elements of `word_count` words each, one after
// the other and aligned as they please, keyed first_key, first_key + 1 and so on.
cairn_hash128 cairn_hash_elements(
    uint64_t first_key, const void *elements, size_t word_count, size_t count);

// Adds a keyed leaf to a set; the order of additions does not matter, taking one out is
// cairn_hash_remove. Sound only for leaves of different keys.
cairn_hash128 cairn_hash_add(cairn_hash128 set, cairn_hash128 leaf);
cairn_hash128 cairn_hash_remove(cairn_hash128 set, cairn_hash128 leaf);

// The hash of a list of hashes, keyed; here order matters.
cairn_hash128 cairn_hash_list(uint64_t key, const cairn_hash128 *hashes, size_t count);

bool cairn_hash_equal(cairn_hash128 a, cairn_hash128 b);

// 32 lower-case hexadecimal digits (hi first) and a terminator. Returns `text`.
#define CAIRN_HASH_TEXT_SIZE 33
char *cairn_hash_print(cairn_hash128 hash, char text[CAIRN_HASH_TEXT_SIZE]);
