// SPDX-License-Identifier: MIT
// From messages to datagrams: encoding, queueing, and whose payload is sealed next.
#include <string.h>

#include "base/assert.h"
#include "server/server_parts.h"

size_t cairn_server_send_reliable(
    cairn_server *server, cairn_session *session, const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    cairn_status status = cairn_message_encode(server->encoder, message, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK);
    return cairn_link_send_reliable(session->link, bytes, size) == CAIRN_OK ? size : 0;
}

size_t cairn_server_send_unreliable(
    cairn_server *server, cairn_session *session, const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    cairn_status status = cairn_message_encode(server->encoder, message, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK || status == CAIRN_CAPACITY);
    bool sent =
        status == CAIRN_OK && cairn_link_send_unreliable(session->link, bytes, size) == CAIRN_OK;
    return sent ? size : 0;
}

void cairn_server_notify_room(
    cairn_server *server, const cairn_room *room, const cairn_event_message *notice) {
    const cairn_message message = {.kind = CAIRN_MESSAGE_EVENT, .event = *notice};
    for (cairn_session *at = room->members; at != NULL; at = at->member_next) {
        cairn_server_send_reliable(server, at, &message);
    }
}

// The link's next payload, or what comes out of the bad path that an operator put behind it.
static size_t next_payload(cairn_session *session, uint64_t now_ns, uint8_t *payload) {
    if (session->faults_out == NULL) {
        return cairn_link_next_payload(session->link, now_ns, payload);
    }
    size_t size;
    while ((size = cairn_link_next_payload(session->link, now_ns, payload)) > 0) {
        cairn_link_conditioner_put(session->faults_out, now_ns, payload, size);
    }
    return cairn_link_conditioner_take(session->faults_out, now_ns, payload);
}

// The next client's payload, sealed; each client has one turn before any has a second.
static size_t seal_next(cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    for (uint32_t tried = 0; tried < server->config.clients_max; ++tried) {
        cairn_session *session = &server->sessions[server->send_next];
        server->send_next = (server->send_next + 1) % server->config.clients_max;
        if (session->state == CAIRN_SESSION_FREE) {
            continue;
        }
        uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
        size_t payload_size = next_payload(session, now_ns, payload);
        size_t size = payload_size == 0 ? 0
                                        : cairn_netcode_server_encrypt(server->netcode, now_ns,
                                              session->client, payload, payload_size, to, bytes);
        if (size > 0) {
            return size;
        }
    }
    return 0;
}

static size_t next_datagram(
    cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    size_t size = cairn_netcode_server_next_datagram(server->netcode, to, bytes);
    if (size > 0) {
        return size;
    }
    if (server->held_size == 0) {
        server->held_size = seal_next(server, now_ns, &server->held_to, server->held);
        size = cairn_netcode_server_next_datagram(server->netcode, to, bytes);
        if (size > 0) {
            return size;
        }
    }
    size = server->held_size;
    *to = server->held_to;
    memcpy(bytes, server->held, size);
    server->held_size = 0;
    return size;
}

size_t cairn_server_send(cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    server->now_ns = now_ns;
    size_t size = next_datagram(server, now_ns, to, bytes);
    server->statistics.datagrams_sent += size > 0 ? 1 : 0;
    server->statistics.bytes_sent += size;
    server->dry = size == 0;
    return size;
}
