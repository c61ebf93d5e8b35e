// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "base/random.h"
#include "proto_tests/net/netcode_kit.h"

SCOPE_ENDS(kit, kit_close)

TEST("a client connects without waiting") {
    SCOPED(kit) k = kit_open(4);
    kit_connect(&k, 0);
    kit_exchange(&k);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
    assert_int_equal(k.event_count, 1);
    assert_int_equal(k.events[0].kind, CAIRN_NETCODE_CONNECTED);
    assert_int_equal(k.events[0].client, 0);
    assert_int_equal(k.events[0].client_id, 1);
}

TEST("the user data of the token reaches the server") {
    SCOPED(kit) k = kit_open_joined(4);
    const cairn_token_public public = kit_token_public(&(kit_token_fields){.client_id = 1});
    cairn_token_private private;
    assert_int_equal(cairn_token_read_private(public.private_data, public.nonce, KIT_PROTOCOL_ID,
                         public.expire_unix_s, kit_key, &private),
        CAIRN_TOKEN_OK);
    assert_memory_equal(k.events[0].user_data, private.user_data, CAIRN_TOKEN_USER_DATA_SIZE);
}

TEST("payloads of every size arrive both ways") {
    SCOPED(kit) k = kit_open_joined(4);
    for (size_t size = 1; size <= CAIRN_PAYLOAD_SIZE_MAX; size += size < 40 ? 1 : 97) {
        kit_datagram datagram = kit_client_payload(&k, 0, size);
        assert_int_equal(kit_to_server(&k, datagram), CAIRN_NETCODE_TAKEN);
        cairn_netcode_event event;
        assert_true(cairn_netcode_server_next_event(k.server, &event));
        assert_int_equal(event.kind, CAIRN_NETCODE_PAYLOAD);
        assert_int_equal(event.client, 0);
        assert_int_equal(event.payload_size, size);
        assert_int_equal((uintptr_t)event.payload % 8, 0);

        datagram = kit_server_payload(&k, 0, size);
        assert_int_equal(kit_to_client(&k, 0, datagram), CAIRN_NETCODE_TAKEN);
        size_t received;
        const uint8_t *payload = cairn_netcode_client_next_payload(k.clients[0], &received);
        assert_int_equal(received, size);
        assert_int_equal((uintptr_t)payload % 8, 0);
        assert_memory_equal(payload, event.payload, size);
        assert_null(cairn_netcode_client_next_payload(k.clients[0], &received));
    }
}

// A wire that loses, repeats, delays and damages datagrams, all from one seed.
enum { WIRE_SIZE = 64 };
typedef struct wire {
    cairn_random random;
    struct {
        uint64_t due_ns; // 0: free
        kit_datagram datagram;
    } places[WIRE_SIZE];
} wire;

static void wire_put(wire *w, uint64_t now_ns, const kit_datagram *datagram) {
    const uint64_t copies = (cairn_random_below(&w->random, 10) == 0) ? 2 : 1;
    for (uint64_t copy = 0; copy < copies; ++copy) {
        int place = 0;
        while (place < WIRE_SIZE && w->places[place].due_ns != 0) {
            ++place;
        }
        if (place == WIRE_SIZE || cairn_random_below(&w->random, 100) < 15) {
            continue;
        }
        w->places[place].due_ns = now_ns + cairn_random_below(&w->random, 80) * KIT_MS + 1;
        w->places[place].datagram = *datagram;
        if (cairn_random_below(&w->random, 50) == 0) {
            const size_t at = (size_t)cairn_random_below(&w->random, datagram->size);
            w->places[place].datagram.bytes[at] ^= 0x20;
        }
    }
}

static bool wire_take(wire *w, uint64_t now_ns, kit_datagram *out) {
    for (int place = 0; place < WIRE_SIZE; ++place) {
        if (w->places[place].due_ns != 0 && w->places[place].due_ns <= now_ns) {
            *out = w->places[place].datagram;
            w->places[place].due_ns = 0;
            return true;
        }
    }
    return false;
}

typedef struct tally {
    uint64_t to_server;
    uint64_t to_client;
    uint64_t seen_by_server[32]; // a bit for each number: no payload arrives twice
    uint64_t seen_by_client[32];
} tally;

static void make_payload(uint64_t number, uint8_t payload[100]) {
    memcpy(payload, &number, sizeof number);
    for (size_t i = 8; i < 100; ++i) {
        payload[i] = (uint8_t)(number + i);
    }
}

static void count_payload(
    uint64_t seen[32], uint64_t *total, const uint8_t *payload, size_t size, uint64_t sent) {
    uint64_t number;
    uint8_t expected[100];
    assert_int_equal(size, sizeof expected);
    memcpy(&number, payload, sizeof number);
    assert_true(number < sent);
    make_payload(number, expected);
    assert_memory_equal(payload, expected, sizeof expected);
    assert_int_equal(seen[number / 64] >> (number % 64) & 1, 0);
    seen[number / 64] |= UINT64_C(1) << (number % 64);
    ++*total;
}

static void receive_all(kit *k, wire *to_server, wire *to_client, tally *t, uint64_t sent) {
    kit_datagram datagram;
    while (wire_take(to_server, k->now_ns, &datagram)) {
        kit_to_server(k, datagram);
        cairn_netcode_event event;
        while (cairn_netcode_server_next_event(k->server, &event)) {
            if (event.kind == CAIRN_NETCODE_PAYLOAD) {
                count_payload(
                    t->seen_by_server, &t->to_server, event.payload, event.payload_size, sent);
            }
        }
    }
    while (wire_take(to_client, k->now_ns, &datagram)) {
        kit_to_client(k, 0, datagram);
        size_t size;
        const uint8_t *payload = cairn_netcode_client_next_payload(k->clients[0], &size);
        if (payload != NULL) {
            count_payload(t->seen_by_client, &t->to_client, payload, size, sent);
        }
    }
}

static void send_all(kit *k, wire *to_server, wire *to_client, uint64_t number) {
    uint8_t payload[100];
    make_payload(number, payload);
    kit_datagram up = {.from = k->client_addresses[0]};
    up.size = cairn_netcode_client_encrypt(
        k->clients[0], k->now_ns, payload, sizeof payload, &up.to, up.bytes);
    kit_datagram down = {.from = k->server_address};
    down.size = cairn_netcode_server_encrypt(
        k->server, k->now_ns, 0, payload, sizeof payload, &down.to, down.bytes);
    kit_datagram queued;
    while ((queued = kit_from_client(k, 0)).size > 0) {
        wire_put(to_server, k->now_ns, &queued);
    }
    while ((queued = kit_from_server(k)).size > 0) {
        wire_put(to_client, k->now_ns, &queued);
    }
    if (up.size > 0) {
        wire_put(to_server, k->now_ns, &up);
    }
    if (down.size > 0) {
        wire_put(to_client, k->now_ns, &down);
    }
}

TEST("a bad wire costs payloads and nothing else") {
    enum { STEPS = 1500 };
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        static wire to_server, to_client;
        to_server = (wire){.random = cairn_random_of(seed)};
        to_client = (wire){.random = cairn_random_of(seed + 1000)};
        tally t = {0};
        SCOPED(kit) k = kit_open(2);
        kit_connect(&k, 0);
        for (uint64_t number = 0; number < STEPS; ++number) {
            k.now_ns += 10 * KIT_MS;
            receive_all(&k, &to_server, &to_client, &t, number);
            cairn_netcode_server_advance(k.server, k.now_ns);
            cairn_netcode_client_advance(k.clients[0], k.now_ns);
            send_all(&k, &to_server, &to_client, number);
        }
        if (kit_state(&k, 0) != CAIRN_NETCODE_STATE_CONNECTED || t.to_server < STEPS * 6 / 10 ||
            t.to_client < STEPS * 6 / 10 || kit_drops(&k, CAIRN_NETCODE_DROP_REPLAYED) == 0) {
            fail_msg("seed %d: %d up, %d down", (int)seed, (int)t.to_server, (int)t.to_client);
        }
    }
}
