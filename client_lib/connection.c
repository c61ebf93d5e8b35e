// SPDX-License-Identifier: MIT
#include "client_lib/connection.h"

#include <stdio.h>

#include "base/assert.h"

#define UNRELIABLE_SIZE_MAX 8192
#define RELIABLE_BUFFER_SIZE 65536
// Beyond the difference sketch of a resync request, the largest message a client sends.
#define MESSAGE_HEAD_SIZE_MAX 4096

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

cairn_status cairn_connection_create(cairn_connection *connection) {
    *connection = (cairn_connection){.state = CAIRN_CLIENT_IDLE};
    cairn_link_config link = cairn_link_config_default();
    link.unreliable_size_max = UNRELIABLE_SIZE_MAX;
    link.reliable_buffer_size = RELIABLE_BUFFER_SIZE;
    link.receive_size_max = CAIRN_MESSAGE_SIZE_MAX;
    cairn_status status = cairn_encoder_create(
        CAIRN_DIFFERENCE_SKETCH_SIZE_MAX + MESSAGE_HEAD_SIZE_MAX, &connection->encoder);
    if (status == CAIRN_OK) {
        status = cairn_netcode_client_create(&connection->netcode);
    }
    return status != CAIRN_OK ? status : cairn_link_create(&link, 0, &connection->link);
}

void cairn_connection_destroy(cairn_connection *connection) {
    cairn_link_destroy(connection->link);
    cairn_netcode_client_destroy(connection->netcode);
    cairn_encoder_destroy(connection->encoder);
    *connection = (cairn_connection){.state = CAIRN_CLIENT_IDLE};
}

void cairn_connection_apply_event(
    cairn_connection *connection, cairn_connection_event event, const char *text) {
    const cairn_client_state next = cairn_connection_state_next(connection->state, event);
    if (next == CAIRN_CLIENT_FAILED && connection->state != next) {
        CAIRN_ASSERT(text[0] != '\0');
        snprintf(connection->failure, sizeof connection->failure, "%s", text);
    }
    connection->state = next;
}

void cairn_connection_fail(
    cairn_connection *connection, uint64_t now_ns, cairn_connection_event event, const char *text) {
    cairn_connection_apply_event(connection, event, text);
    cairn_netcode_client_disconnect(connection->netcode, now_ns);
    CAIRN_ASSERT(!cairn_connection_is_open(connection));
}

bool cairn_connection_open(
    cairn_connection *connection, uint64_t now_ns, uint64_t now_unix_s, const uint8_t *token) {
    CAIRN_ASSERT(connection->netcode != NULL && token != NULL);
    const cairn_status status =
        cairn_netcode_client_connect(connection->netcode, now_ns, now_unix_s, token);
    // From FAILED a second refusal would be no change of state, and leave no failure text.
    connection->state = CAIRN_CLIENT_IDLE;
    connection->failure[0] = '\0';
    connection->traffic = (cairn_client_connection_statistics){0};
    cairn_link_reset(connection->link, now_ns);
    if (status != CAIRN_OK) {
        cairn_connection_apply_event(connection, CAIRN_CONNECTION_TOKEN_REFUSED,
            cairn_connection_state_loss_text(cairn_netcode_client_state_read(connection->netcode)));
        return false;
    }
    cairn_connection_apply_event(connection, CAIRN_CONNECTION_CONNECT, "");
    CAIRN_ASSERT(connection->state == CAIRN_CLIENT_CONNECTING);
    return true;
}

void cairn_connection_close(cairn_connection *connection, uint64_t now_ns) {
    cairn_netcode_client_disconnect(connection->netcode, now_ns);
    cairn_connection_apply_event(connection, CAIRN_CONNECTION_DISCONNECT, "");
}

bool cairn_connection_is_open(const cairn_connection *connection) {
    CAIRN_ASSERT((uint32_t)connection->state < CAIRN_CLIENT_STATE_COUNT);
    return connection->state == CAIRN_CLIENT_JOINING || connection->state == CAIRN_CLIENT_PLAYING;
}

bool cairn_connection_follow_handshake(cairn_connection *connection, uint64_t now_ns) {
    const cairn_netcode_client_state state = cairn_netcode_client_state_read(connection->netcode);
    const bool succeeded =
        connection->state == CAIRN_CLIENT_CONNECTING && state == CAIRN_NETCODE_STATE_CONNECTED;
    if (succeeded) {
        cairn_link_reset(connection->link, now_ns);
        cairn_connection_apply_event(connection, CAIRN_CONNECTION_CONNECTED, "");
    }
    // netcode orders its states so that those of a connection that ended come first.
    if (state <= CAIRN_NETCODE_STATE_DISCONNECTED) {
        cairn_connection_apply_event(
            connection, CAIRN_CONNECTION_LOST, cairn_connection_state_loss_text(state));
    }
    return succeeded;
}

const uint8_t *cairn_connection_receive(cairn_connection *connection, uint64_t now_ns,
    const cairn_address *from, const uint8_t *bytes, size_t size, size_t *payload_size) {
    CAIRN_ASSERT(from != NULL && payload_size != NULL);
    connection->traffic.datagrams_received++;
    connection->traffic.bytes_received += size;
    const uint64_t moves = cairn_netcode_client_moves(connection->netcode);
    cairn_netcode_client_receive(connection->netcode, now_ns, from, bytes, size);
    if (cairn_netcode_client_moves(connection->netcode) != moves) {
        cairn_link_path_changed(connection->link, now_ns);
        connection->traffic.path_changes++;
    }
    return cairn_netcode_client_next_payload(connection->netcode, payload_size);
}

size_t cairn_connection_next_datagram(
    cairn_connection *connection, uint64_t now_ns, uint8_t *bytes) {
    cairn_address to;
    size_t size = cairn_netcode_client_next_datagram(connection->netcode, &to, bytes);
    if (size == 0 && cairn_connection_is_open(connection)) {
        uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
        const size_t payload_size = cairn_link_next_payload(connection->link, now_ns, payload);
        size = payload_size == 0 ? 0
                                 : cairn_netcode_client_encrypt(connection->netcode, now_ns,
                                       payload, payload_size, &to, bytes);
    }
    CAIRN_ASSERT(size <= CAIRN_DATAGRAM_SIZE_MAX);
    connection->traffic.datagrams_sent += size > 0 ? 1 : 0;
    connection->traffic.bytes_sent += size;
    return size;
}

static size_t encode(
    cairn_connection *connection, const cairn_message *message, const uint8_t **bytes) {
    size_t size = 0;
    const cairn_status status = cairn_message_encode(connection->encoder, message, bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK && size > 0);
    return size;
}

size_t cairn_connection_send_reliable(cairn_connection *connection, const cairn_message *message) {
    const uint8_t *bytes = NULL;
    const size_t size = encode(connection, message, &bytes);
    return cairn_link_send_reliable(connection->link, bytes, size) == CAIRN_OK ? size : 0;
}

size_t cairn_connection_send_unreliable(
    cairn_connection *connection, const cairn_message *message) {
    const uint8_t *bytes = NULL;
    const size_t size = encode(connection, message, &bytes);
    const cairn_status status = cairn_link_send_unreliable(connection->link, bytes, size);
    CAIRN_ASSERT(status == CAIRN_OK);
    return size;
}
