// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "base/random.h"
#include "tests/kit/rig.h"
#include <cairn/server_statistics.h>

// Clients whose address changes while they join and play: a NAT forgets them, or another network
// takes over. They go on within a round trip and 100 ms, and no input, tick or hash is lost.

#define DELAY_MS 40

static uint64_t path_changes(const rig *r) {
    cairn_server_statistics statistics;
    cairn_server_statistics_read(r->system.server, &statistics);
    return statistics.path_changes;
}

// How long until the client holds a tick that the server stepped after now, ms.
static uint32_t ms_until_it_hears(rig *r, uint32_t client) {
    const uint64_t tick = rig_statistics(r, client).connection.server_tick;
    for (uint32_t ms = 0; ms < 3000; ms++) {
        rig_run_ms(r, 1);
        // What was on its way to the old address still arrives.
        if (ms > DELAY_MS && rig_statistics(r, client).connection.server_tick > tick + 3) {
            return ms + 1;
        }
    }
    return UINT32_MAX;
}

TEST("a client whose address changes plays on within a round trip and 100 ms") {
    cairn_random random = cairn_random_of(5);
    RIG(r, .clients = 3, .interpolating = 1, .delay_ms = DELAY_MS);
    uint32_t worst[3] = {0};
    for (uint32_t round = 0; round < 30; round++) {
        const uint32_t client = round % 3;
        rig_run_ms(&r, 300 + (uint32_t)cairn_random_below(&random, 500));
        const uint64_t late = rig_statistics(&r, client).inputs.late;
        cairn_system_change_address(&r.system, client);
        const uint32_t ms = ms_until_it_hears(&r, client);
        worst[client] = ms > worst[client] ? ms : worst[client];
        rig_run_ms(&r, 400);
        assert_int_equal(path_changes(&r), round + 1);
        expect_playing(&r, client);
        expect_servers_world(&r, client);
        expect_behind_at_most_ticks(&r, client, 20);
        // Inputs that were made during the silence are late, and none after it.
        const uint64_t then = rig_statistics(&r, client).inputs.late;
        assert_true(then - late < 20);
        rig_run_ms(&r, 400);
        assert_int_equal(rig_statistics(&r, client).inputs.late, then);
    }
    print_message(
        "worst: lockstep %u and %u ms, interpolating %u ms\n", worst[0], worst[1], worst[2]);
    for (uint32_t client = 0; client < 3; client++) {
        // What was on its way to the old address still arrived, so the silence began later; and a
        // tick or a snapshot takes its time to be made.
        assert_true(worst[client] <= DELAY_MS + 2 * DELAY_MS + 100);
    }
    expect_no_difference(&r);
}

TEST("a client whose address changes while it joins gets in") {
    cairn_random random = cairn_random_of(6);
    for (uint32_t seed = 0; seed < 20; seed++) {
        RIG(r, .seed = seed + 1, .clients = 1, .delay_ms = DELAY_MS);
        rig_join_mode(&r, seed % 2 == 0 ? CAIRN_CLIENT_LOCKSTEP : CAIRN_CLIENT_INTERPOLATE);
        // The handshake takes two round trips; a token belongs to the address that showed it.
        rig_run_ms(&r, 5 * DELAY_MS + (uint32_t)cairn_random_below(&random, 500));
        cairn_system_change_address(&r.system, BOB);
        rig_run_ms(&r, 3000);
        expect_playing(&r, BOB);
        expect_servers_world(&r, BOB);
        expect_no_difference(&r);
    }
}

TEST("a client crosses networks with losses again and again") {
    cairn_random random = cairn_random_of(7);
    RIG(r, .clients = 2, .interpolating = 1, .delay_ms = DELAY_MS, .jitter_ms = 20,
        .loss_permille = 100);
    for (uint32_t round = 0; round < 40; round++) {
        cairn_system_change_address(&r.system, round % 2);
        rig_run_ms(&r, 50 + (uint32_t)cairn_random_below(&random, 1500));
    }
    rig_run_ms(&r, 2000);
    for (uint32_t client = 0; client < 2; client++) {
        expect_playing(&r, client);
        expect_servers_world(&r, client);
    }
    expect_no_difference(&r);
}
