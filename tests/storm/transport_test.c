// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "net/link.h"
#include "net/netcode_client.h"
#include "net/netcode_drop.h"
#include "net/netcode_server.h"
#include "storm/attacker.h"

// netcode and the link alone under faults, without worlds or message contents. Both sides number
// their messages. Whatever the paths and the attacker do, reliable numbers arrive once and in
// order, no message is changed, and every datagram is counted.

#define CLIENTS 3
#define SEEDS 60

static const uint64_t ms_ns = 1000000;
static const uint64_t unix_s = 1700000000;
static const uint8_t key[CAIRN_KEY_SIZE] = {1, 2, 3};

typedef struct peer {
    cairn_link *link;
    uint32_t sent;     // reliable numbers
    uint32_t received; // of the peer's
    uint32_t snapshots_received;
    uint64_t payloads; // passed to the link since its reset
} peer;

typedef struct transport {
    cairn_random random;
    cairn_virtual_network *network;
    cairn_attacker attacker;
    cairn_netcode_server *server;
    cairn_netcode_client *clients[CLIENTS];
    peer here[CLIENTS];  // the clients' ends
    peer there[CLIENTS]; // the server's, by netcode's index
    bool connected[CLIENTS];
    uint64_t delivered[CLIENTS + 1]; // by endpoint, the server is 0
    uint32_t connects;
} transport;

static uint64_t now_of(const transport *t, uint32_t endpoint) {
    return cairn_virtual_local_ns(t->network, endpoint);
}

static void peer_reset(peer *k, uint64_t now_ns) {
    cairn_link *link = k->link;
    cairn_link_reset(link, now_ns);
    *k = (peer){.link = link};
}

static void peer_send(transport *t, peer *k) {
    uint8_t bytes[3000];
    const size_t size = 8 + cairn_random_below(&t->random, 2900);
    const bool reliable = cairn_random_below(&t->random, 2) == 0;
    memset(bytes, (int)(k->sent & 0xff), size);
    memcpy(bytes, &k->sent, sizeof k->sent);
    if (!reliable) {
        assert_int_equal(cairn_link_send_unreliable(k->link, bytes, size), CAIRN_OK);
    } else if (cairn_link_send_reliable(k->link, bytes, size) == CAIRN_OK) {
        k->sent++;
    }
}

static void peer_receive(peer *k, uint64_t now_ns, const uint8_t *payload, size_t size) {
    cairn_link_message message;
    const cairn_link_drop drop = cairn_link_receive(k->link, now_ns, payload, size);
    k->payloads++;
    // A sealed payload that opens was the peer's: only lateness can make the link drop it.
    assert_true(drop == CAIRN_LINK_TAKEN || drop == CAIRN_LINK_DROP_STALE ||
                drop == CAIRN_LINK_DROP_STREAM);
    while (cairn_link_next_message(k->link, &message)) {
        uint32_t number;
        memcpy(&number, message.bytes, sizeof number);
        for (size_t i = sizeof number; i < message.size; i++) {
            assert_int_equal(message.bytes[i], number & 0xff);
        }
        if (message.reliable) {
            assert_int_equal(number, k->received);
            k->received++;
        } else {
            k->snapshots_received++;
        }
    }
}

static void server_events(transport *t) {
    cairn_netcode_event event;
    while (cairn_netcode_server_next_event(t->server, &event)) {
        if (event.kind == CAIRN_NETCODE_PAYLOAD) {
            peer_receive(&t->there[event.client], now_of(t, 0), event.payload, event.payload_size);
        } else if (event.kind == CAIRN_NETCODE_CONNECTED) {
            peer_reset(&t->there[event.client], now_of(t, 0));
            t->connects++;
        }
    }
}

static void serve_server(transport *t) {
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    size_t size;
    const uint64_t now_ns = now_of(t, 0);
    cairn_netcode_server_advance(t->server, now_ns);
    server_events(t);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        if (!cairn_netcode_server_connected(t->server, i)) {
            continue;
        }
        while ((size = cairn_link_next_payload(t->there[i].link, now_ns, payload)) > 0) {
            size = cairn_netcode_server_encrypt(t->server, now_ns, i, payload, size, &to, bytes);
            cairn_virtual_send(t->network, 0, &to, bytes, size);
        }
    }
    while ((size = cairn_netcode_server_next_datagram(t->server, &to, bytes)) > 0) {
        cairn_virtual_send(t->network, 0, &to, bytes, size);
    }
}

static void follow_client(transport *t, uint32_t i) {
    const bool connected =
        cairn_netcode_client_state_read(t->clients[i]) == CAIRN_NETCODE_STATE_CONNECTED;
    if (connected && !t->connected[i]) {
        peer_reset(&t->here[i], now_of(t, i + 1));
    }
    t->connected[i] = connected;
}

static void serve_client(transport *t, uint32_t i) {
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    size_t size;
    const uint64_t now_ns = now_of(t, i + 1);
    cairn_netcode_client_advance(t->clients[i], now_ns);
    follow_client(t, i);
    while ((size = cairn_netcode_client_next_datagram(t->clients[i], &to, bytes)) > 0) {
        cairn_virtual_send(t->network, i + 1, &to, bytes, size);
    }
    while (
        t->connected[i] && (size = cairn_link_next_payload(t->here[i].link, now_ns, payload)) > 0) {
        size = cairn_netcode_client_encrypt(t->clients[i], now_ns, payload, size, &to, bytes);
        cairn_virtual_send(t->network, i + 1, &to, bytes, size);
    }
}

static void deliver(transport *t, const cairn_virtual_datagram *d) {
    t->delivered[d->to]++;
    if (d->to == 0) {
        cairn_netcode_server_receive(t->server, now_of(t, 0), &d->from, d->bytes, d->size);
        server_events(t);
        return;
    }
    const uint32_t i = d->to - 1;
    size_t size = 0;
    cairn_netcode_client_receive(t->clients[i], now_of(t, d->to), &d->from, d->bytes, d->size);
    const uint8_t *payload = cairn_netcode_client_next_payload(t->clients[i], &size);
    follow_client(t, i);
    if (payload != NULL && t->connected[i]) {
        peer_receive(&t->here[i], now_of(t, d->to), payload, size);
    }
}

static void connect_client(transport *t, uint32_t i, uint64_t client_id) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    cairn_random_fill(&t->random, entropy, sizeof entropy);
    const uint64_t now_unix_s = unix_s + cairn_virtual_now_ns(t->network) / CAIRN_NS_PER_S;
    const cairn_token_request request = {.protocol_id = 7,
        .client_id = client_id,
        .create_unix_s = now_unix_s,
        .lifetime_s = 30,
        .timeout_s = 5,
        .server_addresses = cairn_virtual_address(t->network, 0),
        .server_count = 1,
        .private_key = key,
        .entropy = entropy};
    assert_int_equal(cairn_token_issue(&request, token), CAIRN_OK);
    assert_int_equal(
        cairn_netcode_client_connect(t->clients[i], now_of(t, i + 1), now_unix_s, token), CAIRN_OK);
    t->connected[i] = false;
}

static void start(transport *t, uint64_t seed) {
    cairn_link_config config = cairn_link_config_default();
    config.unreliable_size_max = 3000;
    config.receive_size_max = 3000;
    config.reliable_buffer_size = 16384;
    cairn_address address;
    memset(t, 0, sizeof *t);
    t->random = cairn_random_of(seed);
    assert_int_equal(
        cairn_virtual_network_create(cairn_random_next(&t->random), 4096, &t->network), CAIRN_OK);
    assert_true(cairn_address_parse("203.0.113.66:6666", &address));
    cairn_attacker_init(&t->attacker, cairn_random_next(&t->random), &address);
    cairn_virtual_tap(t->network, cairn_attacker_observe, &t->attacker);
    cairn_address_parse("192.0.2.1:1", &address);
    cairn_virtual_endpoint(
        t->network, &address, (cairn_virtual_clock){.offset_ns = CAIRN_NS_PER_S});
    const uint8_t entropy[32] = {9};
    cairn_netcode_server_config server = cairn_netcode_server_config_default();
    server.protocol_id = 7;
    server.private_key = key;
    server.entropy = entropy;
    server.public_addresses = &address;
    server.public_address_count = 1;
    server.clients_max = CLIENTS;
    server.start_ns = now_of(t, 0);
    server.start_unix_ns = unix_s * CAIRN_NS_PER_S;
    assert_int_equal(cairn_netcode_server_create(&server, &t->server), CAIRN_OK);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        address = (cairn_address){CAIRN_ADDRESS_IPV4, 0, (uint16_t)(100 + i), {198, 51, 100, 7}};
        const int32_t drift = (int32_t)cairn_random_below(&t->random, 2001) - 1000;
        cairn_virtual_endpoint(t->network, &address, (cairn_virtual_clock){drift, CAIRN_NS_PER_S});
        assert_int_equal(cairn_netcode_client_create(&t->clients[i]), CAIRN_OK);
        assert_int_equal(cairn_link_create(&config, 0, &t->here[i].link), CAIRN_OK);
        assert_int_equal(cairn_link_create(&config, 0, &t->there[i].link), CAIRN_OK);
        connect_client(t, i, i + 1);
    }
}

static void stop(transport *t) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        cairn_netcode_client_destroy(t->clients[i]);
        cairn_link_destroy(t->here[i].link);
        cairn_link_destroy(t->there[i].link);
    }
    cairn_netcode_server_destroy(t->server);
    cairn_virtual_network_destroy(t->network);
}

static void set_paths(transport *t, bool bad) {
    for (uint32_t i = 1; i <= CLIENTS; i++) {
        cairn_virtual_path path = {.delay_ns = 20 * ms_ns};
        if (bad) {
            path.loss_permille = (uint32_t)cairn_random_below(&t->random, 301);
            path.repeat_permille = (uint32_t)cairn_random_below(&t->random, 301);
            path.corrupt_permille = (uint32_t)cairn_random_below(&t->random, 51);
            path.delay_ns = cairn_random_below(&t->random, 200) * ms_ns;
            path.jitter_ns = cairn_random_below(&t->random, 80) * ms_ns;
        }
        cairn_virtual_connect(t->network, 0, i, &path);
    }
}

static void run_steps(transport *t, uint32_t steps, bool traffic, bool hostile) {
    const cairn_virtual_datagram *datagram;
    for (uint32_t step = 0; step < steps; step++) {
        const uint64_t until_ns = cairn_virtual_now_ns(t->network) + 10 * ms_ns;
        for (uint32_t i = 0; traffic && i < CLIENTS; i++) {
            if (t->connected[i] && cairn_random_below(&t->random, 6) == 0) {
                peer_send(t, &t->here[i]);
            }
            if (cairn_netcode_server_connected(t->server, i) &&
                cairn_random_below(&t->random, 6) == 0) {
                peer_send(t, &t->there[i]);
            }
        }
        if (hostile && cairn_random_below(&t->random, 3) == 0) {
            const uint32_t victim = (uint32_t)cairn_random_below(&t->random, CLIENTS + 1);
            cairn_attacker_send(
                &t->attacker, t->network, cairn_virtual_address(t->network, victim));
        }
        while (cairn_virtual_deliver(t->network, until_ns, &datagram)) {
            deliver(t, datagram);
        }
        serve_server(t);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            serve_client(t, i);
        }
    }
}

static uint64_t sum(const uint64_t *counters) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < CAIRN_NETCODE_DROP_COUNT; i++) {
        all += counters[i];
    }
    return all;
}

static void expect_counted(const transport *t) {
    assert_true(cairn_virtual_adds_up(t->network));
    assert_int_equal(sum(cairn_netcode_server_drops(t->server)), t->delivered[0]);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(sum(cairn_netcode_client_drops(t->clients[i])), t->delivered[i + 1]);
        const cairn_link_statistics *s = cairn_link_statistics_read(t->here[i].link);
        assert_int_equal(s->payloads_received, t->here[i].payloads);
    }
}

// Every reliable message arrived, at both ends of each connection.
static void expect_all_received(const transport *t) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        assert_true(t->connected[i]);
        const peer *here = &t->here[i];
        const peer *there = &t->there[cairn_netcode_client_index(t->clients[i])];
        assert_int_equal(here->received, there->sent);
        assert_int_equal(there->received, here->sent);
        assert_true(cairn_link_reliable_idle(here->link));
        assert_true(cairn_link_reliable_idle(there->link));
        assert_true(here->received > 10 && there->received > 10 && here->snapshots_received > 10);
    }
}

static void run_seed(transport *t, uint64_t seed) {
    start(t, seed);
    set_paths(t, true);
    run_steps(t, 800, true, true);
    for (uint32_t i = 1; i <= CLIENTS; i++) {
        cairn_virtual_cut(t->network, 0, i, true); // shorter than the time-out
    }
    run_steps(t, 300, true, true);
    set_paths(t, true);
    run_steps(t, 500, true, true);
    set_paths(t, false);
    run_steps(t, 500, false, true);
    expect_counted(t);
    expect_all_received(t);
}

TEST("reliable messages arrive in order under any faults") {
    static transport t;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        print_message("%s%" PRIu64, seed == 1 ? "seed " : " ", seed);
        run_seed(&t, seed);
        stop(&t);
    }
    print_message("\n");
}

TEST("a cut longer than the timeout ends the connection and a new token opens another") {
    static transport t;
    start(&t, 99);
    set_paths(&t, false);
    run_steps(&t, 200, true, true);
    const uint32_t before = t.connects;
    for (uint32_t i = 1; i <= CLIENTS; i++) {
        cairn_virtual_cut(t.network, 0, i, true);
    }
    run_steps(&t, 700, false, false); // an attacker may replay what was lost before
    for (uint32_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(cairn_netcode_client_state_read(t.clients[i]),
            CAIRN_NETCODE_STATE_CONNECTION_TIMED_OUT);
        assert_false(cairn_netcode_server_connected(t.server, i));
        cairn_virtual_cut(t.network, 0, i + 1, false);
        connect_client(&t, i, i + 1);
    }
    run_steps(&t, 500, true, true);
    run_steps(&t, 300, false, true);
    assert_int_equal(t.connects, before + CLIENTS);
    expect_counted(&t);
    expect_all_received(&t);
    stop(&t);
}
