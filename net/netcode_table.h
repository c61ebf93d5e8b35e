// SPDX-License-Identifier: MIT
#pragma once

// The state machines of both sides, one rule for each (state, input): the tables of
// docs/PROTOCOL.md, section Netcode. The sides look up the rule and apply it; the action of a rule
// may still be refused by a check (decryption, a token), and then the state stays.

#include "net/netcode_drop.h"
#include "net/packet.h"

// What a server knows about an address.
typedef enum cairn_netcode_peer {
    CAIRN_PEER_UNKNOWN,     // nothing
    CAIRN_PEER_PENDING,     // sent a valid token, has been challenged
    CAIRN_PEER_UNCONFIRMED, // answered the challenge, has a slot, may not know it yet
    CAIRN_PEER_CONFIRMED,   // has sent from its slot
    CAIRN_PEER_COUNT
} cairn_netcode_peer;

// Inputs of a server: the packet types, then other events.
typedef enum cairn_netcode_server_input {
    CAIRN_NETCODE_SERVER_INPUT_TIME_OUT = CAIRN_PACKET_TYPE_COUNT,
    CAIRN_NETCODE_SERVER_INPUT_KICK,
    CAIRN_NETCODE_SERVER_INPUT_COUNT
} cairn_netcode_server_input;

typedef enum cairn_netcode_server_action {
    CAIRN_NETCODE_SERVER_DROP,    // count the rule's reason
    CAIRN_NETCODE_SERVER_NOTHING, // cannot happen, or needs no action
    CAIRN_NETCODE_SERVER_ADMIT,   // check the token, answer with a challenge, or with denied when
                                  // full
    CAIRN_NETCODE_SERVER_ACCEPT, // check the challenge token, give a slot, answer with a keep-alive
    CAIRN_NETCODE_SERVER_REFRESH,    // the client is alive
    CAIRN_NETCODE_SERVER_DELIVER,    // the client is alive and sent a payload
    CAIRN_NETCODE_SERVER_FORGET,     // give up the handshake
    CAIRN_NETCODE_SERVER_END,        // free the slot, send nothing
    CAIRN_NETCODE_SERVER_DISCONNECT, // send disconnect packets, free the slot
    CAIRN_NETCODE_SERVER_ACTION_COUNT
} cairn_netcode_server_action;

typedef struct cairn_netcode_server_rule {
    cairn_netcode_server_action action;
    cairn_netcode_drop drop; // of CAIRN_NETCODE_SERVER_DROP
    cairn_netcode_peer next;
} cairn_netcode_server_rule;

// `input` is a cairn_packet_type or a cairn_netcode_server_input.
cairn_netcode_server_rule cairn_netcode_server_rule_of(cairn_netcode_peer peer, unsigned input);

// The standard's client states, with its numbers.
typedef enum cairn_netcode_client_state {
    CAIRN_NETCODE_STATE_TOKEN_EXPIRED = -6,
    CAIRN_NETCODE_STATE_TOKEN_INVALID = -5,
    CAIRN_NETCODE_STATE_CONNECTION_TIMED_OUT = -4,
    CAIRN_NETCODE_STATE_RESPONSE_TIMED_OUT = -3,
    CAIRN_NETCODE_STATE_REQUEST_TIMED_OUT = -2,
    CAIRN_NETCODE_STATE_DENIED = -1,
    CAIRN_NETCODE_STATE_DISCONNECTED = 0,
    CAIRN_NETCODE_STATE_SENDING_REQUEST = 1,
    CAIRN_NETCODE_STATE_SENDING_RESPONSE = 2,
    CAIRN_NETCODE_STATE_CONNECTED = 3,
} cairn_netcode_client_state;

const char *cairn_netcode_client_state_text(cairn_netcode_client_state state);

// Inputs of a client.
typedef enum cairn_netcode_client_input_kind {
    CAIRN_NETCODE_CLIENT_INPUT_TIME_OUT =
        CAIRN_PACKET_TYPE_COUNT,       // nothing received for the token's timeout
    CAIRN_NETCODE_CLIENT_INPUT_EXPIRE, // the connect token ran out
    CAIRN_NETCODE_CLIENT_INPUT_SEND,   // a tenth of a second since the last packet was sent
    CAIRN_NETCODE_CLIENT_INPUT_LEAVE,  // cairn_netcode_client_disconnect
    CAIRN_NETCODE_CLIENT_INPUT_COUNT
} cairn_netcode_client_input_kind;

typedef enum cairn_netcode_client_action {
    CAIRN_NETCODE_CLIENT_DROP,        // count the rule's reason
    CAIRN_NETCODE_CLIENT_NOTHING,     // cannot happen, or needs no action
    CAIRN_NETCODE_CLIENT_ANSWER,      // keep the challenge token, send a response
    CAIRN_NETCODE_CLIENT_ENTER,       // keep index and clients_max: connected
    CAIRN_NETCODE_CLIENT_REFRESH,     // the server is alive
    CAIRN_NETCODE_CLIENT_DELIVER,     // the server is alive and sent a payload
    CAIRN_NETCODE_CLIENT_NEXT_SERVER, // try the next server, or end in `next` after the last
    CAIRN_NETCODE_CLIENT_END,         // end in `next`
    CAIRN_NETCODE_CLIENT_DISCONNECT,  // send disconnect packets, end in `next`
    CAIRN_NETCODE_CLIENT_REPEAT,      // send the state's packet: request, response or keep-alive
    CAIRN_NETCODE_CLIENT_ACTION_COUNT
} cairn_netcode_client_action;

typedef struct cairn_netcode_client_rule {
    cairn_netcode_client_action action;
    cairn_netcode_drop drop; // of CAIRN_NETCODE_CLIENT_DROP
    cairn_netcode_client_state next;
} cairn_netcode_client_rule;

// `input` is a cairn_packet_type or a cairn_netcode_client_input_kind. All states <= 0 share one
// row: in them `next` is DISCONNECTED and means that the state stays.
cairn_netcode_client_rule cairn_netcode_client_rule_of(
    cairn_netcode_client_state state, unsigned input);
