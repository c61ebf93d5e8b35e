// SPDX-License-Identifier: MIT
#pragma once

// Connect tokens that were received, by the MAC of their private part, until they expire. A token
// first belongs to the address that sent it (pending: that address may repeat its request). When a
// session begins with it, the token is consumed and never admits a client again, because its keys
// have encrypted packets and a second session would use the same nonces. Nothing is evicted before
// it expires: a full history refuses new tokens.

#include <stdint.h>

#include "net/lookup.h"
#include "net/netcode_drop.h"
#include <cairn/types.h>

typedef struct cairn_token_record {
    uint64_t expire_unix_s;
    cairn_address address;
    uint32_t next_free;
    bool consumed;
    bool used; // this entry of the pool
} cairn_token_record;

typedef struct cairn_token_history {
    cairn_lookup lookup;
    cairn_token_record *records;
    uint32_t capacity;
    uint32_t first_free;
    uint64_t swept_unix_s; // the second in which expired records were last removed
} cairn_token_history;

// CAIRN_OUT_OF_MEMORY; it may still be destroyed.
cairn_status cairn_token_history_create(cairn_token_history *history, uint32_t capacity,
    const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE]);
void cairn_token_history_destroy(cairn_token_history *history);

// An address sent a token that has not expired. CAIRN_NETCODE_TAKEN: it is pending for this
// address now; TOKEN_USED: consumed, or another address sent it first; TOKEN_HISTORY_FULL.
cairn_netcode_drop cairn_token_history_show(cairn_token_history *history,
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE], const cairn_address *from, uint64_t now_unix_s,
    uint64_t expire_unix_s);
// Marks the token as consumed by a session. Does nothing if it has expired and was removed.
void cairn_token_history_consume(
    cairn_token_history *history, const uint8_t mac[CAIRN_AEAD_MAC_SIZE]);
