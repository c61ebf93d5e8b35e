// SPDX-License-Identifier: MIT
// The cost of a repair: one body of a thousand, over paths from 10 to 300 ms.

#include "tests/kit/test.h"

#include <stdio.h>

#include "client_lib/client_probe.h"
#include "tests/kit/rig.h"

#define PATHS 5
#define TICK_NS UINT64_C(16666667)
static const uint32_t rtts_ms[PATHS] = {10, 30, 80, 150, 300};

static void expect_healed(const rig *p, uint32_t client) {
    cairn_client_resync_record heal;
    const cairn_client_statistics s = rig_statistics(p, client);
    assert_int_equal(s.resync.count, 1);
    assert_int_equal(cairn_client_resyncs(rig_client(p, client), &heal, 1), 1);
    printf("rtt %u ms: %u elements, %u bytes, %u round trips, %u ticks, %.1f ms\n", rtts_ms[client],
        heal.elements, heal.bytes, heal.round_trips, heal.ticks, (double)heal.elapsed_ns * 1e-6);
    assert_int_equal(heal.cause, CAIRN_RESYNC_BY_ELEMENTS);
    assert_int_equal(heal.round_trips, 1);
    assert_in_range(heal.bytes, 1, 2047);
    assert_in_range(heal.elapsed_ns, 1, rtts_ms[client] * UINT64_C(1000000) + 3 * TICK_NS);
    assert_in_range(heal.ticks, 1, (rtts_ms[client] * 60 + 999) / 1000 + 3);
    assert_false(cairn_client_probe_of(rig_client(p, client)).timeline->differs);
    assert_int_equal(s.simulation.states_loaded, 1);
}

TEST("one body of a thousand is repaired in a round trip and three ticks") {
    SCOPED(rig) p;
    cairn_client_config config = rig_config(CAIRN_CLIENT_HEAL);
    config.spectator = true;
    rig_start(&p, .seed = 120, .scene = kit_scene_thousand());
    for (uint32_t i = 0; i < PATHS; ++i) {
        const cairn_virtual_path path = {.delay_ns = rtts_ms[i] * UINT64_C(500000)};
        rig_join(&p, &config, &path);
    }
    rig_wait_to_play(&p);
    rig_run_ms(&p, 600);
    for (uint32_t i = 0; i < PATHS; ++i) {
        assert_true(cairn_client_probe_damage(rig_client(&p, i), 100 + 150 * i));
    }
    rig_run_ms(&p, 600);
    for (uint32_t i = 0; i < PATHS; ++i) {
        expect_healed(&p, i);
    }
}
