// SPDX-License-Identifier: MIT
#include "net/netcode_handshake.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

cairn_status cairn_handshakes_create(cairn_handshakes *handshakes, uint32_t capacity,
    const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE]) {
    CAIRN_ASSERT(capacity >= 1);
    *handshakes = (cairn_handshakes){.capacity = capacity, .earliest_ns = UINT64_MAX};
    handshakes->pool = calloc(capacity, sizeof *handshakes->pool);
    const cairn_status status = cairn_lookup_create(&handshakes->by_address, capacity, hash_key);
    if (handshakes->pool == NULL || status != CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < capacity; ++i) {
        handshakes->pool[i].next_free = i + 1 < capacity ? i + 1 : CAIRN_LOOKUP_NONE;
    }
    return CAIRN_OK;
}

void cairn_handshakes_destroy(cairn_handshakes *handshakes) {
    cairn_lookup_destroy(&handshakes->by_address);
    if (handshakes->pool != NULL) {
        cairn_wipe(handshakes->pool, handshakes->capacity * sizeof *handshakes->pool);
    }
    free(handshakes->pool);
    *handshakes = (cairn_handshakes){0};
}

const cairn_handshake *cairn_handshakes_find(
    const cairn_handshakes *handshakes, const cairn_address *address, uint64_t now_ns) {
    const uint32_t item = cairn_lookup_find(&handshakes->by_address, address, sizeof *address);
    if (item == CAIRN_LOOKUP_NONE || now_ns >= handshakes->pool[item].deadline_ns) {
        return NULL;
    }
    return &handshakes->pool[item];
}

bool cairn_handshakes_put(cairn_handshakes *handshakes, const cairn_address *address,
    const cairn_token_private *token, const uint8_t mac[CAIRN_AEAD_MAC_SIZE], uint64_t now_ns) {
    uint32_t item = cairn_lookup_find(&handshakes->by_address, address, sizeof *address);
    if (item == CAIRN_LOOKUP_NONE) {
        item = handshakes->first_free;
        if (item == CAIRN_LOOKUP_NONE) {
            return false;
        }
        handshakes->first_free = handshakes->pool[item].next_free;
        cairn_lookup_insert(&handshakes->by_address, address, sizeof *address, item);
    }
    uint64_t lifetime_ns = CAIRN_HANDSHAKE_TIMEOUT_NS_MAX;
    if (token->timeout_s > 0 && (uint64_t)token->timeout_s < lifetime_ns / CAIRN_NS_PER_S) {
        lifetime_ns = (uint64_t)token->timeout_s * CAIRN_NS_PER_S;
    }
    cairn_handshake *handshake = &handshakes->pool[item];
    *handshake = (cairn_handshake){
        .address = *address,
        .client_id = token->client_id,
        .timeout_s = token->timeout_s,
        .deadline_ns = now_ns + lifetime_ns,
        .used = true,
    };
    memcpy(handshake->mac, mac, CAIRN_AEAD_MAC_SIZE);
    memcpy(handshake->client_to_server_key, token->client_to_server_key, CAIRN_KEY_SIZE);
    memcpy(handshake->server_to_client_key, token->server_to_client_key, CAIRN_KEY_SIZE);
    if (handshake->deadline_ns < handshakes->earliest_ns) {
        handshakes->earliest_ns = handshake->deadline_ns;
    }
    CAIRN_ASSERT(handshakes->earliest_ns <= handshake->deadline_ns);
    return true;
}

static void remove_item(cairn_handshakes *handshakes, uint32_t item) {
    CAIRN_ASSERT(item < handshakes->capacity && handshakes->pool[item].used);
    cairn_lookup_remove(&handshakes->by_address, item);
    cairn_wipe(&handshakes->pool[item], sizeof handshakes->pool[item]);
    handshakes->pool[item].next_free = handshakes->first_free;
    handshakes->first_free = item;
}

void cairn_handshakes_remove(cairn_handshakes *handshakes, const cairn_address *address) {
    const uint32_t item = cairn_lookup_find(&handshakes->by_address, address, sizeof *address);
    CAIRN_ASSERT(item != CAIRN_LOOKUP_NONE);
    remove_item(handshakes, item);
}

void cairn_handshakes_expire(cairn_handshakes *handshakes, uint64_t now_ns) {
    if (now_ns < handshakes->earliest_ns) {
        return;
    }
    uint64_t earliest_ns = UINT64_MAX;
    for (uint32_t i = 0; i < handshakes->capacity; ++i) {
        const cairn_handshake *handshake = &handshakes->pool[i];
        if (handshake->used && now_ns >= handshake->deadline_ns) {
            remove_item(handshakes, i);
        } else if (handshake->used && handshake->deadline_ns < earliest_ns) {
            earliest_ns = handshake->deadline_ns;
        }
    }
    CAIRN_ASSERT(earliest_ns > now_ns);
    handshakes->earliest_ns = earliest_ns;
}
