// SPDX-License-Identifier: MIT
#pragma once

// A client's connection: netcode (handshake, encryption), the link (acknowledgements, fragments,
// the reliable stream) and the encoder of messages, with the state that the host sees.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/link.h"
#include "net/netcode_client.h"
#include "schema/codec.h"
#include <cairn/client.h>

#define CAIRN_CLIENT_STATE_COUNT (CAIRN_CLIENT_FAILED + 1)

typedef enum cairn_connection_event {
    CAIRN_CONNECTION_CONNECT = 0,    // the host calls connect with a good token
    CAIRN_CONNECTION_TOKEN_REFUSED,  // the host calls connect with a bad one
    CAIRN_CONNECTION_CONNECTED,      // the handshake is done
    CAIRN_CONNECTION_WORLD_HELD,     // a first snapshot or state is held
    CAIRN_CONNECTION_WORLD_REPLACED, // the server began another world epoch
    CAIRN_CONNECTION_DISCONNECT,     // the host calls disconnect
    CAIRN_CONNECTION_REFUSED,        // the server refused HELLO
    CAIRN_CONNECTION_LOST,           // the connection ended without disconnect
    CAIRN_CONNECTION_BROKEN,         // the server sent what the client cannot continue after
    CAIRN_CONNECTION_EVENT_COUNT
} cairn_connection_event;

// The state after `event`; the same state if the event means nothing in it.
cairn_client_state cairn_connection_state_next(
    cairn_client_state state, cairn_connection_event event);

// One sentence for people on why the handshake or the connection ended; "" while it lasts.
const char *cairn_connection_state_loss_text(cairn_netcode_client_state state);

#define CAIRN_CONNECTION_FAILURE_SIZE 256

typedef struct cairn_connection {
    cairn_client_state state;
    char failure[CAIRN_CONNECTION_FAILURE_SIZE]; // "" unless the state is FAILED
    cairn_netcode_client *netcode;               // owned
    cairn_link *link;                            // owned
    cairn_encoder *encoder;                      // owned
    cairn_client_connection_statistics traffic;  // datagrams and bytes; the rest is unused
} cairn_connection;

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_connection_create(cairn_connection *connection);
void cairn_connection_destroy(cairn_connection *connection);

// Starts the handshake; see cairn_client_connect.
bool cairn_connection_open(
    cairn_connection *connection, uint64_t now_ns, uint64_t now_unix_s, const uint8_t *token);
void cairn_connection_close(cairn_connection *connection, uint64_t now_ns);

// Moves by the state table. `text` says why if the event is a failure.
void cairn_connection_apply_event(
    cairn_connection *connection, cairn_connection_event event, const char *text);
// Leaves the server after what it sent made it impossible to continue.
void cairn_connection_fail(
    cairn_connection *connection, uint64_t now_ns, cairn_connection_event event, const char *text);

// Whether messages may be exchanged: joining or playing.
bool cairn_connection_is_open(const cairn_connection *connection);
// Follows the state of netcode. True once for each connect: the handshake has just succeeded.
bool cairn_connection_follow_handshake(cairn_connection *connection, uint64_t now_ns);

// Decrypts a datagram. Returns its payload, valid until the next call, or NULL if it has none.
const uint8_t *cairn_connection_receive(cairn_connection *connection, uint64_t now_ns,
    const cairn_address *from, const uint8_t *bytes, size_t size, size_t *payload_size);
// The next datagram; 0: neither netcode nor the link has anything to send.
size_t cairn_connection_next_datagram(
    cairn_connection *connection, uint64_t now_ns, uint8_t *bytes);

// Encodes a message and hands it to the link. Returns its size in bytes; 0: the reliable stream has
// no room now, try again later.
size_t cairn_connection_send_reliable(cairn_connection *connection, const cairn_message *message);
// The same for an unreliable message, which replaces one that has not left yet.
size_t cairn_connection_send_unreliable(cairn_connection *connection, const cairn_message *message);
