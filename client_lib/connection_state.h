// SPDX-License-Identifier: MIT
#pragma once

// The client's states as a table: one row for each state and event, those that change nothing
// included.

#include "net/netcode_client.h"
#include <cairn/client.h>

#define CAIRN_CLIENT_STATE_COUNT (CAIRN_CLIENT_FAILED + 1)

typedef enum cairn_phase_event {
    CAIRN_PHASE_CONNECT = 0,   // the host calls connect with a good token
    CAIRN_PHASE_TOKEN_REFUSED, // the host calls connect with a bad one
    CAIRN_PHASE_CONNECTED,     // the handshake is done
    CAIRN_PHASE_WORLD,         // a first snapshot or state is held
    CAIRN_PHASE_REPLACED,      // the server told of another world
    CAIRN_PHASE_DISCONNECT,    // the host calls disconnect
    CAIRN_PHASE_REFUSED,       // the server said no to HELLO
    CAIRN_PHASE_LOST,          // the connection ended without us wanting it
    CAIRN_PHASE_BROKEN,        // the server sent what we cannot go on with
    CAIRN_PHASE_EVENT_COUNT
} cairn_phase_event;

// The state after `event`; the same state when the event means nothing there.
cairn_client_state cairn_phase_next(cairn_client_state state, cairn_phase_event event);

// One sentence for a person on why the handshake or the connection ended; "" while it goes on.
const char *cairn_phase_loss_text(cairn_netcode_client_state state);
