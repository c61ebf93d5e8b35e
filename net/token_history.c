// SPDX-License-Identifier: MIT
#include "net/token_history.h"

#include <stdlib.h>

#include "base/assert.h"

cairn_status cairn_token_history_create(cairn_token_history *history, uint32_t capacity,
    const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE]) {
    CAIRN_ASSERT(capacity >= 1);
    *history = (cairn_token_history){.capacity = capacity};
    history->records = calloc(capacity, sizeof *history->records);
    const cairn_status by_token = cairn_lookup_create(&history->by_token, capacity, hash_key);
    const cairn_status by_id = cairn_lookup_create(&history->by_id, capacity, hash_key);
    if (history->records == NULL || by_token != CAIRN_OK || by_id != CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < capacity; ++i) {
        history->records[i].next_free = i + 1 < capacity ? i + 1 : CAIRN_LOOKUP_NONE;
    }
    return CAIRN_OK;
}

void cairn_token_history_destroy(cairn_token_history *history) {
    cairn_lookup_destroy(&history->by_token);
    cairn_lookup_destroy(&history->by_id);
    free(history->records);
    *history = (cairn_token_history){0};
}

// At most once per second, because expiry is in seconds: a flood of tokens cannot make every
// response walk the pool.
static void remove_expired(cairn_token_history *history, const cairn_token_use *use) {
    if (use->now_unix_s == history->swept_unix_s) {
        return;
    }
    history->swept_unix_s = use->now_unix_s;
    for (uint32_t i = 0; i < history->capacity; ++i) {
        const uint64_t expire_unix_s = history->records[i].expire_unix_s;
        if (!history->records[i].used || expire_unix_s > use->now_unix_s) {
            continue;
        }
        if (expire_unix_s > history->forgotten_unix_s) {
            history->forgotten_unix_s = expire_unix_s;
        }
        history->forgotten_until_ns = use->lifetime_ns < UINT64_MAX - use->now_ns
                                          ? use->now_ns + use->lifetime_ns
                                          : UINT64_MAX;
        cairn_lookup_remove(&history->by_token, i);
        cairn_lookup_remove(&history->by_id, i);
        history->records[i] = (cairn_token_record){.next_free = history->first_free};
        history->first_free = i;
    }
}

bool cairn_token_history_holds(const cairn_token_history *history,
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE], uint64_t expire_unix_s, uint64_t now_ns) {
    const bool forgotten =
        expire_unix_s <= history->forgotten_unix_s && now_ns < history->forgotten_until_ns;
    return forgotten ||
           cairn_lookup_find(&history->by_token, mac, CAIRN_AEAD_MAC_SIZE) != CAIRN_LOOKUP_NONE;
}

// The key of the client id's token with this number.
typedef struct id_key {
    uint64_t client_id;
    uint64_t number;
} id_key;

// A number that no token of this id has; CAIRN_TOKENS_PER_ID_MAX: none is free.
static uint64_t find_free_number(const cairn_token_history *history, uint64_t client_id) {
    id_key key = {.client_id = client_id};
    while (key.number < CAIRN_TOKENS_PER_ID_MAX &&
           cairn_lookup_find(&history->by_id, &key, sizeof key) != CAIRN_LOOKUP_NONE) {
        ++key.number;
    }
    return key.number;
}

cairn_netcode_drop cairn_token_history_consume(
    cairn_token_history *history, const cairn_token_use *use) {
    CAIRN_ASSERT(!cairn_token_history_holds(history, use->mac, use->expire_unix_s, use->now_ns));
    id_key key = {use->client_id, find_free_number(history, use->client_id)};
    if (history->first_free == CAIRN_LOOKUP_NONE || key.number == CAIRN_TOKENS_PER_ID_MAX) {
        remove_expired(history, use);
        key.number = find_free_number(history, use->client_id);
    }
    if (key.number == CAIRN_TOKENS_PER_ID_MAX) {
        return CAIRN_NETCODE_DROP_ID_TOKENS;
    }
    const uint32_t item = history->first_free;
    if (item == CAIRN_LOOKUP_NONE) {
        return CAIRN_NETCODE_DROP_TOKEN_HISTORY_FULL;
    }
    CAIRN_ASSERT(item < history->capacity && !history->records[item].used);
    history->first_free = history->records[item].next_free;
    history->records[item] =
        (cairn_token_record){.expire_unix_s = use->expire_unix_s, .used = true};
    cairn_lookup_insert(&history->by_token, use->mac, CAIRN_AEAD_MAC_SIZE, item);
    cairn_lookup_insert(&history->by_id, &key, sizeof key, item);
    return CAIRN_NETCODE_TAKEN;
}
