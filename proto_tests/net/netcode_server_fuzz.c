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

typedef struct peer {
    cairn_token_public token;
    cairn_packet_challenge challenge;
    uint8_t challenge_token[CAIRN_CHALLENGE_TOKEN_SIZE];
    kit_datagram last;
} peer;

typedef struct stage {
    uint64_t now_ns;
    cairn_netcode_server *server;
    peer peers[PEERS];
    bool connected[CLIENTS]; // as the events tell
    uint64_t received;
} stage;

static void learn(peer *p, const kit_datagram *datagram) {
    static uint8_t body[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_packet_header header;
    cairn_packet packet;
    if (cairn_packet_read_header(datagram->bytes, datagram->size, CAIRN_PACKETS_TO_CLIENT,
            &header) == CAIRN_NETCODE_TAKEN &&
        cairn_packet_read(&header, datagram->bytes, datagram->size, KIT_PROTOCOL_ID,
            p->token.server_to_client_key, body, &packet) == CAIRN_NETCODE_TAKEN &&
        packet.type == CAIRN_PACKET_CHALLENGE) {
        p->challenge.sequence = packet.challenge.sequence;
        memcpy(p->challenge_token, packet.challenge.token, CAIRN_CHALLENGE_TOKEN_SIZE);
    }
}

static void drain(stage *s) {
    kit_datagram datagram;
    while ((datagram.size = cairn_netcode_server_next_datagram(
                s->server, &datagram.to, datagram.bytes)) > 0) {
        CAIRN_ASSERT(datagram.size <= 333);
        for (int i = 0; i < PEERS; ++i) {
            learn(&s->peers[i], &datagram);
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

static void make(const peer *p, cairn_packet_type type, uint64_t sequence, kit_datagram *out) {
    if (type == CAIRN_PACKET_REQUEST) {
        const cairn_packet_request request = {
            KIT_PROTOCOL_ID, p->token.expire_unix_s, p->token.nonce, p->token.private_data};
        out->size = cairn_packet_write_request(&request, out->bytes);
        return;
    }
    cairn_packet packet = {.type = type};
    if (type == CAIRN_PACKET_CHALLENGE || type == CAIRN_PACKET_RESPONSE) {
        packet.challenge = (cairn_packet_challenge){p->challenge.sequence, p->challenge_token};
    } else if (type == CAIRN_PACKET_PAYLOAD) {
        packet.payload = (cairn_packet_payload){p->token.nonce, 1 + sequence % 24};
    }
    out->size = cairn_packet_write(
        &packet, sequence, KIT_PROTOCOL_ID, p->token.client_to_server_key, out->bytes);
}

static void receive(stage *s, const kit_datagram *datagram) {
    ++s->received;
    cairn_netcode_server_receive(
        s->server, s->now_ns, &datagram->from, datagram->bytes, datagram->size);
}

static void say(stage *s, cairn_reader *reader) {
    const uint8_t who = cairn_read_u8(reader);
    peer *p = &s->peers[who % PEERS];
    kit_datagram datagram = {.from = kit_address("10.0.0.1:5000")};
    datagram.from.port = (uint16_t)(5000 + who / PEERS % 4);
    const uint8_t type = cairn_read_u8(reader);
    const uint64_t sequence =
        type & 8 ? cairn_read_u64(reader) : cairn_read_u8(reader) + (uint64_t)type / 16 * 256;
    make(p, (cairn_packet_type)((type & 7) % CAIRN_PACKET_TYPE_COUNT), sequence, &datagram);
    const uint8_t change = cairn_read_u8(reader);
    if (change & 1) {
        datagram.bytes[cairn_read_u16(reader) % datagram.size] ^= (uint8_t)(change | 1);
    }
    if (change & 2) {
        datagram.size = cairn_read_u16(reader) % (datagram.size + 1);
    }
    p->last = datagram;
    receive(s, &datagram);
}

static void say_anything(stage *s, cairn_reader *reader) {
    kit_datagram datagram = {.from = kit_address("10.0.0.1:5000")};
    const size_t size = cairn_read_u8(reader);
    datagram.size = size < cairn_reader_left(reader) ? size : cairn_reader_left(reader);
    cairn_read_bytes(reader, datagram.bytes, datagram.size);
    receive(s, &datagram);
}

static void act(stage *s, cairn_reader *reader) {
    static const uint8_t payload[32] = {1};
    kit_datagram out;
    const uint8_t what = cairn_read_u8(reader);
    switch (what % 10) {
    case 0:
        say_anything(s, reader);
        break;
    case 1:
        receive(s, &s->peers[what % PEERS].last);
        break;
    case 2:
        s->now_ns += (uint64_t)cairn_read_u16(reader) * KIT_MS;
        cairn_netcode_server_advance(s->server, s->now_ns);
        break;
    case 3:
        cairn_netcode_server_disconnect(s->server, s->now_ns, what / 10 % (CLIENTS + 1));
        break;
    case 4:
        cairn_netcode_server_encrypt(s->server, s->now_ns, what / 10 % (CLIENTS + 1), payload,
            sizeof payload, &out.to, out.bytes);
        break;
    case 5:
        take_events(s);
        break;
    case 6:
        drain(s);
        break;
    default:
        say(s, reader);
        break;
    }
}

static stage stage_open(void) {
    stage s = {.now_ns = 3600 * KIT_S};
    s.server = kit_server(kit_server_address, CLIENTS, 0, 30);
    for (int i = 0; i < PEERS; ++i) {
        uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
        KIT_TOKEN(token, .client_id = (uint64_t)i + 1);
        const cairn_token_refusal refusal =
            cairn_token_read_public(token, sizeof token, &s.peers[i].token);
        CAIRN_ASSERT(refusal == CAIRN_TOKEN_OK);
    }
    return s;
}

static void check(stage *s) {
    const uint64_t *drops = cairn_netcode_server_drops(s->server);
    uint64_t counted = 0;
    for (int i = 0; i < CAIRN_NETCODE_DROP_COUNT; ++i) {
        const bool aside =
            i == CAIRN_NETCODE_DROP_UNREAD || i == CAIRN_NETCODE_DROP_SEND_QUEUE_FULL;
        counted += aside ? 0 : drops[i];
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
    s = stage_open();
    cairn_reader reader = cairn_reader_of(bytes, size);
    for (int i = 0; i < 300 && cairn_reader_left(&reader) > 0; ++i) {
        act(&s, &reader);
    }
    check(&s);
    cairn_netcode_server_destroy(s.server);
    return 0;
}
