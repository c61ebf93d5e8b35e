// SPDX-License-Identifier: MIT
// Clients of one id that join, take the world, leave and join again. The world is 1.5 MB and is
// sent as it is (packed it would be 4 kB), over a local network.
#include "tests/kit/test.h"

#include "tests/kit/rig.h"
#include "tests/storm/large_state.h"
#include <cairn/server_statistics.h>

#define CLIENT_ID 77
#define MINUTE_NS (60 * CAIRN_NS_PER_S)
// 4 at once and one in ten seconds (server/session/byte_budget.h).
#define WORLDS_PER_MINUTE 10

static const cairn_virtual_path path = {.delay_ns = 250000};

static const cairn_scene *scene(void) {
    return kit_scene(WALL("60"));
}

typedef enum departure {
    LEAVES,  // and says so
    CRASHES, // the server learns of it from the next token
} departure;

// In slot `i` of the system, with a token of its own, which is another one each time.
static void join(rig *r, uint32_t i, cairn_client_mode mode, uint64_t client_id) {
    cairn_client_config config = rig_config(mode);
    config.bodies_max = 8192;
    config.shapes_max = 8192;
    r->system.next_client_id = client_id;
    assert_true(cairn_system_join(&r->system, i, &config, (cairn_virtual_clock){0}, &path));
}

// A token replaces the connection of another one only if it is newer, and tokens have seconds.
static void leave(rig *r, uint32_t i, departure how) {
    if (how == LEAVES) {
        cairn_system_disconnect(&r->system, i);
        rig_run_ms(r, 2);
    } else {
        rig_run_ms(r, 1000);
    }
    cairn_system_remove(&r->system, i);
}

static bool plays(const rig *r, uint32_t i) {
    return cairn_client_state_read(r->system.clients[i].client) == CAIRN_CLIENT_PLAYING;
}

// Returns after how long the client plays; it gives up after `patience_ns`.
static uint64_t wait_to_play(rig *r, uint32_t i, uint64_t patience_ns) {
    const uint64_t from_ns = rig_server_now_ns(r);
    while (!plays(r, i) && rig_server_now_ns(r) - from_ns < patience_ns) {
        rig_run_ms(r, 1);
    }
    return rig_server_now_ns(r) - from_ns;
}

typedef struct taken {
    uint64_t joins;
    uint64_t worlds;   // that were sent, the last one perhaps in part
    uint64_t bytes_in; // of the server
    uint64_t bytes_out;
    uint64_t state_size;
} taken;

static void add_traffic(const rig *r, uint32_t i, taken *t) {
    const uint32_t server = r->system.server_endpoint;
    const uint32_t client = r->system.clients[i].endpoint;
    const cairn_virtual_network *network = r->system.network;
    t->bytes_in += cairn_virtual_traffic_between(network, client, server).bytes;
    t->bytes_out += cairn_virtual_traffic_between(network, server, client).bytes;
}

// For a minute, with tokens of one id; of `hosts` endpoints in turn.
static taken take_worlds(
    cairn_client_mode mode, departure how, uint32_t hosts, uint64_t patience_ns) {
    RIG(r, .seed = 1, .scene = scene(), .unwatched = true);
    rig_run_ticks(&r, 10);
    taken t = {0};
    const uint64_t end_ns = rig_server_now_ns(&r) + MINUTE_NS;
    for (uint32_t i = 0; rig_server_now_ns(&r) < end_ns; i = (i + 1) % hosts) {
        const uint64_t left_ns = end_ns - rig_server_now_ns(&r);
        join(&r, i, mode, CLIENT_ID);
        (void)wait_to_play(&r, i, patience_ns < left_ns ? patience_ns : left_ns);
        t.joins += 1;
        t.worlds += plays(&r, i) ? 1 : 0;
        leave(&r, i, how);
    }
    for (uint32_t i = 0; i < hosts; ++i) {
        add_traffic(&r, i, &t);
    }
    const cairn_server_statistics statistics = rig_server_statistics(&r);
    t.state_size = statistics.total.state_transfers == 0
                       ? cairn_world_encode_size(rig_server_world(&r))
                       : statistics.total.state_bytes / statistics.total.state_transfers;
    t.worlds =
        t.worlds > statistics.total.state_transfers ? t.worlds : statistics.total.state_transfers;
    assert_true(statistics.total.joins_delayed > 0);
    return t;
}

TEST("a client id that joins and leaves in a loop is sent ten worlds in a minute") {
    static const struct row {
        const char *name;
        cairn_client_mode mode;
        departure how;
        uint32_t hosts;
        uint64_t patience_ms;
    } rows[] = {
        {"lockstep, leaves", CAIRN_CLIENT_LOCKSTEP, LEAVES, 1, 60000},
        {"predict, crashes", CAIRN_CLIENT_PREDICT, CRASHES, 1, 60000},
        {"lockstep, two hosts", CAIRN_CLIENT_LOCKSTEP, CRASHES, 2, 60000},
        {"interpolate, leaves", CAIRN_CLIENT_INTERPOLATE, LEAVES, 1, 60000},
        {"lockstep, never waits", CAIRN_CLIENT_LOCKSTEP, LEAVES, 1, 200},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const taken t = take_worlds(
            rows[i].mode, rows[i].how, rows[i].hosts, rows[i].patience_ms * UINT64_C(1000000));
        const double owed = (double)t.worlds * (double)t.state_size;
        const double ratio = ((double)t.bytes_out - owed) / (double)t.bytes_in;
        print_message("%-22s %3llu joins, %2llu worlds of %llu B, %8llu B to the client, %7llu B "
                      "from it; beyond the worlds %.1f bytes a byte\n",
            rows[i].name, (unsigned long long)t.joins, (unsigned long long)t.worlds,
            (unsigned long long)t.state_size, (unsigned long long)t.bytes_out,
            (unsigned long long)t.bytes_in, ratio);
        assert_in_range(t.worlds, 4, WORLDS_PER_MINUTE);
        assert_true(ratio < 20);
    }
}

TEST("a client that crashes and comes back at once joins without delay, three times") {
    RIG(r, .seed = 1, .scene = scene(), .unwatched = true);
    rig_run_ticks(&r, 10);
    for (uint32_t i = 0; i < 4; ++i) {
        join(&r, 0, CAIRN_CLIENT_LOCKSTEP, CLIENT_ID);
        const uint64_t took_ns = wait_to_play(&r, 0, 20 * CAIRN_NS_PER_S);
        print_message("playing after %llu ms\n", (unsigned long long)took_ns / 1000000);
        assert_true(plays(&r, 0));
        assert_true(took_ns < CAIRN_NS_PER_S / 4);
        leave(&r, 0, CRASHES);
    }
    assert_int_equal(rig_server_statistics(&r).total.joins_delayed, 0);
    // Then it waits for what is left of the ten seconds since the first, and nobody else does.
    join(&r, 0, CAIRN_CLIENT_LOCKSTEP, CLIENT_ID);
    join(&r, 1, CAIRN_CLIENT_LOCKSTEP, CLIENT_ID + 1);
    assert_true(wait_to_play(&r, 1, 20 * CAIRN_NS_PER_S) < CAIRN_NS_PER_S / 4);
    assert_in_range(
        wait_to_play(&r, 0, 20 * CAIRN_NS_PER_S), 4 * CAIRN_NS_PER_S, 7 * CAIRN_NS_PER_S);
    assert_true(plays(&r, 0));
}
