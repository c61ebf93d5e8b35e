// SPDX-License-Identifier: MIT
// Which sessions of netcode another process takes over (tests/server has whole servers).
#include "tests/kit/test.h"

#include "net/handover.h"
#include "net/netcode_server_parts.h"
#include "proto_tests/net/netcode_kit.h"

SCOPE_ENDS(kit, kit_close)

TEST(
    "sessions of datagrams and of streams are handed over, and those of no known address are not") {
    for (uint8_t family = 1; family <= 5; ++family) {
        SCOPED(kit) k = kit_open(1);
        k.client_addresses[0].family = family;
        assert_false(cairn_netcode_server_is_given(k.server, 0)); // nobody is there
        kit_join(&k, 0);
        assert_int_equal(
            cairn_netcode_server_is_given(k.server, 0), family <= CAIRN_ADDRESS_IPV6 + 1);
    }
}

// Client i has sent its request, and its challenge has not arrived.
static void begin_handshake(kit *k, int i) {
    kit_connect(k, i);
    assert_int_equal(kit_to_server(k, kit_from_client(k, i)), CAIRN_NETCODE_TAKEN);
    assert_true(kit_discard_from_server(k) > 0);
}

static uint32_t handshakes_of(const cairn_netcode_server *server) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->handshakes.capacity; ++i) {
        count += server->handshakes.pool[i].used ? 1 : 0;
    }
    return count;
}

static uint32_t used_tokens_of(const cairn_netcode_server *server) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->history.capacity; ++i) {
        count += server->history.records[i].used ? 1 : 0;
    }
    return count;
}

TEST("all sessions, handshakes and used tokens are handed over, each as it is") {
    SCOPED(kit) k = kit_open(6);
    for (int i = 0; i < 3; ++i) {
        kit_join(&k, i);
    }
    for (int i = 3; i < 6; ++i) {
        begin_handshake(&k, i);
    }
    assert_int_equal(handshakes_of(k.server), 3);
    assert_int_equal(used_tokens_of(k.server), 3);
    while (!cairn_netcode_server_is_quiet(k.server)) {
        kit_run(&k, KIT_MS);
    }
    cairn_archive out = cairn_archive_writer();
    cairn_netcode_server_hand_over(k.server, k.now_ns, &out);
    assert_null(out.refused);
    cairn_netcode_server *other = kit_server(kit_server_address, 6, 0, KIT_TOKEN_LIFETIME_S);
    cairn_archive in = cairn_archive_reader(out.out, out.size);
    cairn_netcode_server_hand_over(other, k.now_ns, &in);
    assert_null(in.refused);
    assert_int_equal(in.at, in.size);
    assert_int_equal(handshakes_of(other), 3);
    assert_int_equal(used_tokens_of(other), 3);
    for (uint32_t i = 0; i < 3; ++i) {
        const uint8_t *data, *same;
        const cairn_netcode_slot *was = &k.server->slots.list[i], *is = &other->slots.list[i];
        assert_true(cairn_netcode_server_is_given(other, i));
        assert_int_equal(cairn_netcode_server_identity(other, i, &data),
            cairn_netcode_server_identity(k.server, i, &same));
        assert_memory_equal(data, same, CAIRN_TOKEN_USER_DATA_SIZE);
        assert_int_equal(is->state, was->state);
        assert_int_equal(is->sequence, was->sequence);
        assert_int_equal(is->replay.newest, was->replay.newest);
        assert_false(is->moving);
    }
    cairn_netcode_server_destroy(k.server);
    k.server = other;
    // Connected clients keep playing, connecting ones get in, and no token opens a second session.
    kit_run(&k, 2 * KIT_S);
    for (int i = 0; i < 6; ++i) {
        assert_int_equal(kit_state(&k, i), CAIRN_NETCODE_STATE_CONNECTED);
        assert_int_equal(kit_to_server(&k, kit_client_payload(&k, i, 10)), CAIRN_NETCODE_TAKEN);
    }
    assert_int_equal(used_tokens_of(k.server), 6);
    cairn_archive_free(&out);
}

TEST("a hand-over that is cut anywhere is refused") {
    SCOPED(kit) k = kit_open(3);
    kit_join(&k, 0);
    begin_handshake(&k, 1);
    cairn_archive out = cairn_archive_writer();
    cairn_netcode_server_hand_over(k.server, k.now_ns, &out);
    for (size_t size = 0; size < out.size; size += 1 + size / 40) {
        cairn_netcode_server *other = kit_server(kit_server_address, 3, 0, KIT_TOKEN_LIFETIME_S);
        cairn_archive in = cairn_archive_reader(out.out, size);
        cairn_netcode_server_hand_over(other, k.now_ns, &in);
        assert_non_null(in.refused);
        cairn_netcode_server_destroy(other);
    }
    cairn_netcode_server *small = kit_server(kit_server_address, 1, 0, KIT_TOKEN_LIFETIME_S);
    cairn_archive in = cairn_archive_reader(out.out, out.size);
    kit_join(&k, 2);
    cairn_archive more = cairn_archive_writer();
    cairn_netcode_server_hand_over(k.server, k.now_ns, &more);
    in = cairn_archive_reader(more.out, more.size);
    cairn_netcode_server_hand_over(small, k.now_ns, &in);
    assert_string_equal(in.refused, "the number of sessions: --clients-max is smaller");
    cairn_netcode_server_destroy(small);
    cairn_archive_free(&out);
    cairn_archive_free(&more);
}
