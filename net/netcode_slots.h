// SPDX-License-Identifier: MIT
#pragma once

// The client slots of a server: which client has which slot, found by address and by client id in
// constant time. The lowest free slot is given first, so which client gets which index never
// depends on the order of a hash table.

#include "base/limits.h"
#include "net/lookup.h"
#include "net/netcode_handshake.h"
#include "net/netcode_table.h"
#include "net/replay.h"
#include "net/token.h"
#include <cairn/types.h>

// An operator may send 8000 payloads a second.
#define CAIRN_NETCODE_CROWD_PER_S 10000

typedef struct cairn_netcode_slot {
    cairn_netcode_peer state; // UNKNOWN: the slot is free
    cairn_address address;
    // Where the client says that it is now, until it has answered a challenge there. It is sent at
    // most as many bytes there as came from there.
    bool moving;
    bool moved; // since the caller asked
    cairn_address candidate;
    uint64_t path_number; // of the challenge
    uint64_t candidate_bytes;
    uint64_t candidate_until_ns;
    uint64_t client_id;
    uint64_t expire_unix_s; // of its token
    uint64_t sequence;      // of the next packet to this client; starts as the handshake says
    uint64_t timeout_ns;    // 0: none
    uint64_t sent_ns;
    uint64_t last_receive_ns;
    uint64_t counted_ns; // since when datagrams from its address are counted
    uint32_t counted;
    bool crowds; // more came in a second than from any client that behaves
    cairn_replay replay;
    uint8_t client_to_server_key[CAIRN_KEY_SIZE];
    uint8_t server_to_client_key[CAIRN_KEY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
} cairn_netcode_slot;

typedef struct cairn_netcode_slots {
    cairn_netcode_slot *list; // owned
    uint32_t count;           // of slots
    bool moved;               // a client of the list may have
    uint64_t address_changes; // of clients that do not crowd: they came, went, or moved
    uint64_t taken[(CAIRN_CLIENTS_MAX + 63) / 64];
    cairn_lookup by_address;
    cairn_lookup by_candidate;
    cairn_lookup by_id;
} cairn_netcode_slots;

// CAIRN_OUT_OF_MEMORY; it may still be destroyed.
cairn_status cairn_netcode_slots_create(
    cairn_netcode_slots *slots, uint32_t count, const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE]);
void cairn_netcode_slots_destroy(cairn_netcode_slots *slots);

// Slot numbers, or CAIRN_LOOKUP_NONE.
uint32_t cairn_netcode_slots_find_address(
    const cairn_netcode_slots *slots, const cairn_address *address);
uint32_t cairn_netcode_slots_find_candidate(
    const cairn_netcode_slots *slots, const cairn_address *address);
uint32_t cairn_netcode_slots_find_id(const cairn_netcode_slots *slots, uint64_t client_id);
uint32_t cairn_netcode_slots_find_free(const cairn_netcode_slots *slots);

// Puts the client of a handshake into a free slot, unconfirmed. Address and id must be new.
void cairn_netcode_slots_open(
    cairn_netcode_slots *slots, uint32_t index, const cairn_handshake *handshake, uint64_t now_ns);
// The client may be at another address, at which no client may be; `settle` makes it the client's
// address, `forget_candidate` drops it. Both need a candidate.
void cairn_netcode_slots_set_candidate(
    cairn_netcode_slots *slots, uint32_t index, const cairn_address *address);
void cairn_netcode_slots_settle(cairn_netcode_slots *slots, uint32_t index);
void cairn_netcode_slots_forget_candidate(cairn_netcode_slots *slots, uint32_t index);
// A client that got a new candidate since the last call, or CAIRN_LOOKUP_NONE.
uint32_t cairn_netcode_slots_take_move(cairn_netcode_slots *slots);

// A datagram came from the client's address, valid or not. `now_ns` must not decrease.
void cairn_netcode_slots_count(cairn_netcode_slots *slots, uint32_t index, uint64_t now_ns);

// Removes the client and wipes its keys; the slot is not reused before it is released.
void cairn_netcode_slots_close(cairn_netcode_slots *slots, uint32_t index);
void cairn_netcode_slots_release(cairn_netcode_slots *slots, uint32_t index);
