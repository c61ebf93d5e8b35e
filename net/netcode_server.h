// SPDX-License-Identifier: MIT
#pragma once

// The server side of netcode 1.02: a state machine with no socket and no clock. Datagrams in,
// datagrams out, time as an argument. It encrypts and decrypts payloads and does not look into
// them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "net/token.h"
#include <cairn/status.h>
#include <cairn/types.h>

typedef struct cairn_netcode_server cairn_netcode_server;

typedef struct cairn_netcode_server_config {
    uint64_t protocol_id;
    const uint8_t *private_key;            // CAIRN_KEY_SIZE, copied
    const uint8_t *entropy;                // 32 fresh random bytes: challenge key. Never reuse
    const cairn_address *public_addresses; // tokens must name one of these
    uint32_t public_address_count;         // 1 .. CAIRN_TOKEN_SERVERS_MAX
    uint32_t clients_max;                  // 1 .. CAIRN_CLIENTS_MAX
    uint64_t start_ns;                     // the now_ns of create
    uint64_t start_unix_ns;                // wall clock at create
    // The longest lifetime of the backend's tokens, default 30. A token that expires later than
    // this from now is refused, and so is one that an earlier run could have accepted
    // (IMPLEMENTERS.md): the second rule rests on the first. 0 switches both off.
    uint32_t token_lifetime_s_max;
    // The longest time-out of a token, default 60; tokens without a time-out are refused, because
    // a client that vanished would keep its slot for good. 0: any time-out, or none.
    uint32_t token_timeout_s_max;
} cairn_netcode_server_config;

cairn_netcode_server_config cairn_netcode_server_config_default(void);

// How the times of tokens that come from the backend look to this server.
typedef struct cairn_netcode_token_times {
    uint32_t refused;       // tokens in a row, each genuine, that expired or expire too late
    int64_t expire_after_s; // of the last one, from now; < 0: before
} cairn_netcode_token_times;
// CAIRN_INVALID_ARGUMENT: a pointer is NULL, or a count or address family is out of range.
// CAIRN_OUT_OF_MEMORY. All memory is allocated here; nothing allocates later.
cairn_status cairn_netcode_server_create(
    const cairn_netcode_server_config *config, cairn_netcode_server **out);
void cairn_netcode_server_destroy(cairn_netcode_server *server);

// Takes one datagram. next_event returns payloads and connections. `now_ns` must not decrease.
void cairn_netcode_server_receive(cairn_netcode_server *server, uint64_t now_ns,
    const cairn_address *from, const uint8_t *bytes, size_t size);
// Time-outs, keep-alives, disconnect packets that are due.
void cairn_netcode_server_advance(cairn_netcode_server *server, uint64_t now_ns);
// When advance next has something to do; UINT64_MAX for never.
uint64_t cairn_netcode_server_deadline_ns(const cairn_netcode_server *server);

typedef enum cairn_netcode_event_kind {
    CAIRN_NETCODE_CONNECTED = 1,
    CAIRN_NETCODE_DISCONNECTED = 2,
    CAIRN_NETCODE_PAYLOAD = 3,
} cairn_netcode_event_kind;

typedef enum cairn_netcode_disconnect_reason {
    CAIRN_NETCODE_LEFT = 1, // the client sent disconnect
    CAIRN_NETCODE_TIMED_OUT = 2,
    CAIRN_NETCODE_KICKED = 3,   // cairn_netcode_server_disconnect
    CAIRN_NETCODE_REPLACED = 4, // the same client id connected with a newer token
} cairn_netcode_disconnect_reason;

typedef struct cairn_netcode_event {
    cairn_netcode_event_kind kind;
    uint32_t client; // client index, 0 .. clients_max - 1
    uint64_t client_id;
    cairn_netcode_disconnect_reason reason; // of a disconnect
    const uint8_t *user_data; // of a connect: CAIRN_TOKEN_USER_DATA_SIZE from the token; owned by
                              // the server, valid until the client is gone
    const uint8_t *payload;   // valid until the next call of receive; aligned to 8 bytes
    size_t payload_size;
} cairn_netcode_event;

// Removes the oldest event and writes it to *out. Returns false if no event waits. Call it after
// each receive and each advance until it returns false: at most one payload is held at a time, and
// a receive that finds an unread one drops it (counted). A slot is reused only after its disconnect
// event was taken.
bool cairn_netcode_server_next_event(cairn_netcode_server *server, cairn_netcode_event *out);

// Returns a client that has begun to use another address since the last call: forget what was
// measured of the path to it. UINT32_MAX: no further client. Call it after receive until it returns
// that.
uint32_t cairn_netcode_server_take_move(cairn_netcode_server *server);

// Writes the next handshake answer, keep-alive or disconnect to `bytes` (room for
// CAIRN_DATAGRAM_SIZE_MAX) and returns its size, or 0 if nothing is to be sent. Call it
// after receive and advance until it returns 0.
size_t cairn_netcode_server_next_datagram(
    cairn_netcode_server *server, cairn_address *to, uint8_t *bytes);

// Encrypts one payload (1 .. CAIRN_PAYLOAD_SIZE_MAX bytes) for a connected client into `bytes`
// (room for CAIRN_DATAGRAM_SIZE_MAX). Returns the datagram's size, 0 when the client is not
// connected. While the client is unconfirmed a keep-alive is queued before it, as the standard
// requires: send what next_datagram has before this one.
size_t cairn_netcode_server_encrypt(cairn_netcode_server *server, uint64_t now_ns, uint32_t client,
    const uint8_t *payload, size_t payload_size, cairn_address *to, uint8_t *bytes);

// Queues ten disconnect packets and frees the slot; its event has the reason KICKED. Does nothing
// if the slot is free.
void cairn_netcode_server_disconnect(
    cairn_netcode_server *server, uint64_t now_ns, uint32_t client);
void cairn_netcode_server_disconnect_all(cairn_netcode_server *server, uint64_t now_ns);
// From now on every new client is refused as if the server were full; connected clients stay.
void cairn_netcode_server_stop_admitting(cairn_netcode_server *server);
bool cairn_netcode_server_connected(const cairn_netcode_server *server, uint32_t client);

// Writes the addresses of the connected clients to `out`, which has room for clients_max, and
// returns how many there are. A caller can use them to keep datagrams of clients apart from those
// of unknown peers. An address that sends more than 10,000 datagrams in a second is left out. While
// address_changes returns the same number, the addresses have not changed.
uint32_t cairn_netcode_server_addresses(const cairn_netcode_server *server, cairn_address *out);
uint64_t cairn_netcode_server_address_changes(const cairn_netcode_server *server);

// The wall clock was read: tokens are compared with it from now on. It counts with now_ns until the
// next call, and may jump.
void cairn_netcode_server_set_unix_time(
    cairn_netcode_server *server, uint64_t now_ns, uint64_t unix_ns);
// For a warning that a clock is wrong. A token that is taken sets `refused` to 0.
cairn_netcode_token_times cairn_netcode_server_token_times(const cairn_netcode_server *server);

// CAIRN_NETCODE_DROP_COUNT counters by reason, see net/netcode_drop.h; the first counts the
// datagrams that were taken. Owned by the server, always current.
const uint64_t *cairn_netcode_server_drops(const cairn_netcode_server *server);
