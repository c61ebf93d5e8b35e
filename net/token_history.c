// SPDX-License-Identifier: MIT
#include "net/token_history.h"

#include <stdlib.h>

#include "base/assert.h"

cairn_status cairn_token_history_create(cairn_token_history *history, uint32_t capacity,
    const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE]) {
    CAIRN_ASSERT(capacity >= 1);
    *history = (cairn_token_history){.capacity = capacity};
    history->records = calloc(capacity, sizeof *history->records);
    const cairn_status status = cairn_lookup_create(&history->lookup, capacity, hash_key);
    if (history->records == NULL || status != CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < capacity; ++i) {
        history->records[i].next_free = i + 1 < capacity ? i + 1 : CAIRN_LOOKUP_NONE;
    }
    return CAIRN_OK;
}

void cairn_token_history_destroy(cairn_token_history *history) {
    cairn_lookup_destroy(&history->lookup);
    free(history->records);
    *history = (cairn_token_history){0};
}

// Only a full history is swept, and at most once per second, because expiry is in seconds: a flood
// of tokens cannot make every request walk the pool.
static void remove_expired(cairn_token_history *history, uint64_t now_unix_s) {
    CAIRN_ASSERT(history->first_free == CAIRN_LOOKUP_NONE);
    if (now_unix_s == history->swept_unix_s) {
        return;
    }
    history->swept_unix_s = now_unix_s;
    for (uint32_t i = 0; i < history->capacity; ++i) {
        if (history->records[i].used && history->records[i].expire_unix_s <= now_unix_s) {
            cairn_lookup_remove(&history->lookup, i);
            history->records[i] = (cairn_token_record){.next_free = history->first_free};
            history->first_free = i;
        }
    }
}

static cairn_netcode_drop add_record(cairn_token_history *history,
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE], const cairn_address *from, uint64_t now_unix_s,
    uint64_t expire_unix_s) {
    if (history->first_free == CAIRN_LOOKUP_NONE) {
        remove_expired(history, now_unix_s);
    }
    const uint32_t item = history->first_free;
    if (item == CAIRN_LOOKUP_NONE) {
        return CAIRN_NETCODE_DROP_TOKEN_HISTORY_FULL;
    }
    CAIRN_ASSERT(item < history->capacity && !history->records[item].used);
    history->first_free = history->records[item].next_free;
    history->records[item] =
        (cairn_token_record){.expire_unix_s = expire_unix_s, .address = *from, .used = true};
    cairn_lookup_insert(&history->lookup, mac, CAIRN_AEAD_MAC_SIZE, item);
    return CAIRN_NETCODE_TAKEN;
}

cairn_netcode_drop cairn_token_history_show(cairn_token_history *history,
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE], const cairn_address *from, uint64_t now_unix_s,
    uint64_t expire_unix_s) {
    CAIRN_ASSERT(expire_unix_s > now_unix_s);
    const uint32_t item = cairn_lookup_find(&history->lookup, mac, CAIRN_AEAD_MAC_SIZE);
    if (item == CAIRN_LOOKUP_NONE) {
        return add_record(history, mac, from, now_unix_s, expire_unix_s);
    }
    const cairn_token_record *record = &history->records[item];
    CAIRN_ASSERT(record->used);
    const bool ours = !record->consumed && cairn_address_equal(&record->address, from);
    return ours ? CAIRN_NETCODE_TAKEN : CAIRN_NETCODE_DROP_TOKEN_USED;
}

void cairn_token_history_consume(
    cairn_token_history *history, const uint8_t mac[CAIRN_AEAD_MAC_SIZE]) {
    const uint32_t item = cairn_lookup_find(&history->lookup, mac, CAIRN_AEAD_MAC_SIZE);
    if (item != CAIRN_LOOKUP_NONE) {
        history->records[item].consumed = true;
    }
}
