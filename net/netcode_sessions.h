// SPDX-License-Identifier: MIT
#pragma once

// The client slots of a server: who has which, found by address and by client id in constant time.
// The lowest free slot is given first, so which client gets which index never depends on a table.

#include "base/address.h"
#include "base/limits.h"
#include "net/lookup.h"
#include "net/netcode_handshake.h"
#include "net/netcode_table.h"
#include "net/replay.h"
#include "net/token.h"

typedef struct cairn_session {
    cairn_netcode_peer state; // STRANGER: nobody
    cairn_address address;
    uint64_t client_id;
    uint64_t sequence;   // of the next packet to this client; starts at 0
    uint64_t timeout_ns; // 0: none
    uint64_t sent_ns;
    uint64_t heard_ns;
    cairn_replay replay;
    uint8_t client_to_server_key[CAIRN_KEY_SIZE];
    uint8_t server_to_client_key[CAIRN_KEY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
} cairn_session;

typedef struct cairn_sessions {
    cairn_session *slots;
    uint32_t count; // of slots
    uint64_t taken[(CAIRN_CLIENTS_MAX + 63) / 64];
    cairn_lookup by_address;
    cairn_lookup by_id;
} cairn_sessions;

// CAIRN_OUT_OF_MEMORY; may be destroyed then as well.
cairn_status cairn_sessions_create(
    cairn_sessions *sessions, uint32_t count, const uint8_t hash_key[CAIRN_SEAL_HASH_KEY_SIZE]);
void cairn_sessions_destroy(cairn_sessions *sessions);

// Slot numbers, or CAIRN_LOOKUP_NONE.
uint32_t cairn_sessions_find_address(const cairn_sessions *sessions, const cairn_address *address);
uint32_t cairn_sessions_find_id(const cairn_sessions *sessions, uint64_t client_id);
uint32_t cairn_sessions_find_free(const cairn_sessions *sessions);

// Seats the client of a handshake in a free slot, unconfirmed. Address and id must be new.
void cairn_sessions_open(cairn_sessions *sessions, uint32_t slot, const cairn_handshake *handshake,
    const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE], uint64_t now_ns);
// The client is gone and its keys are wiped; the slot is not given away before it is released.
void cairn_sessions_close(cairn_sessions *sessions, uint32_t slot);
void cairn_sessions_release(cairn_sessions *sessions, uint32_t slot);
