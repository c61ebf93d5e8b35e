// SPDX-License-Identifier: MIT
#pragma once

// The client side of netcode 1.02: a state machine with no socket and no clock.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/netcode_table.h"
#include "net/token.h"
#include <cairn/status.h>
#include <cairn/types.h>

typedef struct cairn_netcode_client cairn_netcode_client;

cairn_status cairn_netcode_client_create(cairn_netcode_client **out);
void cairn_netcode_client_destroy(cairn_netcode_client *client);

// Starts to connect with a token (from any state; an earlier connection is dropped silently).
// `now_unix_s` is compared with the token's times once, here. The challenge is answered at once,
// not at the next tenth of a second: one fixed wait less than the reference client. CAIRN_MALFORMED
// when the token cannot be read (state TOKEN_INVALID), CAIRN_INVALID_ARGUMENT when it has expired
// (state TOKEN_EXPIRED).
cairn_status cairn_netcode_client_connect(cairn_netcode_client *client, uint64_t now_ns,
    uint64_t now_unix_s, const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]);
// Queues ten disconnect packets if the server may hold a slot for us; the state becomes
// DISCONNECTED, but an error state stays.
void cairn_netcode_client_disconnect(cairn_netcode_client *client, uint64_t now_ns);

void cairn_netcode_client_receive(cairn_netcode_client *client, uint64_t now_ns,
    const cairn_address *from, const uint8_t *bytes, size_t size);
void cairn_netcode_client_advance(cairn_netcode_client *client, uint64_t now_ns);
uint64_t cairn_netcode_client_deadline_ns(const cairn_netcode_client *client);

// The host knows that its address or network changed (a socket error, another interface): tells the
// server at once. Without this the client does so when it hears nothing for a while.
void cairn_netcode_client_path_changed(cairn_netcode_client *client, uint64_t now_ns);
// How often the server noticed that this client's address had changed. What is known of the path is
// void then.
uint64_t cairn_netcode_client_moves(const cairn_netcode_client *client);

// The payload of the last receive, or NULL. Returned once; valid until the next receive; aligned to
// 8 bytes.
const uint8_t *cairn_netcode_client_next_payload(cairn_netcode_client *client, size_t *size);

// Writes the next datagram to send and returns its size, or 0 if nothing is to be sent.
size_t cairn_netcode_client_next_datagram(
    cairn_netcode_client *client, cairn_address *to, uint8_t *bytes);
// Encrypts one payload, 1 .. CAIRN_PAYLOAD_SIZE_MAX bytes. Returns the datagram's size, 0 when not
// connected.
size_t cairn_netcode_client_encrypt(cairn_netcode_client *client, uint64_t now_ns,
    const uint8_t *payload, size_t payload_size, cairn_address *to, uint8_t *bytes);

cairn_netcode_client_state cairn_netcode_client_state_read(const cairn_netcode_client *client);
cairn_address cairn_netcode_client_server(const cairn_netcode_client *client); // the one tried now
uint32_t cairn_netcode_client_index(const cairn_netcode_client *client);       // when connected
const uint64_t *cairn_netcode_client_drops(
    const cairn_netcode_client *client); // by cairn_netcode_drop
