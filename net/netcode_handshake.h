// SPDX-License-Identifier: MIT
#pragma once

// Pending handshakes of a server: an address that sent a valid token, and the keys to decrypt its
// response. The standard calls them encryption mappings. They are in a pool of fixed size; each
// ends after the time-out of its token.

#include "net/lookup.h"
#include "net/token.h"
#include <cairn/types.h>

// Limits how long a token without a time-out, or with a very long one, may hold an entry.
#define CAIRN_HANDSHAKE_TIMEOUT_NS_MAX UINT64_C(30000000000)

typedef struct cairn_handshake {
    cairn_address address;
    uint64_t client_id;
    int32_t timeout_s;
    uint8_t mac[CAIRN_AEAD_MAC_SIZE]; // of the token's private part
    uint8_t client_to_server_key[CAIRN_KEY_SIZE];
    uint8_t server_to_client_key[CAIRN_KEY_SIZE];
    uint64_t deadline_ns;
    uint32_t next_free;
    bool used;
} cairn_handshake;

typedef struct cairn_handshakes {
    cairn_lookup by_address;
    cairn_handshake *pool;
    uint32_t capacity;
    uint32_t first_free;
    uint64_t earliest_ns; // no deadline is before this
} cairn_handshakes;

// CAIRN_OUT_OF_MEMORY; it may still be destroyed.
cairn_status cairn_handshakes_create(cairn_handshakes *handshakes, uint32_t capacity,
    const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE]);
void cairn_handshakes_destroy(cairn_handshakes *handshakes);

// Finds the handshake of an address. Returns NULL if the address has no handshake or it expired.
// The pointer is valid until remove or expire.
const cairn_handshake *cairn_handshakes_find(
    const cairn_handshakes *handshakes, const cairn_address *address, uint64_t now_ns);
// Begins or renews the handshake of an address with the keys of a token. False: the pool is full.
bool cairn_handshakes_put(cairn_handshakes *handshakes, const cairn_address *address,
    const cairn_token_private *token, const uint8_t mac[CAIRN_AEAD_MAC_SIZE], uint64_t now_ns);
void cairn_handshakes_remove(cairn_handshakes *handshakes, const cairn_address *address);
// Removes what has expired by now_ns. Costs nothing before earliest_ns.
void cairn_handshakes_expire(cairn_handshakes *handshakes, uint64_t now_ns);
