// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "proto_tests/net/netcode_kit.h"

SCOPE_ENDS(kit, kit_close)

#define CONNECT(k, ...) kit_connect_with((k), 0, &(kit_token_fields){__VA_ARGS__})

static void advance(kit *k, uint64_t duration_ns) {
    k->now_ns += duration_ns;
    cairn_netcode_client_advance(k->clients[0], k->now_ns);
}

static void expect_request_to(kit *k, const char *server) {
    const kit_datagram datagram = kit_from_client(k, 0);
    const cairn_address address = kit_address(server);
    assert_int_equal(datagram.size, CAIRN_PACKET_REQUEST_SIZE);
    assert_true(cairn_address_equal(&datagram.to, &address));
    assert_int_equal(kit_discard_from_client(k, 0), 0);
}

TEST("a token that cannot be read is invalid") {
    SCOPED(kit) k = kit_open(1);
    const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE] = {0};
    assert_int_equal(
        cairn_netcode_client_connect(k.clients[0], k.now_ns, KIT_UNIX_S, token), CAIRN_MALFORMED);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_TOKEN_INVALID);
    assert_int_equal(kit_discard_from_client(&k, 0), 0);
    assert_int_equal(cairn_netcode_client_deadline_ns(k.clients[0]), UINT64_MAX);
}

TEST("the client sends nothing with an expired token") {
    SCOPED(kit) k = kit_open(1);
    assert_int_equal(
        CONNECT(&k, .create_unix_s = KIT_UNIX_S - 60, .lifetime_s = 60), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_TOKEN_EXPIRED);
    assert_int_equal(kit_discard_from_client(&k, 0), 0);
    assert_int_equal(CONNECT(&k, .create_unix_s = KIT_UNIX_S - 59, .lifetime_s = 60), CAIRN_OK);
}

TEST("a request leaves at once and then ten times a second") {
    SCOPED(kit) k = kit_open(1);
    CONNECT(&k, .client_id = 1);
    expect_request_to(&k, kit_server_address);
    assert_int_equal(cairn_netcode_client_deadline_ns(k.clients[0]), k.now_ns + KIT_S / 10);
    advance(&k, KIT_S / 10 - 1);
    assert_int_equal(kit_discard_from_client(&k, 0), 0);
    advance(&k, 1);
    expect_request_to(&k, kit_server_address);
    for (int i = 0; i < 40; ++i) {
        advance(&k, KIT_S / 10);
        expect_request_to(&k, kit_server_address);
    }
}

TEST("the challenge is answered at once and then ten times a second") {
    SCOPED(kit) k = kit_open(1);
    CONNECT(&k, .client_id = 1);
    assert_true(kit_response(&k, 0).size > 0);
    assert_int_equal(kit_discard_from_client(&k, 0), 0);
    for (int i = 0; i < 10; ++i) {
        advance(&k, KIT_S / 10 - 1);
        assert_int_equal(kit_discard_from_client(&k, 0), 0);
        advance(&k, 1);
        assert_int_equal(kit_discard_from_client(&k, 0), 1);
    }
}

TEST("the client tries the servers in order, each for a whole time-out") {
    SCOPED(kit) k = kit_open(1);
    const char *const servers[] = {"10.0.0.1:1", "[::1]:2", "10.0.0.3:3"};
    CONNECT(&k, .servers = {servers[0], servers[1], servers[2]}, .timeout_s = 3);
    for (int i = 0; i < 3; ++i) {
        expect_request_to(&k, servers[i]);
        advance(&k, 3 * KIT_S - 1);
        assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_SENDING_REQUEST);
        expect_request_to(&k, servers[i]);
        advance(&k, 1);
    }
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_REQUEST_TIMED_OUT);
    assert_int_equal(kit_discard_from_client(&k, 0), 0);
}

TEST("a client that one server denies connects to the next") {
    SCOPED(kit) k = kit_open(1);
    kit_join(&k, 1);
    CONNECT(&k, .servers = {kit_server_address, "10.0.0.101:40000"});
    expect_request_to(&k, kit_server_address);
    advance(&k, KIT_S / 10);
    kit_exchange(&k);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_SENDING_REQUEST);
    const cairn_address second = kit_address("10.0.0.101:40000");
    const cairn_address tried = cairn_netcode_client_server(k.clients[0]);
    assert_true(cairn_address_equal(&tried, &second));

    cairn_netcode_server_destroy(k.server);
    k.server = kit_server("10.0.0.101:40000", 1, 0, KIT_TOKEN_LIFETIME_S);
    k.server_address = second;
    kit_run(&k, KIT_S);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
}

static uint64_t sequence_of(kit_datagram datagram) {
    cairn_packet_header header;
    assert_int_equal(
        cairn_packet_read_header(datagram.bytes, datagram.size, CAIRN_PACKETS_TO_SERVER, &header),
        CAIRN_NETCODE_TAKEN);
    return header.sequence;
}

TEST("one key never encrypts two packets with one sequence") {
    SCOPED(kit) k = kit_open(1);
    const kit_token_fields fields = {
        .servers = {kit_server_address, "10.0.0.101:40000"}, .timeout_s = 3};
    assert_int_equal(kit_connect_with(&k, 0, &fields), CAIRN_OK);
    assert_int_equal(sequence_of(kit_response(&k, 0)), 0);
    // The client uses the same key with the next server of the list.
    advance(&k, 3 * KIT_S);
    cairn_netcode_server_destroy(k.server);
    k.server = kit_server("10.0.0.101:40000", 1, 0, KIT_TOKEN_LIFETIME_S);
    k.server_address = kit_address("10.0.0.101:40000");
    assert_int_equal(sequence_of(kit_response(&k, 0)), 1);
    // It uses it again if it connects with the same token a second time.
    assert_int_equal(kit_connect_with(&k, 0, &fields), CAIRN_OK);
    kit_from_client(&k, 0);
    advance(&k, 3 * KIT_S);
    assert_int_equal(sequence_of(kit_response(&k, 0)), 2);
    // Another token has other keys, so sequences start again.
    assert_int_equal(CONNECT(&k, .servers = {"10.0.0.101:40000"}, .seed = 77), CAIRN_OK);
    assert_int_equal(sequence_of(kit_response(&k, 0)), 0);
}

TEST("an unanswered response times out") {
    SCOPED(kit) k = kit_open(1);
    CONNECT(&k, .client_id = 1);
    kit_response(&k, 0);
    advance(&k, 5 * KIT_S - 1);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_SENDING_RESPONSE);
    advance(&k, 1);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_RESPONSE_TIMED_OUT);
}

TEST("the attempt ends when its token expires") {
    SCOPED(kit) k = kit_open(1);
    CONNECT(&k, .servers = {"10.0.0.1:1", "10.0.0.2:2"}, .lifetime_s = 8);
    advance(&k, 5 * KIT_S);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_SENDING_REQUEST);
    advance(&k, 3 * KIT_S - 1);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_SENDING_REQUEST);
    assert_int_equal(cairn_netcode_client_deadline_ns(k.clients[0]), k.now_ns + 1);
    advance(&k, 1);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_TOKEN_EXPIRED);
}

TEST("times of a token that never expires do not overflow") {
    SCOPED(kit) k = kit_open(1);
    cairn_token_public token;
    uint8_t bytes[CAIRN_CONNECT_TOKEN_SIZE];
    KIT_TOKEN(bytes, .client_id = 1);
    assert_int_equal(cairn_token_read_public(bytes, sizeof bytes, &token), CAIRN_TOKEN_OK);
    token.create_unix_s = 0;
    token.expire_unix_s = UINT64_MAX;
    token.timeout_s = INT32_MAX;
    cairn_token_write_public(&token, bytes);
    assert_int_equal(
        cairn_netcode_client_connect(k.clients[0], k.now_ns, KIT_UNIX_S, bytes), CAIRN_OK);
    advance(&k, 1000000 * KIT_S);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_SENDING_REQUEST);
}

TEST("a client gives up a silent server at the time-out and not before") {
    SCOPED(kit) k = kit_open_joined(1);
    advance(&k, 5 * KIT_S - 1);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
    advance(&k, 1);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTION_TIMED_OUT);
}

TEST("the shortest time-out is one second on both sides") {
    SCOPED(kit) k = kit_open(1);
    CONNECT(&k, .timeout_s = 1);
    kit_exchange(&k);
    kit_run_cut(&k, KIT_S - 1);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
    assert_true(cairn_netcode_server_connected(k.server, 0));
    kit_run_cut(&k, 1);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTION_TIMED_OUT);
    assert_false(cairn_netcode_server_connected(k.server, 0));
}

TEST("a payload received counts as a sign of life, and one sent as a keep-alive") {
    SCOPED(kit) k = kit_open_joined(1);
    kit_discard_all(&k);
    for (int i = 0; i < 100; ++i) {
        advance(&k, KIT_S / 11);
        kit_to_client(&k, 0, kit_server_payload(&k, 0, 10));
        kit_client_payload(&k, 0, 10);
        assert_int_equal(kit_discard_from_client(&k, 0), 0);
    }
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
    advance(&k, KIT_S / 10);
    assert_int_equal(kit_discard_from_client(&k, 0), 1);
}

TEST("payloads before the connection are dropped") {
    SCOPED(kit) k = kit_open(1);
    CONNECT(&k, .client_id = 1);
    kit_to_server(&k, kit_response(&k, 0));
    assert_int_equal(
        kit_to_client(&k, 0, kit_server_payload(&k, 0, 10)), CAIRN_NETCODE_DROP_WRONG_STATE);
    size_t size;
    assert_null(cairn_netcode_client_next_payload(k.clients[0], &size));
    assert_int_equal(kit_to_client(&k, 0, kit_from_server(&k)), CAIRN_NETCODE_TAKEN);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
}

TEST("the client drops a datagram for the right reason") {
    SCOPED(kit) k = kit_open_joined(1);
    kit_datagram good = kit_server_payload(&k, 0, 10);
    kit_datagram bad = good;
    bad.from.port += 1;
    assert_int_equal(kit_to_client(&k, 0, bad), CAIRN_NETCODE_DROP_UNKNOWN_SENDER);
    bad = good;
    bad.bytes[bad.size - 1] ^= 1;
    assert_int_equal(kit_to_client(&k, 0, bad), CAIRN_NETCODE_DROP_DECRYPT);
    assert_int_equal(kit_to_client(&k, 0, good), CAIRN_NETCODE_TAKEN);
    assert_int_equal(kit_to_client(&k, 0, good), CAIRN_NETCODE_DROP_REPLAYED);
    assert_int_equal(kit_client_drops(&k, 0, CAIRN_NETCODE_DROP_UNREAD), 1);
    size_t payload_size;
    assert_null(cairn_netcode_client_next_payload(k.clients[0], &payload_size));
    const struct {
        uint8_t prefix;
        size_t size;
        cairn_netcode_drop drop;
    } cases[] = {{0x15, 17, CAIRN_NETCODE_DROP_SIZE}, {0x15, 1226, CAIRN_NETCODE_DROP_SIZE},
        {0x00, 1078, CAIRN_NETCODE_DROP_TYPE}, {0x13, 326, CAIRN_NETCODE_DROP_TYPE},
        {0x17, 30, CAIRN_NETCODE_DROP_TYPE}, {0x05, 30, CAIRN_NETCODE_DROP_SEQUENCE_BYTES},
        {0x95, 30, CAIRN_NETCODE_DROP_SEQUENCE_BYTES}, {0x12, 334, CAIRN_NETCODE_DROP_WRONG_STATE},
        {0x11, 30, CAIRN_NETCODE_DROP_WRONG_STATE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        kit_datagram datagram = {
            .from = k.server_address, .size = cases[i].size, .bytes = {cases[i].prefix}};
        assert_int_equal(kit_to_client(&k, 0, datagram), cases[i].drop);
    }
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
}

TEST("a client that leaves sends ten disconnect packets, of which one is enough") {
    SCOPED(kit) k = kit_open_joined(1);
    cairn_netcode_client_disconnect(k.clients[0], k.now_ns);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_DISCONNECTED);
    for (int i = 0; i < 9; ++i) {
        kit_from_client(&k, 0);
    }
    assert_int_equal(kit_to_server(&k, kit_from_client(&k, 0)), CAIRN_NETCODE_TAKEN);
    assert_int_equal(kit_discard_from_client(&k, 0), 0);
    assert_int_equal(kit_client_payload(&k, 0, 10).size, 0);
    kit_take_events(&k);
    assert_int_equal(k.events[1].reason, CAIRN_NETCODE_LEFT);
}

TEST("a client id may connect again after it left") {
    SCOPED(kit) k = kit_open(2);
    for (int i = 0; i < 5; ++i) {
        kit_join(&k, 0);
        kit_run(&k, KIT_S);
        cairn_netcode_client_disconnect(k.clients[0], k.now_ns);
        kit_exchange(&k);
        assert_false(cairn_netcode_server_connected(k.server, 0));
        k.now_ns += 1;
    }
}

TEST("a client id cannot connect again with a token that is not newer") {
    SCOPED(kit) k = kit_open_joined(2);
    kit_discard_all(&k);
    k.client_addresses[0].port += 1;
    kit_connect(&k, 0); // issued in the same second
    kit_run(&k, 4 * KIT_S);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_SENDING_REQUEST);
    assert_true(kit_drops(&k, CAIRN_NETCODE_DROP_ID_CONNECTED) > 10);
}

TEST("a client id that crashed takes its place with a newer token at once") {
    for (uint32_t clients = 1; clients <= 2; clients++) { // a full server, and one with a free slot
        SCOPED(kit) k = kit_open_joined(clients);
        kit_discard_all(&k);
        kit_run(&k, 2 * KIT_S);
        k.client_addresses[0].port += 1;
        kit_connect(&k, 0);
        kit_run(&k, KIT_S / 4);
        assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
        assert_int_equal(kit_drops(&k, CAIRN_NETCODE_DROP_SERVER_FULL), 0);
        kit_run(&k, 6 * KIT_S);
        assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
    }
}

TEST("requests that the driver does not take are bounded and counted") {
    SCOPED(kit) k = kit_open(1);
    CONNECT(&k, .timeout_s = 600, .lifetime_s = 600);
    for (int i = 0; i < 100; ++i) {
        advance(&k, KIT_S / 10);
    }
    // Seven of the 101 requests fit.
    assert_int_equal(kit_client_drops(&k, 0, CAIRN_NETCODE_DROP_SEND_QUEUE_FULL), 94);
    kit_discard_all(&k);
    advance(&k, KIT_S / 10);
    assert_int_equal(kit_discard_from_client(&k, 0), 1);
}

TEST("every state has its own text") {
    for (int i = CAIRN_NETCODE_STATE_TOKEN_EXPIRED; i <= CAIRN_NETCODE_STATE_CONNECTED; ++i) {
        for (int k = CAIRN_NETCODE_STATE_TOKEN_EXPIRED; k < i; ++k) {
            assert_string_not_equal(cairn_netcode_client_state_text((cairn_netcode_client_state)i),
                cairn_netcode_client_state_text((cairn_netcode_client_state)k));
        }
    }
}
