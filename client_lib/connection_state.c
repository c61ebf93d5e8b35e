// SPDX-License-Identifier: MIT
#include "client_lib/connection_state.h"

#include "base/assert.h"

#define IDLE CAIRN_CLIENT_IDLE
#define CONNECTING CAIRN_CLIENT_CONNECTING
#define JOINING CAIRN_CLIENT_JOINING
#define PLAYING CAIRN_CLIENT_PLAYING
#define LEFT CAIRN_CLIENT_LEFT
#define FAILED CAIRN_CLIENT_FAILED

// clang-format off
static const uint8_t table[CAIRN_CLIENT_STATE_COUNT][CAIRN_CONNECTION_EVENT_COUNT] = {
    //              CONNECT     TOKEN_REFUSED CONNECTED  WORLD       REPLACED    DISCONNECT REFUSED  LOST        BROKEN
    [IDLE]       = {CONNECTING, FAILED,       IDLE,      IDLE,       IDLE,       IDLE,      IDLE,    IDLE,       IDLE},
    [CONNECTING] = {CONNECTING, FAILED,       JOINING,   CONNECTING, CONNECTING, LEFT,      FAILED,  FAILED,     FAILED},
    [JOINING]    = {CONNECTING, FAILED,       JOINING,   PLAYING,    JOINING,    LEFT,      FAILED,  FAILED,     FAILED},
    [PLAYING]    = {CONNECTING, FAILED,       PLAYING,   PLAYING,    JOINING,    LEFT,      FAILED,  FAILED,     FAILED},
    [LEFT]       = {CONNECTING, FAILED,       LEFT,      LEFT,       LEFT,       LEFT,      LEFT,    LEFT,       LEFT},
    [FAILED]     = {CONNECTING, FAILED,       FAILED,    FAILED,     FAILED,     FAILED,    FAILED,  FAILED,     FAILED},
};
// clang-format on

cairn_client_state cairn_connection_state_next(
    cairn_client_state state, cairn_connection_event event) {
    CAIRN_ASSERT((uint32_t)state < CAIRN_CLIENT_STATE_COUNT);
    CAIRN_ASSERT((uint32_t)event < CAIRN_CONNECTION_EVENT_COUNT);
    return (cairn_client_state)table[state][event];
}

const char *cairn_connection_state_loss_text(cairn_netcode_client_state state) {
    switch (state) {
    case CAIRN_NETCODE_STATE_TOKEN_EXPIRED:
        return "the connect token expired before a server let this client in";
    case CAIRN_NETCODE_STATE_TOKEN_INVALID:
        return "the connect token is malformed";
    case CAIRN_NETCODE_STATE_CONNECTION_TIMED_OUT:
        return "the connection timed out: nothing was received from the server";
    case CAIRN_NETCODE_STATE_RESPONSE_TIMED_OUT:
        return "the server stopped answering during the handshake";
    case CAIRN_NETCODE_STATE_REQUEST_TIMED_OUT:
        return "no server of the connect token answered";
    case CAIRN_NETCODE_STATE_DENIED:
        return "the server is full";
    case CAIRN_NETCODE_STATE_DISCONNECTED:
        return "the server closed the connection";
    case CAIRN_NETCODE_STATE_SENDING_REQUEST:
    case CAIRN_NETCODE_STATE_SENDING_RESPONSE:
    case CAIRN_NETCODE_STATE_CONNECTED:
        break;
    }
    return "";
}
