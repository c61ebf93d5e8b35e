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
    const cairn_status by_address =
        cairn_lookup_create(&handshakes->by_address, capacity, hash_key);
    const cairn_status by_token = cairn_lookup_create(&handshakes->by_token, capacity, hash_key);
    const cairn_status by_id = cairn_lookup_create(&handshakes->by_id, capacity, hash_key);
    if (handshakes->pool == NULL || by_address != CAIRN_OK || by_token != CAIRN_OK ||
        by_id != CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < capacity; ++i) {
        handshakes->pool[i].next_free = i + 1 < capacity ? i + 1 : CAIRN_LOOKUP_NONE;
    }
    return CAIRN_OK;
}

void cairn_handshakes_destroy(cairn_handshakes *handshakes) {
    cairn_lookup_destroy(&handshakes->by_address);
    cairn_lookup_destroy(&handshakes->by_token);
    cairn_lookup_destroy(&handshakes->by_id);
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

static bool is_same_token(const cairn_handshake *pending, const uint8_t *mac) {
    return memcmp(pending->mac, mac, CAIRN_AEAD_MAC_SIZE) == 0;
}

bool cairn_handshakes_is_spent(const cairn_handshakes *handshakes, const cairn_address *address,
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE], uint64_t now_ns) {
    const cairn_handshake *pending = cairn_handshakes_find(handshakes, address, now_ns);
    return pending != NULL && is_same_token(pending, mac) &&
           now_ns - pending->challenged_ns < CAIRN_CHALLENGE_INTERVAL_NS &&
           pending->challenges >= CAIRN_CHALLENGES_PER_INTERVAL_MAX;
}

// The challenge that follows belongs to the interval of the one before, if that has not ended.
static cairn_handshake count_challenge(
    const cairn_handshake *begun, const cairn_handshake *pending, uint64_t now_ns) {
    cairn_handshake counted = *begun;
    const bool continues = pending != NULL && is_same_token(pending, begun->mac) &&
                           now_ns - pending->challenged_ns < CAIRN_CHALLENGE_INTERVAL_NS;
    counted.challenged_ns = continues ? pending->challenged_ns : now_ns;
    counted.challenges = continues ? pending->challenges + 1 : 1;
    return counted;
}

bool cairn_handshakes_pending_elsewhere(const cairn_handshakes *handshakes,
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE], const cairn_address *address, uint64_t now_ns) {
    const uint32_t item = cairn_lookup_find(&handshakes->by_token, mac, CAIRN_AEAD_MAC_SIZE);
    return item != CAIRN_LOOKUP_NONE && now_ns < handshakes->pool[item].deadline_ns &&
           !cairn_address_equal(&handshakes->pool[item].address, address);
}

// The key of the client id's pending handshake with this number.
typedef struct id_key {
    uint64_t client_id;
    uint64_t number;
} id_key;

// A number that no pending handshake of this id has; CAIRN_HANDSHAKES_PER_ID_MAX: none is free.
static uint64_t find_free_number(const cairn_handshakes *handshakes, uint64_t client_id) {
    id_key key = {.client_id = client_id};
    while (key.number < CAIRN_HANDSHAKES_PER_ID_MAX &&
           cairn_lookup_find(&handshakes->by_id, &key, sizeof key) != CAIRN_LOOKUP_NONE) {
        ++key.number;
    }
    return key.number;
}

static void remove_item(cairn_handshakes *handshakes, uint32_t item) {
    CAIRN_ASSERT(item < handshakes->capacity && handshakes->pool[item].used);
    cairn_lookup_remove(&handshakes->by_address, item);
    cairn_lookup_remove(&handshakes->by_token, item);
    cairn_lookup_remove(&handshakes->by_id, item);
    cairn_wipe(&handshakes->pool[item], sizeof handshakes->pool[item]);
    handshakes->pool[item].next_free = handshakes->first_free;
    handshakes->first_free = item;
}

static void insert_item(
    cairn_handshakes *handshakes, const cairn_handshake *handshake, uint64_t deadline_ns) {
    const uint32_t item = handshakes->first_free;
    CAIRN_ASSERT(item != CAIRN_LOOKUP_NONE);
    const id_key key = {.client_id = handshake->client_id,
        .number = find_free_number(handshakes, handshake->client_id)};
    CAIRN_ASSERT(key.number < CAIRN_HANDSHAKES_PER_ID_MAX);
    cairn_handshake *added = &handshakes->pool[item];
    handshakes->first_free = added->next_free;
    *added = *handshake;
    added->deadline_ns = deadline_ns;
    added->used = true;
    cairn_lookup_insert(&handshakes->by_address, &added->address, sizeof added->address, item);
    cairn_lookup_insert(&handshakes->by_token, added->mac, CAIRN_AEAD_MAC_SIZE, item);
    cairn_lookup_insert(&handshakes->by_id, &key, sizeof key, item);
    if (deadline_ns < handshakes->earliest_ns) {
        handshakes->earliest_ns = deadline_ns;
    }
}

cairn_netcode_drop cairn_handshakes_put(
    cairn_handshakes *handshakes, const cairn_handshake *handshake, uint64_t now_ns) {
    const uint32_t same_token =
        cairn_lookup_find(&handshakes->by_token, handshake->mac, CAIRN_AEAD_MAC_SIZE);
    const uint32_t same_address =
        cairn_lookup_find(&handshakes->by_address, &handshake->address, sizeof handshake->address);
    if (same_token != CAIRN_LOOKUP_NONE && same_token != same_address) {
        return CAIRN_NETCODE_DROP_TOKEN_USED;
    }
    // The handshake that the address has already makes room for its next one.
    const bool replaces = same_address != CAIRN_LOOKUP_NONE;
    const bool same_id =
        replaces && handshakes->pool[same_address].client_id == handshake->client_id;
    if (!same_id &&
        find_free_number(handshakes, handshake->client_id) == CAIRN_HANDSHAKES_PER_ID_MAX) {
        return CAIRN_NETCODE_DROP_ID_HANDSHAKES;
    }
    if (!replaces && handshakes->first_free == CAIRN_LOOKUP_NONE) {
        return CAIRN_NETCODE_DROP_HANDSHAKES_FULL;
    }
    cairn_handshake counted =
        count_challenge(handshake, replaces ? &handshakes->pool[same_address] : NULL, now_ns);
    if (replaces) {
        remove_item(handshakes, same_address);
    }
    uint64_t lifetime_ns = CAIRN_HANDSHAKE_TIMEOUT_NS_MAX;
    if (handshake->timeout_s > 0 && (uint64_t)handshake->timeout_s < lifetime_ns / CAIRN_NS_PER_S) {
        lifetime_ns = (uint64_t)handshake->timeout_s * CAIRN_NS_PER_S;
    }
    insert_item(handshakes, &counted, now_ns + lifetime_ns);
    cairn_wipe(&counted, sizeof counted);
    CAIRN_ASSERT(handshakes->earliest_ns <= now_ns + lifetime_ns);
    return CAIRN_NETCODE_TAKEN;
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
