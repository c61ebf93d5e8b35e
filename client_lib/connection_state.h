// SPDX-License-Identifier: MIT
#pragma once

// The client's states as a table with a cell for each state and event.

#include "net/netcode_client.h"
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
