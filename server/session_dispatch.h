// SPDX-License-Identifier: MIT
#pragma once

// The state machine of a session: what each event does to a client in each state, as a table.

#include "schema/messages.h"
#include "server/core/server_state.h"
#include "server/session/session.h"

typedef enum cairn_session_event {
    CAIRN_SESSION_EVENT_CONNECT = 0, // netcode: a client is connected
    CAIRN_SESSION_EVENT_HELLO,
    CAIRN_SESSION_EVENT_INPUT,
    CAIRN_SESSION_EVENT_ROOTS,
    CAIRN_SESSION_EVENT_RESYNC_REQUEST,
    CAIRN_SESSION_EVENT_CONTROL,
    CAIRN_SESSION_EVENT_PLAYER_MESSAGE,
    CAIRN_SESSION_EVENT_MALFORMED,        // a message or payload that no client of ours sends
    CAIRN_SESSION_EVENT_TIMEOUT,          // the state's time limit passed
    CAIRN_SESSION_EVENT_ALL_ACKNOWLEDGED, // everything sent reliably has arrived
    CAIRN_SESSION_EVENT_ROOM_CLOSED,      // its room is about to be closed
    CAIRN_SESSION_EVENT_DISCONNECT,       // netcode: the connection ended
    CAIRN_SESSION_EVENT_COUNT
} cairn_session_event;

// Messages that are malformed or do not fit the state, before a client is disconnected.
#define CAIRN_SESSION_VIOLATIONS_MAX 16
// Time for HELLO after the connection. Ten copies of a lost HELLO fit, also over a path that loses
// three in ten. In five seconds only six fit, and one such join in some hundreds failed.
#define CAIRN_SESSION_HELLO_NS UINT64_C(15000000000)
#define CAIRN_SESSION_REFUSED_NS CAIRN_NS_PER_S

// Looks the event up in the table and acts. `message`: the decoded message of HELLO, INPUT, ROOTS,
// RESYNC_REQUEST, CONTROL and PLAYER_MESSAGE; the NOTICE to send for ROOM_CLOSED; NULL otherwise.
void cairn_session_dispatch(cairn_server *server, cairn_session *session, cairn_session_event event,
    const cairn_message *message);
