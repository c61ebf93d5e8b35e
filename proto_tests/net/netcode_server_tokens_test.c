// SPDX-License-Identifier: MIT
// Which tokens a server takes: of what time, how often, of which client.
#include "tests/kit/test.h"

#include <string.h>

#include "net/netcode_handshake.h"
#include "net/token_history.h"
#include "net/token_meter.h"
#include "proto_tests/net/netcode_kit.h"

SCOPE_ENDS(kit, kit_close)

TEST("an invalid token is refused without an answer") {
    const uint8_t other_key[CAIRN_KEY_SIZE] = {9};
    const struct {
        cairn_netcode_drop drop;
        kit_token_fields fields;
    } cases[] = {{CAIRN_NETCODE_DROP_PROTOCOL_ID, {.protocol_id = KIT_PROTOCOL_ID + 1}},
        {CAIRN_NETCODE_DROP_TOKEN_EXPIRED, {.create_unix_s = KIT_UNIX_S - 60, .lifetime_s = 60}},
        {CAIRN_NETCODE_DROP_TOKEN_BROKEN, {.key = other_key}},
        {CAIRN_NETCODE_DROP_TOKEN_NOT_FOR_US, {.servers = {"10.0.0.100:40001"}}},
        {CAIRN_NETCODE_DROP_TOKEN_NOT_FOR_US, {.servers = {"10.0.0.101:40000"}}},
        {CAIRN_NETCODE_DROP_TOKEN_NOT_FOR_US, {.servers = {"[::1]:40000"}}},
        {CAIRN_NETCODE_TAKEN, {.servers = {"[::1]:1", "1.1.1.1:1", "10.0.0.100:40000"}}},
        {CAIRN_NETCODE_TAKEN, {.create_unix_s = KIT_UNIX_S - 60, .lifetime_s = 61}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        SCOPED(kit) k = kit_open(4);
        assert_int_equal(kit_to_server(&k, kit_request(&k, 0, &cases[i].fields)), cases[i].drop);
        assert_int_equal(kit_discard_from_server(&k), cases[i].drop == CAIRN_NETCODE_TAKEN ? 1 : 0);
    }
}

TEST("a token that an earlier run may have accepted is refused") {
    const struct {
        uint32_t lifetime_s_max;
        uint64_t expires_after_start_s;
        cairn_netcode_drop drop;
    } cases[] = {{30, 29, CAIRN_NETCODE_DROP_TOKEN_RESTART}, {30, 30, CAIRN_NETCODE_TAKEN},
        {45, 44, CAIRN_NETCODE_DROP_TOKEN_RESTART}, {45, 45, CAIRN_NETCODE_TAKEN},
        {0, 1, CAIRN_NETCODE_TAKEN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        SCOPED(kit) k = kit_open(4);
        cairn_netcode_server_destroy(k.server);
        k.server = kit_server(kit_server_address, 4, k.now_ns, cases[i].lifetime_s_max);
        const uint64_t start_unix_s = KIT_UNIX_S - 3600;
        const kit_datagram datagram = KIT_REQUEST(&k, .create_unix_s = start_unix_s - 10,
            .lifetime_s = (uint32_t)cases[i].expires_after_start_s + 10);
        assert_int_equal(kit_to_server(&k, datagram), cases[i].drop);
    }
}

TEST("a token that expires later than the longest lifetime from now is refused") {
    const struct {
        uint32_t lifetime_s_max;
        uint32_t expires_after_now_s;
        cairn_netcode_drop drop;
    } cases[] = {{1, 1, CAIRN_NETCODE_TAKEN}, {1, 2, CAIRN_NETCODE_DROP_TOKEN_LIFETIME},
        {30, 30, CAIRN_NETCODE_TAKEN}, {30, 31, CAIRN_NETCODE_DROP_TOKEN_LIFETIME},
        {30, 3600, CAIRN_NETCODE_DROP_TOKEN_LIFETIME}, {45, 45, CAIRN_NETCODE_TAKEN},
        {45, UINT32_MAX, CAIRN_NETCODE_DROP_TOKEN_LIFETIME}, {0, UINT32_MAX, CAIRN_NETCODE_TAKEN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        SCOPED(kit) k = kit_open(4);
        cairn_netcode_server_destroy(k.server);
        k.server = kit_server(kit_server_address, 4, 0, cases[i].lifetime_s_max);
        // The token was issued long ago: its lifetime does not matter, only when it ends.
        const kit_datagram datagram = KIT_REQUEST(&k, .lifetime_s = cases[i].expires_after_now_s);
        assert_int_equal(kit_to_server(&k, datagram), cases[i].drop);
    }
}

// Replaces the server by one that starts so many seconds later by the wall clock.
static void restart(kit *k, uint64_t after_s) {
    cairn_netcode_server_destroy(k->server);
    const cairn_address address = kit_address(kit_server_address);
    cairn_netcode_server_config config = kit_server_config(&address, 1);
    config.token_lifetime_s_max = 30;
    config.start_ns = k->now_ns;
    config.start_unix_ns = (KIT_UNIX_S + after_s) * KIT_S;
    assert_int_equal(cairn_netcode_server_create(&config, &k->server), CAIRN_OK);
}

// A server that was restarted after another one accepted a token, at each time until the token
// expires: it never accepts that token, whatever its lifetime.
TEST("a token never makes a session in two runs of a server") {
    const uint32_t lifetimes_s[] = {1, 10, 29, 30, 31, 45, 3600};
    for (size_t i = 0; i < sizeof lifetimes_s / sizeof lifetimes_s[0]; ++i) {
        for (uint64_t after_s = 1; after_s <= lifetimes_s[i] + 1; after_s += 1 + after_s / 8) {
            SCOPED(kit) k = kit_open(4);
            cairn_netcode_server_destroy(k.server);
            k.server = kit_server(kit_server_address, 4, 0, 30);
            const kit_datagram datagram = KIT_REQUEST(&k, .lifetime_s = lifetimes_s[i]);
            const bool first = kit_to_server(&k, datagram) == CAIRN_NETCODE_TAKEN;
            assert_int_equal(first, lifetimes_s[i] <= 30);
            restart(&k, after_s);
            for (int second = 0; second < 100; ++second) {
                const bool again = kit_to_server(&k, datagram) == CAIRN_NETCODE_TAKEN;
                assert_false(first && again);
                k.now_ns += KIT_S;
            }
        }
    }
}

// The same if the wall clock of the second run is set back by up to the lifetime of a token.
TEST("a restarted server refuses a used token when its clock is set back") {
    for (uint64_t back_s = 1; back_s <= 30; ++back_s) {
        for (uint64_t after_s = 1; after_s <= 30; after_s += 4) {
            SCOPED(kit) k = kit_open(4);
            cairn_netcode_server_destroy(k.server);
            k.server = kit_server(kit_server_address, 4, 0, 30);
            const kit_datagram datagram = KIT_REQUEST(&k, .lifetime_s = 30);
            assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_TAKEN);
            restart(&k, after_s);
            for (uint64_t second = 0; second < 60; ++second) {
                cairn_netcode_server_set_unix_time(
                    k.server, k.now_ns, (KIT_UNIX_S + after_s + second - back_s) * KIT_S);
                assert_int_not_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_TAKEN);
                k.now_ns += KIT_S;
            }
        }
    }
}

TEST("the time-out of a token is bounded") {
    const struct {
        int32_t timeout_s;
        cairn_netcode_drop drop;
    } cases[] = {{1, CAIRN_NETCODE_TAKEN}, {60, CAIRN_NETCODE_TAKEN},
        {61, CAIRN_NETCODE_DROP_TOKEN_TIMEOUT}, {INT32_MAX, CAIRN_NETCODE_DROP_TOKEN_TIMEOUT},
        {0, CAIRN_NETCODE_DROP_TOKEN_TIMEOUT}, {-1, CAIRN_NETCODE_DROP_TOKEN_TIMEOUT},
        {INT32_MIN, CAIRN_NETCODE_DROP_TOKEN_TIMEOUT}};
    const cairn_address address = kit_address(kit_server_address);
    cairn_netcode_server_config config = kit_server_config(&address, 1);
    config.token_timeout_s_max = cairn_netcode_server_config_default().token_timeout_s_max;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        SCOPED(kit) k = kit_open(4);
        cairn_netcode_server_destroy(k.server);
        assert_int_equal(cairn_netcode_server_create(&config, &k.server), CAIRN_OK);
        assert_int_equal(kit_to_server(&k, KIT_REQUEST(&k, .timeout_s = cases[i].timeout_s,
                                               .has_no_timeout = cases[i].timeout_s == 0)),
            cases[i].drop);
    }
}

// Tokens that are shown and never answered take no place in the history: honest clients connect
// as soon as those handshakes have ended.
TEST("tokens that were merely shown lock nobody out") {
    SCOPED(kit) k = kit_open(1);
    const uint64_t handshakes_max = 2 + 256;
    for (uint64_t i = 0; i < 10000; ++i) {
        kit_datagram datagram = KIT_REQUEST(&k, .client_id = i + 10);
        datagram.from.port = (uint16_t)(1000 + i);
        assert_int_equal(kit_to_server(&k, datagram),
            i < handshakes_max ? CAIRN_NETCODE_TAKEN : CAIRN_NETCODE_DROP_HANDSHAKES_FULL);
        kit_discard_all(&k);
    }
    k.now_ns += 5 * KIT_S;
    cairn_netcode_server_advance(k.server, k.now_ns);
    kit_join(&k, 0);
}

TEST("a request that is repeated without end gets few challenges") {
    SCOPED(kit) k = kit_open(4);
    const kit_datagram datagram = KIT_REQUEST(&k, .client_id = 7);
    uint64_t answers = 0;
    for (int i = 0; i < 10000; ++i) { // in a second
        kit_to_server(&k, datagram);
        answers += kit_discard_from_server(&k);
        k.now_ns += KIT_MS / 10;
        cairn_netcode_server_advance(k.server, k.now_ns);
    }
    assert_in_range(answers, 100, 160);
    assert_int_equal(kit_drops(&k, CAIRN_NETCODE_DROP_REQUEST_AGAIN), 10000 - answers);
    k.now_ns += 100 * KIT_MS;
    cairn_netcode_server_advance(k.server, k.now_ns);
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_TAKEN);
    // Another token of this address is another request.
    kit_datagram other = KIT_REQUEST(&k, .client_id = 8);
    other.from = datagram.from;
    assert_int_equal(kit_to_server(&k, other), CAIRN_NETCODE_TAKEN);
}

TEST("a network that sends broken tokens is tried less often, and others are not") {
    SCOPED(kit) k = kit_open(4);
    kit_datagram broken = KIT_REQUEST(&k, .client_id = 7);
    const kit_datagram genuine = broken;
    broken.bytes[broken.size - 1] ^= 1;
    for (uint32_t second = 0; second < 2; ++second) {
        uint32_t tried = 0;
        for (uint32_t i = 0; i < 1000; ++i) {
            broken.from.port = (uint16_t)(1000 + i);
            const cairn_netcode_drop drop = kit_to_server(&k, broken);
            assert_true(drop == CAIRN_NETCODE_DROP_TOKEN_BROKEN ||
                        drop == CAIRN_NETCODE_DROP_TOKEN_METERED);
            assert_true(
                drop == CAIRN_NETCODE_DROP_TOKEN_BROKEN || i >= CAIRN_TOKEN_METER_BROKEN_MAX);
            tried += drop == CAIRN_NETCODE_DROP_TOKEN_BROKEN ? 1 : 0;
        }
        assert_in_range(tried, 170, 340);
        if (second == 0) {
            k.now_ns += KIT_S;
            cairn_netcode_server_advance(k.server, k.now_ns);
        }
    }
    kit_datagram elsewhere = KIT_REQUEST(&k, .client_id = 8);
    elsewhere.from.ip[0] ^= 1;
    assert_int_equal(kit_to_server(&k, elsewhere), CAIRN_NETCODE_TAKEN);
    uint32_t requests = 0;
    while (kit_to_server(&k, genuine) == CAIRN_NETCODE_DROP_TOKEN_METERED) {
        assert_true(++requests < 60);
    }
    assert_true(kit_discard_from_server(&k) > 0);
}

TEST("a network that sends broken tokens without end stays one that does") {
    static const uint8_t key[CAIRN_SIPHASH_KEY_SIZE] = {1};
    static cairn_token_meter meter;
    cairn_address address;
    meter = cairn_token_meter_of(key, 1);
    assert_true(cairn_address_parse("192.0.2.1:5", &address));
    for (uint32_t sent = 0; sent < 600; ++sent) {
        uint32_t tried = 0;
        for (uint32_t i = 0; i < 64; ++i) {
            tried += cairn_token_meter_tries(&meter, &address, 0) ? 1 : 0;
        }
        assert_int_equal(tried == 64, sent < CAIRN_TOKEN_METER_BROKEN_MAX);
        cairn_token_meter_note_broken(&meter, &address);
    }
}

TEST("two IPv6 networks with a common prefix have separate meters") {
    static const uint8_t key[CAIRN_SIPHASH_KEY_SIZE] = {1};
    static cairn_token_meter meter;
    cairn_address broken, same, other;
    meter = cairn_token_meter_of(key, 1);
    assert_true(cairn_address_parse("[2001:db8:0:1::1]:5", &broken));
    assert_true(cairn_address_parse("[2001:db8:0:1:ffff::2]:6", &same));
    assert_true(cairn_address_parse("[2001:db8:0:2::1]:5", &other));
    for (uint32_t i = 0; i < CAIRN_TOKEN_METER_BROKEN_MAX; ++i) {
        cairn_token_meter_note_broken(&meter, &broken);
    }
    uint32_t tried[2] = {0, 0};
    for (uint32_t i = 0; i < 64; ++i) {
        tried[0] += cairn_token_meter_tries(&meter, &same, 0) ? 1 : 0;
        tried[1] += cairn_token_meter_tries(&meter, &other, 0) ? 1 : 0;
    }
    assert_true(tried[0] < 64);
    assert_int_equal(tried[1], 64);
}

TEST("many tokens of one client id take few of the handshakes") {
    SCOPED(kit) k = kit_open(4);
    for (uint64_t i = 0; i < 1000; ++i) {
        kit_datagram datagram = KIT_REQUEST(&k, .client_id = 7, .seed = 100 + i);
        datagram.from.port = (uint16_t)(1000 + i);
        assert_int_equal(kit_to_server(&k, datagram), i < CAIRN_HANDSHAKES_PER_ID_MAX
                                                          ? CAIRN_NETCODE_TAKEN
                                                          : CAIRN_NETCODE_DROP_ID_HANDSHAKES);
        kit_discard_all(&k);
    }
    kit_join(&k, 0);
}

TEST("a client id that connects in a loop uses up its own tokens alone") {
    SCOPED(kit) k = kit_open(4);
    for (uint64_t i = 0; i <= CAIRN_TOKENS_PER_ID_MAX; ++i) {
        const kit_token_fields fields = {.client_id = 7, .seed = 100 + i};
        assert_int_equal(kit_connect_with(&k, 1, &fields), CAIRN_OK);
        const kit_datagram response = kit_response(&k, 1);
        assert_int_equal(kit_to_server(&k, response),
            i < CAIRN_TOKENS_PER_ID_MAX ? CAIRN_NETCODE_TAKEN : CAIRN_NETCODE_DROP_ID_TOKENS);
        cairn_netcode_server_disconnect_all(k.server, k.now_ns);
        kit_take_events(&k);
        kit_discard_all(&k);
    }
    kit_join(&k, 0);
    k.now_ns += 60 * KIT_S;
    const kit_token_fields fields = {.client_id = 7, .seed = 999, .create_unix_s = kit_unix_s(&k)};
    assert_int_equal(kit_connect_with(&k, 1, &fields), CAIRN_OK);
    kit_exchange(&k);
    assert_int_equal(kit_state(&k, 1), CAIRN_NETCODE_STATE_CONNECTED);
}

TEST("tokens are compared with the wall clock as it was last read") {
    SCOPED(kit) k = kit_open(4);
    const uint64_t two_hours_ns = 7200 * KIT_S;
    const uint64_t right_ns = KIT_UNIX_S * KIT_S;
    const kit_datagram datagram = KIT_REQUEST(&k, .client_id = 1);
    cairn_netcode_server_set_unix_time(k.server, k.now_ns, right_ns + two_hours_ns);
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_DROP_TOKEN_EXPIRED);
    cairn_netcode_token_times times = cairn_netcode_server_token_times(k.server);
    assert_int_equal(times.refused, 1);
    assert_int_equal(times.expire_after_s, 60 - 7200);
    cairn_netcode_server_set_unix_time(k.server, k.now_ns, right_ns - two_hours_ns);
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_DROP_TOKEN_LIFETIME);
    k.now_ns += KIT_S;
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_DROP_TOKEN_LIFETIME);
    times = cairn_netcode_server_token_times(k.server);
    assert_int_equal(times.refused, 2);
    assert_int_equal(times.expire_after_s, 59 + 7200);
    // A token that is not the backend's says nothing about clocks.
    const uint8_t other_key[CAIRN_KEY_SIZE] = {9};
    k.now_ns += KIT_S;
    assert_int_equal(
        kit_to_server(&k, KIT_REQUEST(&k, .key = other_key)), CAIRN_NETCODE_DROP_TOKEN_LIFETIME);
    assert_int_equal(cairn_netcode_server_token_times(k.server).refused, 2);
    cairn_netcode_server_set_unix_time(k.server, k.now_ns, right_ns);
    assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_TAKEN);
    assert_int_equal(cairn_netcode_server_token_times(k.server).refused, 0);
}
