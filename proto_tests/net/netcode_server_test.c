// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"
#include <string.h>

#include "net/netcode_handshake.h"
#include "net/token_history.h"
#include "proto_tests/net/netcode_kit.h"

SCOPE_ENDS(kit, kit_close)

static void expect_event(
    const kit *k, cairn_netcode_event_kind kind, cairn_netcode_disconnect_reason reason) {
    assert_true(k->event_count > 0);
    assert_int_equal(k->events[k->event_count - 1].kind, kind);
    assert_int_equal(k->events[k->event_count - 1].reason, reason);
}

TEST("create refuses values out of range") {
    const cairn_address address = kit_address("1.2.3.4:5");
    const cairn_address nowhere = {0};
    const cairn_netcode_server_config good = kit_server_config(&address, 1);
    cairn_netcode_server *server;
    assert_int_equal(cairn_netcode_server_create(&good, &server), CAIRN_OK);
    cairn_netcode_server_destroy(server);
    cairn_netcode_server_config bad[8] = {good, good, good, good, good, good, good, good};
    bad[0].private_key = NULL;
    bad[1].entropy = NULL;
    bad[2].public_addresses = NULL;
    bad[3].public_address_count = 0;
    bad[4].public_address_count = CAIRN_TOKEN_SERVERS_MAX + 1;
    bad[5].clients_max = 0;
    bad[6].clients_max = CAIRN_CLIENTS_MAX + 1;
    bad[7].public_addresses = &nowhere;
    for (int i = 0; i < 8; ++i) {
        assert_int_equal(cairn_netcode_server_create(&bad[i], &server), CAIRN_INVALID_ARGUMENT);
        assert_null(server);
    }
    cairn_netcode_server_destroy(NULL);
}

TEST("a good request is answered with one smaller packet") {
    SCOPED(kit) k = kit_open(4);
    const kit_datagram datagram = KIT_REQUEST(&k, .client_id = 1);
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_TAKEN);
    const kit_datagram answer = kit_from_server(&k);
    assert_int_equal(answer.size, 333);
    assert_true(cairn_address_equal(&answer.to, &datagram.from));
    assert_int_equal(kit_discard_from_server(&k), 0);
}

TEST("a token may name any public address of the server") {
    const cairn_address addresses[] = {
        kit_address("1.2.3.4:5"), kit_address("[::1]:6"), kit_address("1.2.3.4:7")};
    const cairn_netcode_server_config config = kit_server_config(addresses, 3);
    const char *const named[] = {"1.2.3.4:5", "[::1]:6", "1.2.3.4:7", "1.2.3.4:6", "[::2]:6"};
    for (int i = 0; i < 5; ++i) {
        SCOPED(kit) k = kit_open(4);
        cairn_netcode_server_destroy(k.server);
        assert_int_equal(cairn_netcode_server_create(&config, &k.server), CAIRN_OK);
        const kit_datagram datagram = KIT_REQUEST(&k, .servers = {named[i]});
        assert_int_equal(kit_to_server(&k, datagram),
            i < 3 ? CAIRN_NETCODE_TAKEN : CAIRN_NETCODE_DROP_TOKEN_NOT_FOR_US);
    }
}

TEST("a request with one changed byte is refused") {
    SCOPED(kit) k = kit_open(4);
    const kit_datagram good = KIT_REQUEST(&k, .client_id = 1);
    kit_datagram bad = good;
    bad.size -= 1;
    assert_int_equal(kit_to_server(&k, bad), CAIRN_NETCODE_DROP_SIZE);
    bad.size += 2;
    assert_int_equal(kit_to_server(&k, bad), CAIRN_NETCODE_DROP_SIZE);
    for (size_t i = 0; i < good.size; ++i) {
        bad = good;
        bad.bytes[i] ^= 0x10;
        bad.from.ip[0] = (uint8_t)i; // a network of its own
        bad.from.ip[1] = (uint8_t)(i >> 8);
        const cairn_netcode_drop drop = kit_to_server(&k, bad);
        if (i == 0) {
            assert_int_equal(drop, CAIRN_NETCODE_DROP_TYPE);
        } else if (i < 14) {
            assert_int_equal(drop, CAIRN_NETCODE_DROP_VERSION);
        } else if (i < 22) {
            assert_int_equal(drop, CAIRN_NETCODE_DROP_PROTOCOL_ID);
        } else if (i >= 30) {
            assert_int_equal(drop, CAIRN_NETCODE_DROP_TOKEN_BROKEN);
        } else {
            // A changed expiry may lie in the past or too far ahead; else the token does not
            // decrypt.
            assert_true(drop == CAIRN_NETCODE_DROP_TOKEN_BROKEN ||
                        drop == CAIRN_NETCODE_DROP_TOKEN_LIFETIME ||
                        drop == CAIRN_NETCODE_DROP_TOKEN_EXPIRED);
        }
    }
    assert_int_equal(kit_discard_from_server(&k), 0);
    assert_int_equal(kit_to_server(&k, good), CAIRN_NETCODE_TAKEN);
}

TEST("an empty or tiny datagram is dropped by size") {
    SCOPED(kit) k = kit_open(4);
    for (size_t size = 0; size < 18; ++size) {
        kit_datagram datagram = {.from = k.client_addresses[0], .size = size, .bytes = {0x14}};
        assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_DROP_SIZE);
    }
}

TEST("an invalid header is dropped for the right reason") {
    const struct {
        uint8_t prefix;
        size_t size;
        cairn_netcode_drop drop;
    } cases[] = {
        {0x10, 30, CAIRN_NETCODE_DROP_TYPE}, // a request is not encrypted
        {0x11, 30, CAIRN_NETCODE_DROP_TYPE}, // only servers deny
        {0x12, 333, CAIRN_NETCODE_DROP_TYPE},
        {0x18, 30, CAIRN_NETCODE_DROP_TYPE}, // only servers challenge
        {0x1a, 30, CAIRN_NETCODE_DROP_TYPE},
        {0x17, 21, CAIRN_NETCODE_DROP_SIZE},
        {0x87, 28, CAIRN_NETCODE_DROP_SEQUENCE_BYTES},
        {0x17, 30, CAIRN_NETCODE_DROP_UNKNOWN_SENDER}, // slot 0 is free
        {0x19, 1230, CAIRN_NETCODE_DROP_SIZE},
        {0x1f, 30, CAIRN_NETCODE_DROP_TYPE},
        {0x04, 30, CAIRN_NETCODE_DROP_SEQUENCE_BYTES},
        {0x94, 40, CAIRN_NETCODE_DROP_SEQUENCE_BYTES},
        {0xf4, 40, CAIRN_NETCODE_DROP_SEQUENCE_BYTES},
        {0x86, 24, CAIRN_NETCODE_DROP_SEQUENCE_BYTES},
        {0x86, 25, CAIRN_NETCODE_DROP_UNKNOWN_SENDER},
        {0x85, 1225, CAIRN_NETCODE_DROP_UNKNOWN_SENDER},
        {0x85, 1226, CAIRN_NETCODE_DROP_SIZE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        SCOPED(kit) k = kit_open(4);
        kit_datagram datagram = {
            .from = k.client_addresses[0], .size = cases[i].size, .bytes = {cases[i].prefix}};
        assert_int_equal(kit_to_server(&k, datagram), cases[i].drop);
    }
}

TEST("a body of the wrong length is dropped although it decrypts") {
    SCOPED(kit) k = kit_open_joined(4);
    const cairn_token_public token =
        kit_token_public(&(kit_token_fields){.client_id = 1, .seed = k.now_ns + 1});
    // Version, protocol id, prefix.
    uint8_t associated[22] = "NETCODE 1.02\0\x88\x77\x66\x55\x44\x33\x22\x11";
    const struct {
        uint8_t prefix;
        size_t body;
    } cases[] = {{0x14, 7}, {0x14, 9}, {0x16, 1}, {0x15, 0}};
    for (size_t i = 0; i < 4; ++i) {
        kit_datagram datagram = {.from = k.client_addresses[0],
            .size = 2 + cases[i].body + CAIRN_AEAD_MAC_SIZE,
            .bytes = {cases[i].prefix, (uint8_t)(50 + i)}};
        associated[21] = cases[i].prefix;
        cairn_aead_encrypt(datagram.bytes + 2, cases[i].body,
            (cairn_associated_data){associated, sizeof associated}, 50 + i,
            token.client_to_server_key);
        assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_DROP_SIZE);
    }
    assert_true(cairn_netcode_server_connected(k.server, 0));
}

static uint64_t sequence_to_client(const kit_datagram *datagram) {
    cairn_packet_header header;
    assert_int_equal(
        cairn_packet_read_header(datagram->bytes, datagram->size, CAIRN_PACKETS_TO_CLIENT, &header),
        CAIRN_NETCODE_TAKEN);
    return header.sequence;
}

static cairn_netcode_server *server_at(
    const char *address, uint8_t entropy_byte, uint64_t now_ns, uint64_t start_unix_ns) {
    const uint8_t entropy[32] = {entropy_byte};
    const cairn_address public_address = kit_address(address);
    cairn_netcode_server_config config = kit_server_config(&public_address, 1);
    config.entropy = entropy;
    config.start_ns = now_ns;
    config.start_unix_ns = start_unix_ns;
    cairn_netcode_server *server;
    assert_int_equal(cairn_netcode_server_create(&config, &server), CAIRN_OK);
    return server;
}

// Both hosts are servers of one token and send it challenges, keep-alives, payloads and
// disconnects: no sequence appears twice under the key of the token.
TEST("two servers of one token use no sequence twice") {
    enum { SENT_MAX = 64 };
    const char *const addresses[] = {kit_server_address, "10.0.0.101:40000"};
    uint64_t sent[2 * SENT_MAX];
    size_t count = 0;
    for (int n = 0; n < 2; ++n) {
        SCOPED(kit) k = kit_open(1);
        cairn_netcode_server_destroy(k.server);
        // The same entropy: not even then.
        k.server = server_at(addresses[n], 1, k.now_ns, (KIT_UNIX_S - 3600) * KIT_S);
        kit_peer peer = {
            .token = kit_token_public(&(kit_token_fields){
                .create_unix_s = KIT_UNIX_S - 3600, .servers = {addresses[0], addresses[1]}})};
        const size_t before = count;
        for (uint64_t i = 0; i < 4; ++i) {
            kit_datagram up = kit_packet(&peer, false,
                i < 2    ? CAIRN_PACKET_REQUEST
                : i == 2 ? CAIRN_PACKET_RESPONSE
                         : CAIRN_PACKET_PAYLOAD,
                i, 9);
            up.from = k.client_addresses[0];
            assert_int_equal(kit_to_server(&k, up), CAIRN_NETCODE_TAKEN);
            kit_take_events(&k);
            const kit_datagram payload = kit_server_payload(&k, 0, 5);
            for (kit_datagram down = kit_from_server(&k); down.size > 0;
                 down = kit_from_server(&k)) {
                kit_learn_challenge(&peer, &down);
                sent[count++] = sequence_to_client(&down);
            }
            if (payload.size > 0) {
                sent[count++] = sequence_to_client(&payload);
            }
        }
        cairn_netcode_server_disconnect_all(k.server, k.now_ns);
        for (kit_datagram down = kit_from_server(&k); down.size > 0; down = kit_from_server(&k)) {
            sent[count++] = sequence_to_client(&down);
        }
        assert_true(count - before >= 16 && count - before <= SENT_MAX);
    }
    for (size_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < i; ++k) {
            assert_int_not_equal(sent[i], sent[k]);
        }
    }
}

TEST("answers to unknown peers start at a random sequence of the upper half") {
    uint64_t starts[3];
    for (uint8_t run = 0; run < 3; ++run) {
        SCOPED(kit) k = kit_open(4);
        cairn_netcode_server_destroy(k.server);
        k.server = server_at(kit_server_address, run, 0, (KIT_UNIX_S - 3600) * KIT_S);
        for (uint64_t i = 0; i < 3; ++i) {
            assert_int_equal(
                kit_to_server(&k, KIT_REQUEST(&k, .client_id = 1)), CAIRN_NETCODE_TAKEN);
            const kit_datagram answer = kit_from_server(&k);
            starts[run] = i == 0 ? sequence_to_client(&answer) : starts[run];
            assert_int_equal(sequence_to_client(&answer), starts[run] + i);
        }
        assert_true(starts[run] >= UINT64_C(1) << 63);
        for (uint8_t i = 0; i < run; ++i) {
            const uint64_t apart = starts[run] - starts[i];
            assert_true(apart > 1u << 20 && apart < UINT64_MAX - (1u << 20));
        }
    }
}

// Tokens of the second in which a server starts may have been used in an earlier run that ended in
// that second.
TEST("a session with a token of the start's second starts at a random sequence") {
    for (uint32_t lifetime_s = 60; lifetime_s <= 61; ++lifetime_s) {
        uint64_t starts[2];
        for (uint8_t run = 0; run < 2; ++run) {
            SCOPED(kit) k = kit_open(1);
            cairn_netcode_server_destroy(k.server);
            k.server = server_at(kit_server_address, run, k.now_ns, KIT_UNIX_S * KIT_S);
            k.now_ns += lifetime_s == 60 ? 0 : KIT_S;
            const kit_token_fields fields = {.lifetime_s = lifetime_s};
            assert_int_equal(kit_connect_with(&k, 0, &fields), CAIRN_OK);
            assert_int_equal(kit_to_server(&k, kit_response(&k, 0)), CAIRN_NETCODE_TAKEN);
            const kit_datagram keep_alive = kit_from_server(&k);
            starts[run] = sequence_to_client(&keep_alive);
        }
        assert_true(lifetime_s == 60 ? starts[0] != starts[1] && starts[0] > 1u << 20
                                     : starts[0] == 0 && starts[1] == 0);
    }
}

TEST("a token makes one session and no other") {
    SCOPED(kit) k = kit_open(4);
    kit_connect(&k, 0);
    const kit_datagram first = kit_from_client(&k, 0);
    assert_int_equal(kit_to_server(&k, first), CAIRN_NETCODE_TAKEN);
    // Before the token makes a session, only its address may send it again.
    assert_int_equal(kit_to_server(&k, first), CAIRN_NETCODE_TAKEN);
    kit_datagram elsewhere = first;
    elsewhere.from = k.client_addresses[1];
    assert_int_equal(kit_to_server(&k, elsewhere), CAIRN_NETCODE_DROP_TOKEN_USED);
    kit_exchange(&k);
    assert_int_equal(kit_to_server(&k, first), CAIRN_NETCODE_DROP_ADDRESS_CONNECTED);
    assert_int_equal(kit_to_server(&k, elsewhere), CAIRN_NETCODE_DROP_ID_CONNECTED);
    cairn_netcode_client_disconnect(k.clients[0], k.now_ns);
    kit_exchange(&k);
    assert_int_equal(kit_to_server(&k, first), CAIRN_NETCODE_DROP_TOKEN_USED);
    k.now_ns += 59 * KIT_S;
    assert_int_equal(kit_to_server(&k, first), CAIRN_NETCODE_DROP_TOKEN_USED);
    k.now_ns += KIT_S;
    assert_int_equal(kit_to_server(&k, first), CAIRN_NETCODE_DROP_TOKEN_EXPIRED);
}

TEST("an old response opens no second session") {
    SCOPED(kit) k = kit_open(4);
    kit_connect(&k, 0);
    const kit_datagram response = kit_response(&k, 0);
    assert_int_equal(kit_to_server(&k, response), CAIRN_NETCODE_TAKEN);
    kit_exchange(&k);
    assert_int_equal(kit_to_server(&k, response), CAIRN_NETCODE_DROP_ADDRESS_CONNECTED);
    cairn_netcode_client_disconnect(k.clients[0], k.now_ns);
    kit_exchange(&k);
    assert_int_equal(kit_to_server(&k, response), CAIRN_NETCODE_DROP_UNKNOWN_SENDER);
}

TEST("a response must carry the challenge of its client") {
    SCOPED(kit) k = kit_open(4);
    kit_peer peers[2];
    for (int i = 0; i < 2; ++i) {
        const kit_token_fields fields = {.client_id = (uint64_t)i + 1};
        peers[i] = (kit_peer){.token = kit_token_public(&fields)};
        assert_int_equal(kit_to_server(&k, kit_request(&k, i, &fields)), CAIRN_NETCODE_TAKEN);
        const kit_datagram challenge = kit_from_server(&k);
        assert_true(kit_learn_challenge(&peers[i], &challenge));
    }
    // The second client sends the first one's challenge: as it is, with another sequence, and
    // with another token.
    for (uint64_t n = 0; n < 3; ++n) {
        kit_peer thief = peers[0];
        thief.token = peers[1].token;
        thief.challenge_sequence += n == 1 ? 1 : 0;
        memset(thief.challenge, 0, n == 2 ? sizeof thief.challenge : 0);
        kit_datagram response = kit_packet(&thief, false, CAIRN_PACKET_RESPONSE, n, 0);
        response.from = k.client_addresses[1];
        assert_int_equal(kit_to_server(&k, response), CAIRN_NETCODE_DROP_CHALLENGE);
    }
}

// A client that was an operator keeps the challenge of then and answers with it under a token that
// gives it no rights.
TEST("a challenge belongs to one token, one address and a short time") {
    for (int n = 0; n < 4; ++n) {
        SCOPED(kit) k = kit_open(4);
        kit_peer peer = {.token = kit_token_public(&(kit_token_fields){.seed = 50})};
        kit_datagram up = kit_packet(&peer, false, CAIRN_PACKET_REQUEST, 0, 0);
        up.from = k.client_addresses[0];
        assert_int_equal(kit_to_server(&k, up), CAIRN_NETCODE_TAKEN);
        const kit_datagram challenge = kit_from_server(&k);
        assert_true(kit_learn_challenge(&peer, &challenge));
        if (n == 1) { // the next token of the same client
            peer.token = kit_token_public(&(kit_token_fields){.seed = 51});
        } else if (n == 3) {
            k.now_ns += 31 * KIT_S;
        } else {
            k.now_ns += 6 * KIT_S;
        }
        cairn_netcode_server_advance(k.server, k.now_ns);
        up = kit_packet(&peer, false, CAIRN_PACKET_REQUEST, 1, 0);
        up.from = k.client_addresses[n == 2 ? 1 : 0];
        assert_int_equal(kit_to_server(&k, up), CAIRN_NETCODE_TAKEN);
        kit_datagram response = kit_packet(&peer, false, CAIRN_PACKET_RESPONSE, 2, 0);
        response.from = up.from;
        assert_int_equal(kit_to_server(&k, response),
            n == 0 ? CAIRN_NETCODE_TAKEN : CAIRN_NETCODE_DROP_CHALLENGE);
    }
}

TEST("a session has the user data of its own token") {
    SCOPED(kit) k = kit_open_joined(4);
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    kit_token(&(kit_token_fields){.client_id = 1}, token);
    cairn_token_public public;
    cairn_token_private private;
    assert_int_equal(cairn_token_read_public(token, sizeof token, &public), CAIRN_TOKEN_OK);
    assert_int_equal(cairn_token_read_private(public.private_data, public.nonce, public.protocol_id,
                         public.expire_unix_s, kit_key, &private),
        CAIRN_TOKEN_OK);
    assert_memory_equal(k.events[0].user_data, private.user_data, CAIRN_TOKEN_USER_DATA_SIZE);
}

TEST("two addresses cannot share one client id") {
    SCOPED(kit) k = kit_open(4);
    // Two tokens of client 1: both handshakes begin before either makes a session.
    kit_datagram responses[2];
    for (int i = 0; i < 2; ++i) {
        const kit_token_fields fields = {.client_id = 1, .seed = 50 + (uint64_t)i};
        assert_int_equal(kit_connect_with(&k, i, &fields), CAIRN_OK);
        responses[i] = kit_response(&k, i);
    }
    assert_int_equal(kit_to_server(&k, responses[0]), CAIRN_NETCODE_TAKEN);
    assert_int_equal(kit_to_server(&k, responses[1]), CAIRN_NETCODE_DROP_ID_CONNECTED);
}

TEST("a full server denies new clients until one leaves") {
    SCOPED(kit) k = kit_open_joined(2);
    kit_join(&k, 1);
    kit_connect(&k, 2);
    kit_exchange(&k);
    assert_int_equal(kit_state(&k, 2), CAIRN_NETCODE_STATE_DENIED);
    assert_int_equal(kit_drops(&k, CAIRN_NETCODE_DROP_SERVER_FULL), 1);
    cairn_netcode_client_disconnect(k.clients[0], k.now_ns);
    kit_exchange(&k);
    k.now_ns += KIT_S;
    kit_join(&k, 2);
    assert_int_equal(cairn_netcode_client_index(k.clients[2]), 0);
}

TEST("a server that fills up during a handshake denies the response") {
    SCOPED(kit) k = kit_open(1);
    kit_datagram responses[2];
    for (int i = 0; i < 2; ++i) {
        kit_connect(&k, i);
        responses[i] = kit_response(&k, i);
    }
    assert_int_equal(kit_to_server(&k, responses[0]), CAIRN_NETCODE_TAKEN);
    assert_int_equal(kit_to_server(&k, responses[1]), CAIRN_NETCODE_DROP_SERVER_FULL);
    kit_exchange(&k);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
    assert_int_equal(kit_state(&k, 1), CAIRN_NETCODE_STATE_DENIED);
}

TEST("a server that stopped admitting denies but keeps its clients") {
    SCOPED(kit) k = kit_open_joined(4);
    cairn_netcode_server_stop_admitting(k.server);
    kit_connect(&k, 1);
    kit_exchange(&k);
    assert_int_equal(kit_state(&k, 1), CAIRN_NETCODE_STATE_DENIED);
    kit_run(&k, 10 * KIT_S);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
}

TEST("a flood of requests leaves room for the disconnect packets") {
    SCOPED(kit) k = kit_open_joined(4);
    for (uint64_t i = 0; i < 1000; ++i) { // from 200 addresses
        kit_datagram datagram = kit_request(&k, 1, &(kit_token_fields){.client_id = 10 + i % 200});
        datagram.from.port = (uint16_t)(1000 + i % 200);
        assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_TAKEN);
    }
    assert_true(kit_drops(&k, CAIRN_NETCODE_DROP_SEND_QUEUE_FULL) > 500);
    const uint64_t before = kit_drops(&k, CAIRN_NETCODE_DROP_SEND_QUEUE_FULL);
    cairn_netcode_server_disconnect_all(k.server, k.now_ns);
    assert_int_equal(kit_drops(&k, CAIRN_NETCODE_DROP_SEND_QUEUE_FULL), before);
    kit_exchange(&k);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_DISCONNECTED);
}

TEST("the oldest event comes first and an old payload is dropped") {
    SCOPED(kit) k = kit_open_joined(4);
    kit_join(&k, 1);
    kit_to_server(&k, kit_client_payload(&k, 0, 10));
    kit_to_server(&k, kit_client_payload(&k, 1, 20));
    assert_int_equal(kit_drops(&k, CAIRN_NETCODE_DROP_UNREAD), 1);
    cairn_netcode_server_disconnect(k.server, k.now_ns, 1);
    cairn_netcode_event event;
    assert_true(cairn_netcode_server_next_event(k.server, &event));
    assert_int_equal(event.kind, CAIRN_NETCODE_PAYLOAD);
    assert_int_equal(event.client, 1);
    assert_int_equal(event.client_id, 2);
    assert_int_equal(event.payload_size, 20);
    assert_true(cairn_netcode_server_next_event(k.server, &event));
    assert_int_equal(event.kind, CAIRN_NETCODE_DISCONNECTED);
    assert_int_equal(event.reason, CAIRN_NETCODE_KICKED);
    assert_int_equal(event.client_id, 2);
    assert_false(cairn_netcode_server_next_event(k.server, &event));
}

TEST("a slot is not reused before its disconnect event was taken") {
    SCOPED(kit) k = kit_open_joined(1);
    cairn_netcode_server_disconnect(k.server, k.now_ns, 0);
    assert_false(cairn_netcode_server_connected(k.server, 0));
    const kit_datagram datagram = kit_request(&k, 1, &(kit_token_fields){.client_id = 2});
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_DROP_SERVER_FULL);
    kit_take_events(&k);
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_TAKEN);
}

TEST("a client gets the lowest free slot") {
    SCOPED(kit) k = kit_open(4);
    for (int i = 0; i < 4; ++i) {
        kit_join(&k, i);
        assert_int_equal(cairn_netcode_client_index(k.clients[i]), i);
    }
    cairn_netcode_client_disconnect(k.clients[2], k.now_ns);
    cairn_netcode_client_disconnect(k.clients[1], k.now_ns);
    kit_exchange(&k);
    kit_join(&k, 5);
    assert_int_equal(cairn_netcode_client_index(k.clients[5]), 1);
    kit_join(&k, 6);
    assert_int_equal(cairn_netcode_client_index(k.clients[6]), 2);
}

// Whether the server names the address of client i, and how many it names.
static bool is_named(const kit *k, int i, uint32_t *count) {
    cairn_address named[KIT_CLIENTS_MAX];
    *count = cairn_netcode_server_addresses(k->server, named);
    for (uint32_t n = 0; n < *count; ++n) {
        if (cairn_address_equal(&named[n], &k->client_addresses[i])) {
            return true;
        }
    }
    return false;
}

TEST("a server names the addresses of its clients, and says when they are others") {
    SCOPED(kit) k = kit_open(4);
    uint32_t count;
    uint64_t before = cairn_netcode_server_address_changes(k.server);
    for (int i = 0; i < 3; ++i) {
        assert_false(is_named(&k, i, &count));
        assert_int_equal(count, i);
        kit_join(&k, i);
        assert_true(is_named(&k, i, &count));
        assert_true(cairn_netcode_server_address_changes(k.server) > before);
        before = cairn_netcode_server_address_changes(k.server);
    }
    kit_run(&k, KIT_S);
    assert_int_equal(cairn_netcode_server_address_changes(k.server), before);
    cairn_netcode_client_disconnect(k.clients[1], k.now_ns);
    kit_exchange(&k);
    assert_false(is_named(&k, 1, &count));
    assert_int_equal(count, 2);
    assert_true(cairn_netcode_server_address_changes(k.server) > before);
}

// Anything, from the address of client i.
static void send_many(kit *k, int i, uint32_t count) {
    const uint8_t junk[40] = {0x15};
    for (uint32_t n = 0; n < count; ++n) {
        cairn_netcode_server_receive(
            k->server, k->now_ns, &k->client_addresses[i], junk, n % 2 == 0 ? sizeof junk : 0);
    }
}

TEST("an address from which too much comes is not named until a second with less") {
    SCOPED(kit) k = kit_open(4);
    uint32_t count;
    kit_join(&k, 0);
    kit_join(&k, 1);
    kit_run(&k, 2 * KIT_S);
    uint64_t before = cairn_netcode_server_address_changes(k.server);
    for (int second = 0; second < 3; ++second) { // as much as an operator may send, and more
        send_many(&k, 0, 9000);
        k.now_ns += KIT_S;
        kit_exchange(&k);
        assert_true(is_named(&k, 0, &count));
    }
    assert_int_equal(cairn_netcode_server_address_changes(k.server), before);
    for (int second = 0; second < 3; ++second) {
        send_many(&k, 0, 11000);
        assert_false(is_named(&k, 0, &count));
        assert_true(is_named(&k, 1, &count));
        assert_int_equal(cairn_netcode_server_address_changes(k.server), before + 1);
        k.now_ns += KIT_S;
        send_many(&k, 0, 1);
        assert_false(is_named(&k, 0, &count));
    }
    k.now_ns += KIT_S;
    send_many(&k, 0, 1);
    assert_true(is_named(&k, 0, &count));
    assert_int_equal(cairn_netcode_server_address_changes(k.server), before + 2);
    send_many(&k, 0, 11000);
    assert_false(is_named(&k, 0, &count));
    k.now_ns += 2 * KIT_S; // it stopped
    send_many(&k, 0, 1);
    assert_true(is_named(&k, 0, &count));
    assert_int_equal(cairn_netcode_server_address_changes(k.server), before + 4);
}

TEST("a silent client is disconnected at its time-out and not before") {
    SCOPED(kit) k = kit_open_joined(4);
    kit_discard_all(&k);
    kit_run_cut(&k, 5 * KIT_S - 1);
    assert_true(cairn_netcode_server_connected(k.server, 0));
    k.now_ns += 1;
    assert_true(cairn_netcode_server_deadline_ns(k.server) <= k.now_ns);
    cairn_netcode_server_advance(k.server, k.now_ns);
    kit_take_events(&k);
    assert_false(cairn_netcode_server_connected(k.server, 0));
    expect_event(&k, CAIRN_NETCODE_DISCONNECTED, CAIRN_NETCODE_TIMED_OUT);
    assert_int_equal(kit_discard_from_server(&k), 0);
}

TEST("a connection whose token has no time-out never times out") {
    SCOPED(kit) k = kit_open(4);
    kit_connect_with(&k, 0, &(kit_token_fields){.timeout_s = -1});
    kit_exchange(&k);
    kit_run_cut(&k, 100 * KIT_S);
    assert_true(cairn_netcode_server_connected(k.server, 0));
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
}

TEST("a keep-alive is sent when nothing was sent for 100 ms") {
    SCOPED(kit) k = kit_open_joined(4);
    const uint64_t joined_ns = k.now_ns;
    assert_int_equal(cairn_netcode_server_deadline_ns(k.server), joined_ns + KIT_S / 10);
    k.now_ns = joined_ns + KIT_S / 10 - 1;
    cairn_netcode_server_advance(k.server, k.now_ns);
    assert_int_equal(kit_discard_from_server(&k), 0);
    kit_server_payload(&k, 0, 10);
    k.now_ns += KIT_S / 10 - 1;
    cairn_netcode_server_advance(k.server, k.now_ns);
    assert_int_equal(kit_discard_from_server(&k), 0);
    k.now_ns += 1;
    cairn_netcode_server_advance(k.server, k.now_ns);
    assert_int_equal(kit_discard_from_server(&k), 1);
    assert_int_equal(cairn_netcode_server_deadline_ns(k.server), k.now_ns + KIT_S / 10);
}

TEST("a keep-alive precedes each payload until the client has answered") {
    SCOPED(kit) k = kit_open(4);
    kit_connect(&k, 0);
    kit_to_server(&k, kit_response(&k, 0));
    kit_to_client(&k, 0, kit_from_server(&k));
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
    assert_int_equal(kit_server_payload(&k, 0, 10).size, 1 + 1 + 10 + 16);
    assert_int_equal(kit_discard_from_server(&k), 1);
    assert_int_equal(kit_to_server(&k, kit_from_client(&k, 0)), CAIRN_NETCODE_TAKEN);
    kit_server_payload(&k, 0, 10);
    assert_int_equal(kit_discard_from_server(&k), 0);
}

TEST("a payload from another address belongs to no client") {
    SCOPED(kit) k = kit_open_joined(4);
    kit_datagram datagram = kit_client_payload(&k, 0, 10);
    datagram.from.port += 1;
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_DROP_UNKNOWN_SENDER);
    datagram.from.port -= 1;
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_TAKEN);
}

TEST("a replayed or forged datagram changes nothing") {
    SCOPED(kit) k = kit_open_joined(4);
    const kit_datagram datagram = kit_client_payload(&k, 0, 10);
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_TAKEN);
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_DROP_REPLAYED);
    // A forged sequence far ahead must not move the window.
    kit_datagram forged = {.from = k.client_addresses[0], .size = 40};
    memset(forged.bytes, 0xff, sizeof forged.bytes);
    forged.bytes[0] = 0x85;
    assert_int_equal(kit_to_server(&k, forged), CAIRN_NETCODE_DROP_DECRYPT);
    assert_int_equal(kit_to_server(&k, kit_client_payload(&k, 0, 10)), CAIRN_NETCODE_TAKEN);
}

TEST("forged datagrams do not keep a dead client alive") {
    SCOPED(kit) k = kit_open_joined(4);
    kit_datagram old = kit_client_payload(&k, 0, 10);
    kit_to_server(&k, old);
    kit_take_events(&k);
    for (int i = 0; i < 50; ++i) {
        kit_run_cut(&k, KIT_S / 10);
        kit_to_server(&k, old);
        old.bytes[20] ^= 1;
    }
    assert_false(cairn_netcode_server_connected(k.server, 0));
}

TEST("a kicked client is sent ten disconnect packets") {
    SCOPED(kit) k = kit_open_joined(4);
    kit_discard_all(&k);
    cairn_netcode_server_disconnect(k.server, k.now_ns, 0);
    cairn_netcode_server_disconnect(k.server, k.now_ns, 0);
    cairn_netcode_server_disconnect(k.server, k.now_ns, 3);
    cairn_netcode_server_disconnect(k.server, k.now_ns, UINT32_MAX);
    for (int i = 0; i < 9; ++i) {
        kit_from_server(&k);
    }
    assert_int_equal(kit_to_client(&k, 0, kit_from_server(&k)), CAIRN_NETCODE_TAKEN);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_DISCONNECTED);
    assert_int_equal(kit_discard_from_server(&k), 0);
    kit_take_events(&k);
    expect_event(&k, CAIRN_NETCODE_DISCONNECTED, CAIRN_NETCODE_KICKED);
    assert_int_equal(kit_server_payload(&k, 0, 10).size, 0);
}

TEST("a thousand clients get their slots in order") {
    enum { COUNT = CAIRN_CLIENTS_MAX };
    SCOPED(kit) k = kit_open(COUNT);
    for (uint32_t i = 0; i < COUNT; ++i) {
        k.client_addresses[0].port = (uint16_t)(1000 + i);
        kit_connect_with(&k, 0, &(kit_token_fields){.client_id = i + 1});
        kit_exchange(&k);
        assert_int_equal(cairn_netcode_client_index(k.clients[0]), i);
    }
    cairn_netcode_server_disconnect_all(k.server, k.now_ns);
    assert_int_equal(kit_discard_from_server(&k), COUNT * 10);
    assert_int_equal(kit_drops(&k, CAIRN_NETCODE_DROP_SEND_QUEUE_FULL), 0);
    assert_int_equal(cairn_netcode_server_deadline_ns(k.server) > k.now_ns, 1);
}

TEST("an idle server has no deadline") {
    SCOPED(kit) k = kit_open(4);
    assert_int_equal(cairn_netcode_server_deadline_ns(k.server), UINT64_MAX);
    kit_to_server(&k, KIT_REQUEST(&k, .client_id = 1));
    assert_int_equal(cairn_netcode_server_deadline_ns(k.server), k.now_ns + 5 * KIT_S);
    cairn_netcode_server_advance(k.server, k.now_ns + 5 * KIT_S);
    assert_int_equal(cairn_netcode_server_deadline_ns(k.server), UINT64_MAX);
}
