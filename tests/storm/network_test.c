// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "base/hash.h"
#include "net/packet.h"
#include "storm/attacker.h"
#include "storm/network.h"

SCOPE_POINTER_ENDS(cairn_virtual_network, cairn_virtual_network_destroy)

static const uint64_t ms_ns = 1000000;

static cairn_address address_of(const char *text) {
    cairn_address address;
    assert_true(cairn_address_parse(text, &address));
    return address;
}

// Two endpoints and the path between them.
static cairn_virtual_network *pair(uint64_t seed, cairn_virtual_path path) {
    cairn_virtual_network *network = NULL;
    assert_int_equal(cairn_virtual_network_create(seed, 256, &network), CAIRN_OK);
    const cairn_address a = address_of("10.0.0.1:1000");
    const cairn_address b = address_of("10.0.0.2:2000");
    assert_int_equal(cairn_virtual_endpoint(network, &a, (cairn_virtual_clock){0}), 0);
    assert_int_equal(
        cairn_virtual_endpoint(network, &b, (cairn_virtual_clock){.drift_ppm = 1000}), 1);
    cairn_virtual_connect(network, 0, 1, &path);
    return network;
}

static void send_number(cairn_virtual_network *network, uint32_t from, uint32_t number) {
    uint8_t bytes[64] = {0};
    memcpy(bytes, &number, sizeof number);
    cairn_virtual_send(network, from, cairn_virtual_address(network, 1 - from), bytes, 64);
}

static uint32_t number_of(const cairn_virtual_datagram *datagram) {
    uint32_t number = 0;
    memcpy(&number, datagram->bytes, sizeof number);
    return number;
}

// Runs 500 datagrams over a bad path; the digest is that of all arrivals.
static cairn_hash128 run_bad_path(uint64_t seed, cairn_virtual_counters *counters) {
    cairn_virtual_network *network = pair(seed, (cairn_virtual_path){.loss_permille = 100,
                                                    .repeat_permille = 100,
                                                    .corrupt_permille = 100,
                                                    .delay_ns = 20 * ms_ns,
                                                    .jitter_ns = 50 * ms_ns});
    const cairn_virtual_datagram *datagram;
    cairn_hash128 all = {0};
    uint32_t words[3];
    for (uint32_t i = 0; i < 500; i++) {
        send_number(network, i % 2, i);
        while (cairn_virtual_deliver(network, (i + 1) * ms_ns, &datagram)) {
            words[0] = datagram->to;
            words[1] = number_of(datagram);
            words[2] = (uint32_t)cairn_virtual_now_ns(network);
            const cairn_hash128 parts[2] = {all, cairn_hash_words(i, words, 3)};
            all = cairn_hash_list(0, parts, 2);
        }
    }
    assert_true(cairn_virtual_adds_up(network));
    *counters = cairn_virtual_counters_read(network);
    cairn_virtual_network_destroy(network);
    return all;
}

TEST("the same seed gives the same run") {
    cairn_virtual_counters counters;
    const cairn_hash128 first = run_bad_path(7, &counters);
    assert_true(counters.lost > 20 && counters.repeated > 20 && counters.corrupted > 20);
    assert_true(counters.delivered > 300);
    assert_true(cairn_hash_equal(first, run_bad_path(7, &counters)));
    assert_false(cairn_hash_equal(first, run_bad_path(8, &counters)));
}

TEST("a perfect path keeps order and delay") {
    SCOPED(cairn_virtual_network) *network = pair(1, (cairn_virtual_path){.delay_ns = 5 * ms_ns});
    const cairn_virtual_datagram *datagram;
    for (uint32_t i = 0; i < 100; i++) {
        send_number(network, 0, i);
    }
    assert_false(cairn_virtual_deliver(network, 5 * ms_ns - 1, &datagram));
    for (uint32_t i = 0; i < 100; i++) {
        assert_true(cairn_virtual_deliver(network, 6 * ms_ns, &datagram));
        assert_int_equal(cairn_virtual_now_ns(network), 5 * ms_ns);
        assert_int_equal(number_of(datagram), i);
        assert_int_equal(datagram->to, 1);
        assert_true(cairn_address_equal(&datagram->from, cairn_virtual_address(network, 0)));
    }
}

TEST("a cut path carries nothing until it is restored") {
    SCOPED(cairn_virtual_network) *network = pair(1, (cairn_virtual_path){0});
    const cairn_virtual_datagram *datagram;
    cairn_virtual_cut(network, 0, 1, true);
    send_number(network, 0, 1);
    assert_false(cairn_virtual_deliver(network, ms_ns, &datagram));
    cairn_virtual_cut(network, 0, 1, false);
    send_number(network, 0, 2);
    assert_true(cairn_virtual_deliver(network, ms_ns, &datagram));
    assert_int_equal(number_of(datagram), 2);
    assert_int_equal(cairn_virtual_counters_read(network).cut, 1);
}

TEST("a path of limited bandwidth queues and then drops datagrams") {
    SCOPED(cairn_virtual_network) *network = pair(1, (cairn_virtual_path){0});
    const cairn_virtual_datagram *datagram;
    cairn_virtual_path_between(network, 0, 1)->bottleneck =
        cairn_virtual_bottleneck_add(network, (cairn_virtual_bottleneck){6400, 100 * ms_ns});
    for (uint32_t i = 0; i < 20; i++) {
        send_number(network, 0, i);
    }
    assert_int_equal(cairn_virtual_counters_read(network).queue_full, 10);
    assert_int_equal(cairn_virtual_traffic_between(network, 0, 1).datagrams, 20);
    assert_int_equal(cairn_virtual_traffic_between(network, 0, 1).queue_full, 10);
    assert_int_equal(cairn_virtual_traffic_between(network, 0, 1).bytes, 20 * 64);
    assert_int_equal(cairn_virtual_traffic_between(network, 0, 1).bytes_lost, 10 * 64);
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(cairn_virtual_deliver(network, 1000 * ms_ns, &datagram));
        assert_int_equal(cairn_virtual_now_ns(network), (i + 1) * 10 * ms_ns);
    }
    assert_true(cairn_virtual_adds_up(network));
}

TEST("paths through one bottleneck share its rate and its queue") {
    SCOPED(cairn_virtual_network) *network = pair(1, (cairn_virtual_path){0});
    const cairn_virtual_datagram *datagram;
    const cairn_address c = address_of("10.0.0.3:3000");
    assert_int_equal(cairn_virtual_endpoint(network, &c, (cairn_virtual_clock){0}), 2);
    const uint32_t line =
        cairn_virtual_bottleneck_add(network, (cairn_virtual_bottleneck){6400, 100 * ms_ns});
    cairn_virtual_path_between(network, 0, 1)->bottleneck = line;
    cairn_virtual_path_between(network, 0, 2)->bottleneck = line;
    const uint8_t bytes[64] = {0};
    for (uint32_t i = 0; i < 20; i++) {
        cairn_virtual_send(network, 0, cairn_virtual_address(network, 1 + i % 2), bytes, 64);
    }
    assert_int_equal(cairn_virtual_traffic_between(network, 0, 1).queue_full, 5);
    assert_int_equal(cairn_virtual_traffic_between(network, 0, 2).queue_full, 5);
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(cairn_virtual_deliver(network, 1000 * ms_ns, &datagram));
        assert_int_equal(cairn_virtual_now_ns(network), (i + 1) * 10 * ms_ns);
        assert_int_equal(datagram->to, 1 + i % 2);
    }
    assert_true(cairn_virtual_adds_up(network));
}

TEST("a path loses what is longer than its MTU") {
    SCOPED(cairn_virtual_network) *network = pair(1, (cairn_virtual_path){.size_max = 63});
    const cairn_virtual_datagram *datagram;
    send_number(network, 0, 1);
    cairn_virtual_path_between(network, 0, 1)->size_max = 64;
    send_number(network, 0, 2);
    assert_true(cairn_virtual_deliver(network, ms_ns, &datagram));
    assert_int_equal(number_of(datagram), 2);
    assert_int_equal(cairn_virtual_counters_read(network).too_large, 1);
    assert_true(cairn_virtual_adds_up(network));
}

TEST("datagrams beyond the capacity are dropped and counted") {
    SCOPED(cairn_virtual_network) *network = pair(1, (cairn_virtual_path){.delay_ns = ms_ns});
    for (uint32_t i = 0; i < 300; i++) {
        send_number(network, 0, i);
    }
    assert_int_equal(cairn_virtual_counters_read(network).in_flight, 256);
    assert_int_equal(cairn_virtual_counters_read(network).overflow, 44);
    assert_true(cairn_virtual_adds_up(network));
}

TEST("a drifting clock reaches a local time at the computed virtual time") {
    SCOPED(cairn_virtual_network) *network = NULL;
    assert_int_equal(cairn_virtual_network_create(1, 4, &network), CAIRN_OK);
    const cairn_address a = address_of("10.0.0.1:1");
    static const int32_t drifts[] = {0, 1000, -1000, 37, -100000, 100000};
    const cairn_virtual_datagram *datagram;
    for (uint32_t i = 0; i < 6; i++) {
        cairn_virtual_endpoint(
            network, &a, (cairn_virtual_clock){.drift_ppm = drifts[i], .offset_ns = i * 12345678});
    }
    assert_false(cairn_virtual_deliver(network, 3600000 * ms_ns, &datagram));
    assert_int_equal(cairn_virtual_local_ns(network, 1), 3600000 * ms_ns + 3600 * ms_ns + 12345678);
    assert_int_equal(
        cairn_virtual_local_ns(network, 2), 3600000 * ms_ns - 3600 * ms_ns + 2 * 12345678);
    for (uint32_t i = 0; i < 6; i++) {
        const uint64_t local_ns = cairn_virtual_local_ns(network, i) + 987654321;
        const uint64_t then_ns = cairn_virtual_time_of(network, i, local_ns);
        assert_false(cairn_virtual_deliver(network, then_ns - 1, &datagram));
        assert_true(cairn_virtual_local_ns(network, i) < local_ns);
        assert_false(cairn_virtual_deliver(network, then_ns, &datagram));
        assert_true(cairn_virtual_local_ns(network, i) >= local_ns);
    }
    assert_int_equal(cairn_virtual_time_of(network, 0, UINT64_MAX), UINT64_MAX);
}

static const cairn_address attacker_address = {
    .family = CAIRN_ADDRESS_IPV4, .port = 6666, .ip = {203, 0, 113, 66}};

TEST("an attacker spoofs source addresses") {
    SCOPED(cairn_virtual_network) *network = pair(1, (cairn_virtual_path){0});
    static cairn_attacker attacker;
    const cairn_virtual_datagram *datagram;
    uint32_t own = 0;
    uint32_t spoofed = 0;
    cairn_attacker_init(&attacker, 3, &attacker_address);
    cairn_virtual_tap(network, cairn_attacker_observe, &attacker);
    for (uint32_t i = 0; i < 200; i++) {
        send_number(network, 0, i);
        cairn_attacker_send(&attacker, network, cairn_virtual_address(network, 1));
        while (cairn_virtual_deliver(network, i * ms_ns, &datagram)) {
            own += cairn_address_equal(&datagram->from, &attacker.address) ? 1 : 0;
            spoofed += cairn_address_equal(&datagram->from, cairn_virtual_address(network, 0));
        }
    }
    assert_true(own > 30);
    assert_true(spoofed > 200 + 80);
    assert_true(cairn_virtual_adds_up(network));
}

// How many of so many hostile datagrams are copies of the request from the attacker's own address.
static uint32_t count_copies(cairn_virtual_network *network, cairn_attacker *attacker,
    const uint8_t *request, size_t size, uint32_t tries) {
    const cairn_virtual_datagram *datagram;
    uint32_t copies = 0;
    for (uint32_t i = 0; i < tries; i++) {
        cairn_attacker_send(attacker, network, cairn_virtual_address(network, 1));
        while (
            cairn_virtual_deliver(network, cairn_virtual_now_ns(network) + 2 * ms_ns, &datagram)) {
            const bool own = cairn_address_equal(&datagram->from, &attacker->address);
            const bool whole =
                datagram->size == size && memcmp(datagram->bytes, request, size) == 0;
            copies += own && whole ? 1 : 0;
        }
    }
    return copies;
}

TEST("an attacker shows the token of a lost request only after its owner has a session") {
    enum { REQUEST_SIZE = 1078, OTHERS = 500, TRIES = 4000 };
    SCOPED(cairn_virtual_network) *network = pair(1, (cairn_virtual_path){.loss_permille = 1000});
    static cairn_attacker attacker;
    static const uint8_t request[REQUEST_SIZE] = {CAIRN_PACKET_REQUEST, 7};
    static const uint8_t payload[38] = {CAIRN_PACKET_PAYLOAD | 1u << 4};
    const cairn_address *client = cairn_virtual_address(network, 0);
    const cairn_address *server = cairn_virtual_address(network, 1);
    cairn_attacker_init(&attacker, 3, &attacker_address);
    cairn_virtual_tap(network, cairn_attacker_observe, &attacker);
    cairn_virtual_send(network, 0, server, request, sizeof request);
    for (uint32_t i = 0; i < OTHERS; i++) {
        cairn_virtual_send(network, 1, client, payload, sizeof payload);
    }
    assert_int_equal(count_copies(network, &attacker, request, sizeof request, TRIES), 0);
    cairn_virtual_send(network, 0, server, payload, sizeof payload);
    assert_true(count_copies(network, &attacker, request, sizeof request, TRIES) > 0);
}
