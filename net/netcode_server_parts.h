// SPDX-License-Identifier: MIT
#pragma once

// The private parts of a server's netcode, shared by netcode_server.c and by
// netcode_handover.c, which hands them to another process, and by tests. No other file may include
// this.

#include "net/crypto.h"
#include "net/netcode_drop.h"
#include "net/netcode_handshake.h"
#include "net/netcode_server.h"
#include "net/netcode_slots.h"
#include "net/outbox.h"
#include "net/token_history.h"
#include "net/token_meter.h"

// All servers of a token have its keys, and each key encrypts packets before and after the client
// has a slot. So that no nonce is used twice, the sequences of server i of the list are those with
// i in bits 58 to 62; bit 63 is set before the client has a slot (docs/PROTOCOL.md, Sequences).
#define CAIRN_SEQUENCES_GLOBAL (UINT64_C(1) << 63)
#define CAIRN_SEQUENCES_PER_SERVER (UINT64_C(1) << 58)
_Static_assert(CAIRN_TOKEN_SERVERS_MAX *CAIRN_SEQUENCES_PER_SERVER <= CAIRN_SEQUENCES_GLOBAL,
    "every server of a token has sequences of its own");

typedef struct cairn_netcode_event_record {
    cairn_netcode_event_kind kind;
    uint32_t client;
    uint64_t client_id;
    cairn_netcode_disconnect_reason reason;
} cairn_netcode_event_record;

struct cairn_netcode_server {
    cairn_netcode_server_config config; // pointers in it are not kept
    cairn_address public_addresses[CAIRN_TOKEN_SERVERS_MAX];
    uint8_t private_key[CAIRN_KEY_SIZE];
    uint8_t challenge_key[CAIRN_AEAD_KEY_SIZE];
    uint8_t sequence_key[CAIRN_SIPHASH_KEY_SIZE]; // for sequences that nobody can foresee
    uint64_t challenge_sequence;
    uint64_t global_sequence; // below CAIRN_SEQUENCES_PER_SERVER
    uint64_t now_ns;
    uint64_t unix_since_ns; // now_ns plus this, modulo 2^64, is the wall clock
    uint64_t start_unix_s;  // when it started, as the wall clock was then
    cairn_netcode_token_times token_times;
    uint64_t token_times_ns; // when a refused token was last decrypted
    uint64_t slots_due_ns;   // no time-out or keep-alive is due before
    bool admitting;
    cairn_netcode_slots slots;
    cairn_handshakes handshakes;
    cairn_token_history history;
    cairn_token_meter meter;
    cairn_outbox outbox;
    cairn_netcode_event_record *events; // a ring; a slot is not reused before its disconnect was
                                        // taken, so there are at most two events for each slot
    uint32_t events_capacity;
    uint64_t events_pushed;
    uint64_t events_taken;
    uint64_t payload_place; // events_pushed when the payload arrived: older events are taken first
    uint32_t payload_client;
    size_t payload_size; // 0: none
    uint64_t drops[CAIRN_NETCODE_DROP_COUNT];
    _Alignas(8) uint8_t body[CAIRN_PAYLOAD_SIZE_MAX];
};
