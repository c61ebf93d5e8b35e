// SPDX-License-Identifier: MIT
#include "net/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

cairn_status cairn_lookup_create(
    cairn_lookup *lookup, uint32_t capacity, const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE]) {
    CAIRN_ASSERT(capacity >= 1 && capacity <= 1u << 31);
    *lookup = (cairn_lookup){.bucket_count = 1};
    memcpy(lookup->hash_key, hash_key, CAIRN_SIPHASH_KEY_SIZE);
    while (lookup->bucket_count < capacity) {
        lookup->bucket_count *= 2;
    }
    lookup->buckets = malloc(lookup->bucket_count * sizeof *lookup->buckets);
    lookup->entries = calloc(capacity, sizeof *lookup->entries);
    if (lookup->buckets == NULL || lookup->entries == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    memset(lookup->buckets, 0xff, lookup->bucket_count * sizeof *lookup->buckets);
    return CAIRN_OK;
}

void cairn_lookup_destroy(cairn_lookup *lookup) {
    free(lookup->buckets);
    free(lookup->entries);
    *lookup = (cairn_lookup){0};
}

static void pad_key(uint8_t padded[CAIRN_LOOKUP_KEY_SIZE], const void *key, size_t size) {
    CAIRN_ASSERT(size <= CAIRN_LOOKUP_KEY_SIZE);
    memset(padded, 0, CAIRN_LOOKUP_KEY_SIZE);
    memcpy(padded, key, size);
}

static uint32_t *bucket_of(const cairn_lookup *lookup, const uint8_t key[CAIRN_LOOKUP_KEY_SIZE]) {
    CAIRN_ASSERT(lookup->buckets != NULL && lookup->bucket_count > 0);
    const uint64_t hash = cairn_siphash(key, CAIRN_LOOKUP_KEY_SIZE, lookup->hash_key);
    return &lookup->buckets[hash & (lookup->bucket_count - 1)];
}

uint32_t cairn_lookup_find(const cairn_lookup *lookup, const void *key, size_t size) {
    uint8_t padded[CAIRN_LOOKUP_KEY_SIZE];
    pad_key(padded, key, size);
    uint32_t item = *bucket_of(lookup, padded);
    while (item != CAIRN_LOOKUP_NONE &&
           memcmp(lookup->entries[item].key, padded, CAIRN_LOOKUP_KEY_SIZE) != 0) {
        item = lookup->entries[item].next;
    }
    return item;
}

void cairn_lookup_insert(cairn_lookup *lookup, const void *key, size_t size, uint32_t item) {
    CAIRN_ASSERT(item != CAIRN_LOOKUP_NONE);
    CAIRN_ASSERT(cairn_lookup_find(lookup, key, size) == CAIRN_LOOKUP_NONE);
    cairn_lookup_entry *entry = &lookup->entries[item];
    pad_key(entry->key, key, size);
    uint32_t *bucket = bucket_of(lookup, entry->key);
    entry->next = *bucket;
    *bucket = item;
}

void cairn_lookup_remove(cairn_lookup *lookup, uint32_t item) {
    CAIRN_ASSERT(item != CAIRN_LOOKUP_NONE);
    uint32_t *place = bucket_of(lookup, lookup->entries[item].key);
    while (*place != item) {
        CAIRN_ASSERT(*place != CAIRN_LOOKUP_NONE);
        place = &lookup->entries[*place].next;
    }
    *place = lookup->entries[item].next;
}
