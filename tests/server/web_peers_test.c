// SPDX-License-Identifier: MIT
// Which WebSockets may go on, without a socket: how much the system takes from a reader that
// stopped differs from machine to machine.
#include "tests/kit/test.h"

#include <string.h>

#include "server/threads/datagram_ring.h"
#include "server/web/peers.h"
#include <cairn/server_uv.h>

static const uint8_t datagram[1000];
static unsigned wakes;

// Replaces the one of http.c (CMakeLists.txt).
void __wrap_cairn_http_socket_wake(cairn_http_socket *socket);
void __wrap_cairn_http_socket_wake(cairn_http_socket *socket) {
    (void)socket;
    ++wakes;
}

typedef struct kit {
    cairn_peers *peers;
    cairn_peer *peer;
    cairn_address address;
} kit;

static kit kit_open(void) {
    const cairn_address from = {.family = CAIRN_ADDRESS_IPV4, .ip = {127, 0, 0, 1}, .port = 9};
    // Of the first peer in the first place: see peers.c.
    kit own = {.address = {.family = CAIRN_ADDRESS_STREAM, .port = from.port}};
    assert_int_equal(cairn_peers_create(NULL, 1, 0, &own.peers), CAIRN_OK);
    own.peer = cairn_peers_open(own.peers, NULL, &from, 0);
    assert_non_null(own.peer);
    memcpy(own.address.ip, from.ip, 8);
    own.address.ip[13] = 1;
    wakes = 0;
    return own;
}

static void kit_close(kit *own) {
    cairn_peers_close(own->peers, own->peer);
    cairn_peers_destroy(own->peers);
}

static void send(kit *own, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        cairn_peers_send(own->peers, &own->address, datagram, sizeof datagram);
    }
}

static unsigned take(kit *own, unsigned count) {
    uint8_t *bytes;
    unsigned taken = 0;
    while (taken < count && cairn_peers_next(own->peers, own->peer, &bytes) == sizeof datagram) {
        ++taken;
    }
    return taken;
}

TEST("a reader that takes all goes on") {
    kit own = kit_open();
    for (unsigned i = 0; i < 10; ++i) {
        send(&own, 20);
        assert_int_equal(take(&own, 100), 20);
        assert_true(cairn_peers_go_on(own.peers, own.peer));
    }
    assert_int_equal(wakes, 10);
    assert_int_equal(cairn_peers_statistics_read(own.peers)->dropped, 0);
    assert_int_equal(cairn_peers_statistics_read(own.peers)->sent, 200);
    kit_close(&own);
}

TEST("one that stops does not") {
    kit own = kit_open();
    send(&own, 1);
    assert_false(cairn_peers_go_on(own.peers, own.peer));
    assert_int_equal(cairn_peers_statistics_read(own.peers)->closed_slow, 1);
    assert_int_equal(cairn_peers_statistics_read(own.peers)->closed_idle, 0);
    kit_close(&own);
}

TEST("one that loses more than half does not") {
    kit own = kit_open();
    send(&own, 40); // 32 kB hold some 31
    assert_int_equal(take(&own, 30), 30);
    assert_true(cairn_peers_go_on(own.peers, own.peer));
    send(&own, 100);
    assert_true(take(&own, 10) == 10);
    assert_false(cairn_peers_go_on(own.peers, own.peer));
    assert_int_equal(cairn_peers_statistics_read(own.peers)->closed_slow, 1);
    kit_close(&own);
}

TEST("one without a session does not") {
    kit own = kit_open();
    assert_true(cairn_peers_go_on(own.peers, own.peer));
    send(&own, 1);
    assert_int_equal(take(&own, 1), 1);
    assert_true(cairn_peers_go_on(own.peers, own.peer));
    assert_true(cairn_peers_go_on(own.peers, own.peer));
    assert_false(cairn_peers_go_on(own.peers, own.peer));
    assert_int_equal(cairn_peers_statistics_read(own.peers)->closed_idle, 1);
    assert_int_equal(cairn_peers_statistics_read(own.peers)->closed_slow, 0);
    kit_close(&own);
}

TEST("a socket that is gone is counted") {
    kit own = kit_open();
    own.address.ip[13] = 2;
    send(&own, 3);
    assert_int_equal(cairn_peers_statistics_read(own.peers)->unknown, 3);
    assert_int_equal(take(&own, 1), 0);
    kit_close(&own);
}

TEST("peers have places, and one more has none") {
    enum { PEERS = 3 };
    const cairn_address from = {.family = CAIRN_ADDRESS_IPV4, .ip = {127, 0, 0, 1}, .port = 9};
    cairn_peer *open[PEERS];
    cairn_peers *peers;
    assert_int_equal(cairn_peers_create(NULL, PEERS, 0, &peers), CAIRN_OK);
    for (uint32_t i = 0; i < PEERS; ++i) {
        open[i] = cairn_peers_open(peers, NULL, &from, 0);
        assert_non_null(open[i]);
    }
    assert_null(cairn_peers_open(peers, NULL, &from, 0));
    cairn_peers_close(peers, open[1]);
    open[1] = cairn_peers_open(peers, NULL, &from, 0);
    assert_non_null(open[1]);
    assert_null(cairn_peers_open(peers, NULL, &from, 0));
    // Of a new one nothing is known: that it takes nothing now is as with the others.
    for (uint32_t i = 0; i < PEERS; ++i) {
        assert_true(cairn_peers_go_on(peers, open[i]));
        cairn_peers_close(peers, open[i]);
    }
    cairn_peers_destroy(peers);
}

TEST("what waits for all peers is counted, with what goes before each datagram") {
    kit own = kit_open();
    assert_int_equal(cairn_peers_waiting(own.peers), 0);
    send(&own, 2);
    const uint64_t each = cairn_peers_waiting(own.peers) / 2;
    assert_true(each > sizeof datagram);
    send(&own, 3);
    assert_int_equal(cairn_peers_waiting(own.peers), 5 * each);
    assert_int_equal(take(&own, 4), 4);
    assert_int_equal(cairn_peers_waiting(own.peers), each);
    assert_int_equal(take(&own, 4), 1);
    assert_int_equal(cairn_peers_waiting(own.peers), 0);
    kit_close(&own);
    assert_int_equal(cairn_peers_create(NULL, 5, 0, &own.peers), CAIRN_OK);
    assert_int_equal(cairn_peers_waiting(own.peers), 0);
    cairn_peers_destroy(own.peers);
}

TEST("a peer that takes nothing of what came after its opening is closed") {
    kit own = kit_open();
    send(&own, 1);
    assert_int_equal(take(&own, 1), 1);
    assert_true(cairn_peers_go_on(own.peers, own.peer));
    send(&own, 1);
    assert_false(cairn_peers_go_on(own.peers, own.peer));
    kit_close(&own);
}

TEST("a peer sends so many messages in a second, and so many at once") {
    const cairn_address from = {.family = CAIRN_ADDRESS_IPV4, .ip = {127, 0, 0, 1}, .port = 9};
    cairn_datagram_ring *ring = cairn_datagram_ring_create();
    cairn_peers *peers;
    assert_int_equal(cairn_peers_create(ring, 1, 0, &peers), CAIRN_OK);
    cairn_peer *peer = cairn_peers_open(peers, NULL, &from, CAIRN_NS_PER_S);
    const cairn_peers_statistics *seen = cairn_peers_statistics_read(peers);
    uint32_t taken = 0;
    while (taken < 2000 && cairn_peers_receive(peers, peer, datagram, 9, CAIRN_NS_PER_S)) {
        ++taken;
    }
    assert_int_equal(taken, CAIRN_PEER_BURST + 1);
    assert_int_equal(seen->closed_rate, 1);
    const uint64_t second_ns = 2 * CAIRN_NS_PER_S;
    while (taken < 4000 && cairn_peers_receive(peers, peer, datagram, 9, second_ns)) {
        ++taken;
    }
    assert_int_equal(taken, CAIRN_PEER_BURST + 1 + CAIRN_PEER_RATE_HZ);
    assert_int_equal(seen->received, taken);
    assert_int_equal(seen->received_dropped, 0);
    // The server takes nothing: the ring is full once.
    for (uint32_t i = 0; seen->received_dropped == 0; ++i) {
        assert_true(i < 2000);
        assert_true(cairn_peers_receive(
            peers, peer, datagram, sizeof datagram, second_ns + (10 + i) * CAIRN_NS_PER_S));
    }
    assert_int_equal(seen->received_dropped, 1);
    cairn_peers_note_malformed(peers);
    assert_int_equal(seen->malformed, 1);
    cairn_peers_close(peers, peer);
    cairn_peers_destroy(peers);
    cairn_datagram_ring_destroy(ring);
}
