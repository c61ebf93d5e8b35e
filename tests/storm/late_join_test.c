// SPDX-License-Identifier: MIT
// What it takes to join a room of 2,000 bodies late, as a client that simulates: bytes of the state
// and time until the client plays, over a path of 100 ms there and back, a local network and
// loopback. The run prints its figures.
#include "tests/kit/test.h"

#include <stdio.h>

#include "tests/kit/rig.h"

#define BODIES 2000
#define ROUND_TRIP_NS UINT64_C(100000000)
#define SCENE_SIZE (512 * 1024)

typedef enum arrangement {
    FIELD,   // beside each other, turned, dropped from a hand's breadth
    COLUMNS, // of ten
    HEAP,    // dropped on each other, and still in motion
} arrangement;

static void place(arrangement how, uint32_t i, float out[3], float *yaw) {
    const uint32_t mixed = i * UINT32_C(2654435761) >> 16; // 0 .. 65535
    const float random = (float)mixed / 65536.0f;
    *yaw = how == COLUMNS ? 0 : 180 * random; // degrees
    switch (how) {
    case FIELD:
        out[0] = (float)(i % 45) * 2.2f - 50 + 0.5f * random;
        out[1] = 0.6f + 0.3f * random;
        out[2] = (float)(i / 45) * 2.2f - 50;
        break;
    case COLUMNS:
        out[0] = (float)(i / 10 % 15) * 2 - 15;
        out[1] = 0.5f + (float)(i % 10);
        out[2] = (float)(i / 150) * 2 - 14;
        break;
    case HEAP:
        out[0] = (float)(i % 10) * 1.2f - 6 + 0.2f * random;
        out[1] = 0.8f + (float)(i / 100) * 1.2f;
        out[2] = (float)(i / 10 % 10) * 1.2f - 6 + 0.1f * random;
        break;
    }
}

static const cairn_scene *scene_of(arrangement how) {
    static char texts[3][SCENE_SIZE]; // kit_scene knows a scene by its address
    char *text = texts[how];
    size_t at = (size_t)snprintf(text, SCENE_SIZE,
        "{'name': 'late', 'tick_rate_hz': 60, 'body_capacity': 2048, 'shape_capacity': 2048,"
        "'contact_capacity': 32768, 'bodies': [{'kind': 'static', 'position': [0, -1, 0],"
        "'shapes': [{'kind': 'box', 'half_extents': [100, 1, 100]}]}");
    for (uint32_t i = 0; i < BODIES; ++i) {
        float position[3] = {0};
        float yaw;
        place(how, i, position, &yaw);
        at += (size_t)snprintf(text + at, SCENE_SIZE - at,
            ",{'position': [%.4f, %.4f, %.4f], 'rotation_axis': [0, 1, 0], 'rotation_angle_deg': "
            "%.2f,"
            "'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}",
            (double)position[0], (double)position[1], (double)position[2], (double)yaw);
        assert_true(at < SCENE_SIZE);
    }
    snprintf(text + at, SCENE_SIZE - at, "]}");
    return kit_scene(text);
}

typedef struct figures {
    uint64_t encoding;    // bytes, before packing
    uint64_t state;       // bytes that were sent
    uint64_t join_ns;     // from connected to playing
    uint64_t transfer_ns; // of these, from the first of the state's datagrams to the last
} figures;

static uint64_t received(const rig *r, uint32_t client) {
    return rig_statistics(r, client).connection.bytes_received;
}

static figures measure(arrangement how, uint32_t warm_up_ticks, uint64_t round_trip_ns) {
    const cairn_client_config config = rig_config(CAIRN_CLIENT_LOCKSTEP);
    const cairn_virtual_path path = {.delay_ns = round_trip_ns / 2};
    RIG(r, .seed = 1, .scene = scene_of(how));
    rig_run_ticks(&r, warm_up_ticks);
    figures f = {.encoding = cairn_world_encode_size(rig_server_world(&r))};
    const uint32_t late = rig_join(&r, &config, &path);
    while (rig_state(&r, late) == CAIRN_CLIENT_CONNECTING) {
        rig_run_ms(&r, 1);
    }
    const uint64_t connected_ns = rig_server_now_ns(&r);
    uint64_t first_ns = 0;
    while (rig_state(&r, late) == CAIRN_CLIENT_JOINING) {
        // What comes before the state fits one datagram.
        first_ns = first_ns == 0 && received(&r, late) > 2000 ? rig_server_now_ns(&r) : first_ns;
        rig_run_ms(&r, 1);
    }
    expect_playing(&r, late);
    if (first_ns == 0) {
        first_ns = rig_server_now_ns(&r); // all of it came within a millisecond
    }
    f.join_ns = rig_server_now_ns(&r) - connected_ns;
    f.transfer_ns = rig_server_now_ns(&r) - first_ns;
    cairn_server_room_statistics statistics;
    assert_true(cairn_server_room_statistics_read(r.system.server, CAIRN_ROOM_MAIN, &statistics));
    assert_int_equal(statistics.state_transfers, 1);
    f.state = statistics.state_bytes;
    rig_run_ms(&r, 500);
    expect_servers_world(&r, late);
    return f;
}

TEST("a client joins a room of 2,000 bodies within two round trips and the transfer") {
    static const struct row {
        const char *name;
        arrangement how;
        uint32_t warm_up_ticks;
        uint64_t state_max;
    } rows[] = {
        {"a field at rest", FIELD, 120, 40000},
        {"columns of ten at rest", COLUMNS, 60, 9500},
        // The digits of impulses, velocities and poses of bodies that push each other cannot be
        // predicted, so this state is larger than 150 kB.
        {"a heap in motion", HEAP, 150, 202000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const figures f = measure(rows[i].how, rows[i].warm_up_ticks, ROUND_TRIP_NS);
        printf(
            "%-24s encoding %7llu state %6llu bytes, playing after %4llu ms, transfer %4llu ms\n",
            rows[i].name, (unsigned long long)f.encoding, (unsigned long long)f.state,
            (unsigned long long)f.join_ns / 1000000, (unsigned long long)f.transfer_ns / 1000000);
        assert_in_range(f.state, 1, rows[i].state_max);
        // A batch of ticks may pass before the state is sent.
        assert_in_range(f.join_ns - f.transfer_ns, 0, 2 * ROUND_TRIP_NS + 20000000);
    }
}

// A batch of ticks before the state, one with it, and the first tick that the client is sent.
TEST("a client joins a room of 2,000 bodies within four ticks over loopback and a local network") {
    static const uint64_t round_trips_ns[] = {50000, 500000};
    for (size_t i = 0; i < 2; ++i) {
        const figures f = measure(HEAP, 150, round_trips_ns[i]);
        printf("round trip %.2f ms: state %6llu bytes, playing after %3llu ms, transfer %3llu ms\n",
            (double)round_trips_ns[i] * 1e-6, (unsigned long long)f.state,
            (unsigned long long)f.join_ns / 1000000, (unsigned long long)f.transfer_ns / 1000000);
        assert_in_range(f.join_ns, 0, 4 * CAIRN_NS_PER_S / 60 + 3 * round_trips_ns[i]);
    }
}
