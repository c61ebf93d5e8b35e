// SPDX-License-Identifier: MIT
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/netcode_table.h"
#include "proto_tests/net/netcode_kit.h"

// The input is a script for three peers with valid tokens and the keys in them. They send any
// packet at any time, with any sequence, changed or not, from any address. The counters must add
// up, events must come in pairs, and an answer is never larger than a request.

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { PEERS = 3, CLIENTS = 2 };

typedef struct stage {
    uint64_t now_ns;
    cairn_netcode_server *server;
    kit_peer peers[PEERS];
    kit_datagram last[PEERS]; // sent by each peer
    bool connected[CLIENTS];  // according to the events
    uint64_t received;
} stage;

static void drain(stage *s) {
    kit_datagram datagram;
    while ((datagram.size = cairn_netcode_server_next_datagram(
                s->server, &datagram.to, datagram.bytes)) > 0) {
        CAIRN_ASSERT(datagram.size <= 333);
        for (int i = 0; i < PEERS; ++i) {
            kit_learn_challenge(&s->peers[i], &datagram);
        }
    }
}

static void take_events(stage *s) {
    cairn_netcode_event event;
    while (cairn_netcode_server_next_event(s->server, &event)) {
        CAIRN_ASSERT(event.client < CLIENTS && event.client_id >= 1 && event.client_id <= PEERS);
        if (event.kind == CAIRN_NETCODE_PAYLOAD) {
            CAIRN_ASSERT(event.payload_size >= 1 && event.payload_size <= 1200);
            CAIRN_ASSERT(s->connected[event.client]);
            continue;
        }
        CAIRN_ASSERT(s->connected[event.client] == (event.kind == CAIRN_NETCODE_DISCONNECTED));
        s->connected[event.client] = event.kind == CAIRN_NETCODE_CONNECTED;
    }
}

static void receive(stage *s, const kit_datagram *datagram) {
    ++s->received;
    cairn_netcode_server_receive(
        s->server, s->now_ns, &datagram->from, datagram->bytes, datagram->size);
}

static void send_packet(stage *s, cairn_reader *reader) {
    const uint8_t source = cairn_read_u8(reader);
    const uint8_t choice = cairn_read_u8(reader);
    const uint64_t sequence =
        choice & 8 ? cairn_read_u64(reader) : cairn_read_u8(reader) + (uint64_t)choice / 16 * 256;
    kit_datagram datagram = kit_packet(&s->peers[source % PEERS], false,
        (cairn_packet_type)((choice & 7) % CAIRN_PACKET_TYPE_COUNT), sequence, 1 + sequence % 24);
    datagram.from = kit_address("10.0.0.1:5000");
    datagram.from.port = (uint16_t)(5000 + source / PEERS % 4);
    const uint8_t change = cairn_read_u8(reader);
    if (change & 1) {
        datagram.bytes[cairn_read_u16(reader) % datagram.size] ^= (uint8_t)(change | 1);
    }
    if (change & 2) {
        datagram.size = cairn_read_u16(reader) % (datagram.size + 1);
    }
    s->last[source % PEERS] = datagram;
    receive(s, &datagram);
}

static void send_script_bytes(stage *s, cairn_reader *reader) {
    kit_datagram datagram = {.from = kit_address("10.0.0.1:5000")};
    const size_t size = cairn_read_u8(reader);
    datagram.size = size < cairn_reader_left(reader) ? size : cairn_reader_left(reader);
    cairn_read_bytes(reader, datagram.bytes, datagram.size);
    receive(s, &datagram);
}

static void act(stage *s, cairn_reader *reader) {
    static const uint8_t payload[32] = {1};
    kit_datagram out;
    const uint8_t verb = cairn_read_u8(reader);
    switch (verb % 10) {
    case 0:
        send_script_bytes(s, reader);
        break;
    case 1:
        receive(s, &s->last[verb % PEERS]);
        break;
    case 2:
        s->now_ns += (uint64_t)cairn_read_u16(reader) * KIT_MS;
        cairn_netcode_server_advance(s->server, s->now_ns);
        break;
    case 3:
        cairn_netcode_server_disconnect(s->server, s->now_ns, verb / 10 % (CLIENTS + 1));
        break;
    case 4:
        cairn_netcode_server_encrypt(s->server, s->now_ns, verb / 10 % (CLIENTS + 1), payload,
            sizeof payload, &out.to, out.bytes);
        break;
    case 5:
        take_events(s);
        break;
    case 6:
        drain(s);
        break;
    default:
        send_packet(s, reader);
        break;
    }
}

static void check(stage *s) {
    const uint64_t *drops = cairn_netcode_server_drops(s->server);
    uint64_t counted = 0;
    for (int i = 0; i < CAIRN_NETCODE_DROP_COUNT; ++i) {
        const bool extra =
            i == CAIRN_NETCODE_DROP_UNREAD || i == CAIRN_NETCODE_DROP_SEND_QUEUE_FULL;
        counted += extra ? 0 : drops[i];
    }
    CAIRN_ASSERT(counted == s->received);
    take_events(s);
    for (uint32_t i = 0; i < CLIENTS; ++i) {
        CAIRN_ASSERT(s->connected[i] == cairn_netcode_server_connected(s->server, i));
    }
    drain(s);
    CAIRN_ASSERT(cairn_netcode_server_deadline_ns(s->server) > s->now_ns - 70 * KIT_S);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static stage s;
    s = (stage){.now_ns = 3600 * KIT_S,
        .server = kit_server(kit_server_address, CLIENTS, 0, KIT_TOKEN_LIFETIME_S)};
    for (uint64_t i = 0; i < PEERS; ++i) {
        s.peers[i].token = kit_token_public(&(kit_token_fields){.client_id = i + 1});
    }
    cairn_reader reader = cairn_reader_of(bytes, size);
    for (int i = 0; i < 300 && cairn_reader_left(&reader) > 0; ++i) {
        act(&s, &reader);
    }
    check(&s);
    cairn_netcode_server_destroy(s.server);
    return 0;
}
