// SPDX-License-Identifier: MIT
#pragma once

// Pending handshakes of a server: an address that sent a valid token, and what the session will be
// made of when the address has answered the challenge. The standard calls them encryption mappings.
// They are in a pool of fixed size; each ends after the time-out of its token. A token is pending
// at one address, and a client id has a few at most: nobody fills the pool with tokens of one id.

#include "net/lookup.h"
#include "net/netcode_drop.h"
#include "net/token.h"
#include <cairn/types.h>

// Limits how long a token without a time-out, or with a very long one, may hold an entry.
#define CAIRN_HANDSHAKE_TIMEOUT_NS_MAX UINT64_C(30000000000)
// Pending handshakes of one client id: of a client that starts again, or changes its address.
#define CAIRN_HANDSHAKES_PER_ID_MAX 4

// Challenges for one pending token, at most so many in each interval: clients repeat their requests
// every 100 ms, and to open the token and seal a challenge for each of many copies would cost
// several times what sending a copy costs.
#define CAIRN_CHALLENGE_INTERVAL_NS UINT64_C(100000000)
#define CAIRN_CHALLENGES_PER_INTERVAL_MAX 16

typedef struct cairn_handshake {
    cairn_address address;
    uint64_t client_id;
    uint64_t expire_unix_s;  // of the token
    uint64_t first_sequence; // of the session's packets to the client
    uint32_t server_index;   // of this server in the token's list
    int32_t timeout_s;
    uint8_t mac[CAIRN_AEAD_MAC_SIZE]; // of the token's private part
    uint8_t client_to_server_key[CAIRN_KEY_SIZE];
    uint8_t server_to_client_key[CAIRN_KEY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
    uint64_t challenged_ns; // begin of the interval in which challenges are counted
    uint32_t challenges;    // sent in this interval
    uint64_t deadline_ns;
    uint32_t next_free;
    bool used;
} cairn_handshake;

typedef struct cairn_handshakes {
    cairn_lookup by_address;
    cairn_lookup by_token; // by mac
    cairn_lookup by_id;    // by client id and a number below CAIRN_HANDSHAKES_PER_ID_MAX
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
// Whether the address got all challenges of this interval for the token with this mac.
bool cairn_handshakes_is_spent(const cairn_handshakes *handshakes, const cairn_address *address,
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE], uint64_t now_ns);
// Whether the token with this mac is pending at another address.
bool cairn_handshakes_pending_elsewhere(const cairn_handshakes *handshakes,
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE], const cairn_address *address, uint64_t now_ns);
// Begins the handshake of an address, or begins it again, maybe with another token: a challenge
// follows, and is counted. `handshake->deadline_ns` is set here. CAIRN_NETCODE_TAKEN, or nothing
// changes: TOKEN_USED (pending at another address), ID_HANDSHAKES, HANDSHAKES_FULL.
cairn_netcode_drop cairn_handshakes_put(
    cairn_handshakes *handshakes, const cairn_handshake *handshake, uint64_t now_ns);
void cairn_handshakes_remove(cairn_handshakes *handshakes, const cairn_address *address);
// Removes what has expired by now_ns. Costs nothing before earliest_ns.
void cairn_handshakes_expire(cairn_handshakes *handshakes, uint64_t now_ns);
