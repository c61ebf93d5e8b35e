// SPDX-License-Identifier: MIT
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "proto_tests/net/netcode_kit.h"

// The input is a script for a hostile server that has the client's keys: it sends any packet in any
// state, with any sequence, changed or not. The client's states stay valid and its counters add up.

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct stage {
    uint64_t now_ns;
    cairn_netcode_client *client;
    kit_peer peer; // the server's side of the keys
    kit_datagram last;
    uint64_t received;
} stage;

static void receive(stage *s, const kit_datagram *datagram) {
    ++s->received;
    cairn_netcode_client_receive(
        s->client, s->now_ns, &datagram->from, datagram->bytes, datagram->size);
    size_t size;
    if (cairn_netcode_client_next_payload(s->client, &size) != NULL) {
        CAIRN_ASSERT(size >= 1 && size <= CAIRN_PAYLOAD_SIZE_MAX);
        const cairn_netcode_client_state state = cairn_netcode_client_state_read(s->client);
        CAIRN_ASSERT(state == CAIRN_NETCODE_STATE_CONNECTED);
    }
}

static void send_packet(stage *s, cairn_reader *reader) {
    const uint8_t choice = cairn_read_u8(reader);
    const cairn_packet_type type = (cairn_packet_type)(1 + (choice & 7) % 6);
    const size_t payload_size =
        type == CAIRN_PACKET_PAYLOAD ? 1 + cairn_read_u16(reader) % 1200u : 0;
    const uint64_t sequence =
        choice & 8 ? cairn_read_u64(reader) : cairn_read_u8(reader) + (uint64_t)choice / 64 * 256;
    s->peer.challenge_sequence = choice;
    kit_datagram datagram = kit_packet(&s->peer, true, type, sequence, payload_size);
    datagram.from = cairn_netcode_client_server(s->client);
    if (choice & 16) {
        datagram.bytes[cairn_read_u16(reader) % datagram.size] ^= cairn_read_u8(reader);
    }
    if (choice & 32) {
        datagram.from.port ^= cairn_read_u8(reader);
    }
    s->last = datagram;
    receive(s, &datagram);
}

static void connect(stage *s, cairn_reader *reader) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    const uint8_t change = cairn_read_u8(reader);
    KIT_TOKEN(token, .servers = {kit_server_address, "[::1]:2"}, .timeout_s = change % 8 - 1);
    cairn_token_read_public(token, sizeof token, &s->peer.token);
    if (change & 64) {
        token[cairn_read_u16(reader) % sizeof token] ^= cairn_read_u8(reader);
    }
    cairn_netcode_client_connect(s->client, s->now_ns, KIT_UNIX_S, token);
}

static void drain(stage *s) {
    kit_datagram datagram;
    while ((datagram.size = cairn_netcode_client_next_datagram(
                s->client, &datagram.to, datagram.bytes)) > 0) {
        CAIRN_ASSERT(datagram.size <= sizeof datagram.bytes);
    }
}

static void act(stage *s, cairn_reader *reader) {
    static const uint8_t payload[8] = {1};
    kit_datagram out = {.size = 0};
    const uint8_t verb = cairn_read_u8(reader);
    switch (verb % 10) {
    case 0:
        out.size = cairn_read_u8(reader) % (cairn_reader_left(reader) + 1);
        cairn_read_bytes(reader, out.bytes, out.size);
        out.from = cairn_netcode_client_server(s->client);
        receive(s, &out);
        break;
    case 1:
        receive(s, &s->last);
        break;
    case 2:
        s->now_ns += (uint64_t)cairn_read_u16(reader) * KIT_MS;
        cairn_netcode_client_advance(s->client, s->now_ns);
        CAIRN_ASSERT(cairn_netcode_client_deadline_ns(s->client) > s->now_ns);
        break;
    case 3:
        cairn_netcode_client_disconnect(s->client, s->now_ns);
        break;
    case 4:
        cairn_netcode_client_encrypt(
            s->client, s->now_ns, payload, sizeof payload, &out.to, out.bytes);
        break;
    case 5:
        connect(s, reader);
        break;
    case 6:
        drain(s);
        break;
    default:
        send_packet(s, reader);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static stage s;
    s = (stage){.now_ns = KIT_S};
    const cairn_status status = cairn_netcode_client_create(&s.client);
    CAIRN_ASSERT(status == CAIRN_OK);
    cairn_reader reader = cairn_reader_of(bytes, size);
    for (int i = 0; i < 300 && cairn_reader_left(&reader) > 0; ++i) {
        act(&s, &reader);
    }
    const uint64_t *drops = cairn_netcode_client_drops(s.client);
    uint64_t counted = 0;
    for (int i = 0; i < CAIRN_NETCODE_DROP_COUNT; ++i) {
        counted += i == CAIRN_NETCODE_DROP_SEND_QUEUE_FULL ? 0 : drops[i];
    }
    CAIRN_ASSERT(counted == s.received);
    cairn_netcode_client_destroy(s.client);
    return 0;
}
