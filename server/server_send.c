// SPDX-License-Identifier: MIT
// The datagrams that a server sends: netcode's own, and the encrypted payloads of its clients.
#include <string.h>

#include "base/assert.h"
#include "server/core/server_state.h"

// The next client's payload, encrypted. Each client may send one before any sends a second.
static size_t seal_next_payload(
    cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    for (uint32_t tried = 0; tried < server->config.clients_max; ++tried) {
        cairn_session *session = &server->sessions[server->send_next];
        server->send_next = (server->send_next + 1) % server->config.clients_max;
        if (session->state == CAIRN_SESSION_FREE) {
            continue;
        }
        uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
        const size_t payload_size = cairn_session_next_payload(session, now_ns, payload);
        const size_t size = payload_size == 0
                                ? 0
                                : cairn_netcode_server_encrypt(server->context.netcode, now_ns,
                                      session->client, payload, payload_size, to, bytes);
        CAIRN_ASSERT(size <= CAIRN_DATAGRAM_SIZE_MAX);
        if (size > 0) {
            return size;
        }
    }
    return 0;
}

static size_t next_datagram(
    cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    size_t size = cairn_netcode_server_next_datagram(server->context.netcode, to, bytes);
    if (size > 0) {
        return size;
    }
    if (server->held_size == 0) {
        server->held_size = seal_next_payload(server, now_ns, &server->held_to, server->held);
        size = cairn_netcode_server_next_datagram(server->context.netcode, to, bytes);
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
    server->context.now_ns = now_ns;
    const size_t size = next_datagram(server, now_ns, to, bytes);
    CAIRN_ASSERT(size <= CAIRN_DATAGRAM_SIZE_MAX);
    server->statistics.datagrams_sent += size > 0 ? 1 : 0;
    server->statistics.bytes_sent += size;
    server->dry = size == 0;
    return size;
}
