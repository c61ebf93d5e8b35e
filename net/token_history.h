// SPDX-License-Identifier: MIT
#pragma once

// Connect tokens that made a session, by the MAC of their private part, until they expire. Such a
// token never admits a client again, because its keys have encrypted packets and a second session
// would use the same nonces. A token enters only when its address is proven; one that was merely
// shown is known to the pool of handshakes. Nothing is evicted before it expires: a full history
// refuses new sessions, so a client id may have a few entries at most.

#include <stdbool.h>
#include <stdint.h>

#include "net/lookup.h"
#include "net/netcode_drop.h"

// Tokens of one client id that made sessions and have not expired.
#define CAIRN_TOKENS_PER_ID_MAX 64

typedef struct cairn_token_record {
    uint64_t expire_unix_s;
    uint32_t next_free;
    bool used; // this entry of the pool
} cairn_token_record;

typedef struct cairn_token_history {
    cairn_lookup by_token; // by MAC
    cairn_lookup by_id;    // by client id and a number below CAIRN_TOKENS_PER_ID_MAX
    cairn_token_record *records;
    uint32_t capacity;
    uint32_t first_free;
    uint64_t swept_unix_s; // the second in which expired records were last removed
    // The wall clock may jump forward and back. Records that expired by a clock that was ahead are
    // gone when it is right again, so until forgotten_until_ns a token that expires as early as one
    // of them counts as used.
    uint64_t forgotten_unix_s;
    uint64_t forgotten_until_ns;
} cairn_token_history;

// CAIRN_OUT_OF_MEMORY; it may still be destroyed.
cairn_status cairn_token_history_create(cairn_token_history *history, uint32_t capacity,
    const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE]);
void cairn_token_history_destroy(cairn_token_history *history);

// Whether a token made a session before, or may have.
bool cairn_token_history_holds(const cairn_token_history *history,
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE], uint64_t expire_unix_s, uint64_t now_ns);

typedef struct cairn_token_use {
    const uint8_t *mac; // CAIRN_AEAD_MAC_SIZE
    uint64_t client_id;
    uint64_t expire_unix_s;
    uint64_t now_unix_s;
    uint64_t now_ns;
    uint64_t lifetime_ns; // the longest of a token
} cairn_token_use;
// A session is about to begin with a token that the history does not hold. CAIRN_NETCODE_TAKEN: the
// history holds it now; ID_TOKENS or TOKEN_HISTORY_FULL: it must not begin.
cairn_netcode_drop cairn_token_history_consume(
    cairn_token_history *history, const cairn_token_use *use);
