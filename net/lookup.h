// SPDX-License-Identifier: MIT
#pragma once

// A table that finds an item by a key of up to 20 bytes (an address, a client id, a MAC) in
// constant time. Items are numbers 0 .. capacity - 1 that the caller hands out; each has at most
// one key. Keys come from unknown peers, so buckets are chosen by a keyed hash. Nothing can iterate
// the table: the order of buckets never decides anything.

#include <stdint.h>

#include "net/crypto.h"
#include <cairn/status.h>

#define CAIRN_LOOKUP_KEY_SIZE 20
#define CAIRN_LOOKUP_NONE UINT32_MAX

typedef struct cairn_lookup_entry {
    uint8_t key[CAIRN_LOOKUP_KEY_SIZE];
    uint32_t next; // in the same bucket, or CAIRN_LOOKUP_NONE
} cairn_lookup_entry;

typedef struct cairn_lookup {
    uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE];
    uint32_t bucket_count; // a power of two
    uint32_t *buckets;     // first item, or CAIRN_LOOKUP_NONE
    cairn_lookup_entry *entries;
} cairn_lookup;

// CAIRN_OUT_OF_MEMORY; the lookup may still be destroyed.
cairn_status cairn_lookup_create(
    cairn_lookup *lookup, uint32_t capacity, const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE]);
void cairn_lookup_destroy(cairn_lookup *lookup);

// Keys are `size` bytes, at most CAIRN_LOOKUP_KEY_SIZE, always the same size in one table.
uint32_t cairn_lookup_find(const cairn_lookup *lookup, const void *key, size_t size);
// The key must not be in the table, the item must have none.
void cairn_lookup_insert(cairn_lookup *lookup, const void *key, size_t size, uint32_t item);
// The item must have a key.
void cairn_lookup_remove(cairn_lookup *lookup, uint32_t item);
