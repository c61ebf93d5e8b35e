// SPDX-License-Identifier: MIT
#pragma once

// Fixed keys, tokens from a few fields, and one server with a few clients over a wire that the test
// controls: a datagram moves only when the test moves it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/netcode_client.h"
#include "net/netcode_drop.h"
#include "net/netcode_server.h"
#include "net/packet.h"

#define KIT_PROTOCOL_ID UINT64_C(0x1122334455667788)
#define KIT_UNIX_S UINT64_C(1700000000)
#define KIT_MS UINT64_C(1000000)
#define KIT_S CAIRN_NS_PER_S
#define KIT_CLIENTS_MAX 8
#define KIT_TOKEN_LIFETIME_S 60 // of tokens, and the longest that the server accepts

extern const uint8_t kit_key[CAIRN_KEY_SIZE];

cairn_address kit_address(const char *text);

// Zero means the default: client 1, issued now for 60 s, time-out 5 s, server kit_server_address.
typedef struct kit_token_fields {
    uint64_t client_id;
    uint64_t create_unix_s;
    uint32_t lifetime_s;
    int32_t timeout_s;
    bool has_no_timeout; // a time-out of 0
    uint64_t protocol_id;
    const uint8_t *key;
    const char *servers[CAIRN_TOKEN_SERVERS_MAX];
    uint64_t seed; // other keys and nonce; default: the client id
} kit_token_fields;
void kit_token(const kit_token_fields *fields, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]);
#define KIT_TOKEN(token, ...) kit_token(&(kit_token_fields){__VA_ARGS__}, token)
cairn_token_public kit_token_public(const kit_token_fields *fields);

typedef struct kit_datagram {
    cairn_address to;
    cairn_address from;
    size_t size; // 0: none
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
} kit_datagram;

// A peer that the test plays by hand: it has the keys of its token and writes any packet.
typedef struct kit_peer {
    cairn_token_public token;
    uint64_t challenge_sequence;
    uint8_t challenge[CAIRN_CHALLENGE_TOKEN_SIZE];
} kit_peer;
// A packet of this peer, or with `to_client` one that a server with its keys sends. `payload_size`
// is that of a payload. The addresses are left to the caller.
kit_datagram kit_packet(const kit_peer *peer, bool to_client, cairn_packet_type type,
    uint64_t sequence, size_t payload_size);
// Keeps the challenge if the datagram is one that this peer can decrypt.
bool kit_learn_challenge(kit_peer *peer, const kit_datagram *datagram);

typedef struct kit {
    uint64_t now_ns;
    cairn_address server_address;
    cairn_netcode_server *server;
    cairn_netcode_client *clients[KIT_CLIENTS_MAX];
    cairn_address client_addresses[KIT_CLIENTS_MAX]; // 10.0.0.(i + 1):5000
    // The server's events, newest last.
    cairn_netcode_event events[64];
    size_t event_count;
} kit;

extern const char *const kit_server_address; // "10.0.0.100:40000"

// A server for `clients_max` and as many clients, nobody connected. The server started at
// KIT_UNIX_S, an hour ago.
kit kit_open(uint32_t clients_max);
kit kit_open_joined(uint32_t clients_max); // client 0 is connected
void kit_close(kit *k);

// A server that was started at KIT_UNIX_S - 3600 and has the kit's keys. Any time-out of a token is
// allowed.
cairn_netcode_server_config kit_server_config(const cairn_address *addresses, uint32_t count);
cairn_netcode_server *kit_server(
    const char *address, uint32_t clients_max, uint64_t start_ns, uint32_t token_lifetime_s_max);

uint64_t kit_unix_s(const kit *k);
// Client i starts to connect with a token of these fields.
cairn_status kit_connect_with(kit *k, int i, const kit_token_fields *fields);
// The same with a token of its own, client id i + 1.
void kit_connect(kit *k, int i);
// Carries datagrams both ways until no side has one; takes events as they occur.
void kit_exchange(kit *k);
// Lets time pass in steps of at most 10 ms with advance and exchange.
void kit_run(kit *k, uint64_t duration_ns);
// The same on a cut wire: all datagrams are thrown away.
void kit_run_cut(kit *k, uint64_t duration_ns);
// kit_connect and the whole handshake.
void kit_join(kit *k, int i);

// One datagram from a side, or size 0.
kit_datagram kit_from_client(kit *k, int i);
kit_datagram kit_from_server(kit *k);
// Delivers a datagram to the other side and returns whether and why it was dropped.
cairn_netcode_drop kit_to_server(kit *k, kit_datagram datagram);
cairn_netcode_drop kit_to_client(kit *k, int i, kit_datagram datagram);
// Carries the request of client i to the server, the challenge back, and returns the response.
kit_datagram kit_response(kit *k, int i);
void kit_take_events(kit *k);
// Throw away what a side has queued and return how many datagrams it was.
size_t kit_discard_from_server(kit *k);
size_t kit_discard_from_client(kit *k, int i);
size_t kit_discard_all(kit *k);

cairn_netcode_client_state kit_state(const kit *k, int i);
uint64_t kit_drops(const kit *k, cairn_netcode_drop drop); // of the server
uint64_t kit_client_drops(const kit *k, int i, cairn_netcode_drop drop);
// An encrypted payload of `size` bytes, not delivered yet.
kit_datagram kit_client_payload(kit *k, int i, size_t size);
kit_datagram kit_server_payload(kit *k, uint32_t client, size_t size);

// The request of client 1 from address number 0 with a token of these fields.
#define KIT_REQUEST(k, ...) kit_request((k), 0, &(kit_token_fields){__VA_ARGS__})
kit_datagram kit_request(const kit *k, int from, const kit_token_fields *fields);
