// SPDX-License-Identifier: MIT
// What a predicting client may cost, and how it recovers when its world is too old.

#include "tests/kit/test.h"

#include <malloc.h>

#include "client_lib/client_probe.h"
#include "server/core/server_state.h"
#include "tests/kit/rig.h"

static const cairn_virtual_path usual = {
    .delay_ns = 60000000, .jitter_ns = 8000000, .loss_permille = 20};

// A clock that advances by the same time with each reading.
typedef struct slow_clock {
    uint64_t now_ns;
    uint64_t reading_ns;
} slow_clock;

static uint64_t read_slow_clock(void *context) {
    slow_clock *clock = context;
    clock->now_ns += clock->reading_ns;
    return clock->now_ns;
}

static uint64_t long_rollbacks(const rig *p, uint32_t client) {
    cairn_client_rollback rollbacks[CAIRN_CLIENT_ROLLBACKS_HELD];
    const uint32_t count =
        cairn_client_rollbacks(rig_client(p, client), rollbacks, CAIRN_CLIENT_ROLLBACKS_HELD);
    uint64_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(rollbacks[i].advances >= 1);
        found += rollbacks[i].advances > 1 ? 1 : 0;
    }
    return found;
}

TEST("a rollback beyond its budget continues in the next advance") {
    for (int by_time = 0; by_time < 2; by_time++) {
        slow_clock clock = {.reading_ns = 1000000};
        cairn_client_config config = rig_config(CAIRN_CLIENT_PREDICT);
        config.resim_ticks_max = by_time ? 32 : 3;
        config.resim_budget_us = by_time ? 3000 : 0;
        config.clock_ns = by_time ? read_slow_clock : NULL;
        config.clock_context = &clock;
        // The first row's delay is fixed, so that more is predicted than an advance can step.
        config.input_delay_ms = by_time ? 0 : 17;
        RIG(p, .seed = 41, .clients = 2, .config = &config, .path = &usual);
        rig_run_ms(&p, 1000);
        for (int i = 0; i < 40; i++) {
            uint64_t stepped = rig_statistics(&p, 0).simulation.ticks_stepped;
            rig_play(&p, (uint64_t)i, 100);
            // Six deadlines in 100 ms, some followed by one more at the end of a tick.
            assert_true(rig_statistics(&p, 0).simulation.ticks_stepped - stepped <= 13 * 3);
        }
        const cairn_client_statistics s = rig_statistics(&p, 0);
        assert_true(s.prediction.rollbacks > 5 && (by_time || s.prediction.over_budget > 0));
        assert_true(by_time || long_rollbacks(&p, 0) > 0);
        assert_int_equal(s.simulation.roots_differed, 0);
        assert_true(s.simulation.roots_compared > 200);
        if (by_time) { // the delay controller does not predict what cannot be stepped again
            assert_true(s.prediction.predicted_ticks <= 5);
            assert_true(s.inputs.delay_ticks > 3);
        }
    }
}

// A box that was spawned by prediction does not exist in the world that a rollback went back to.
TEST("shapes can be read while a rollback is under way") {
    cairn_client_config config = rig_config(CAIRN_CLIENT_PREDICT);
    config.resim_ticks_max = 2;
    config.resim_budget_us = 0;
    config.input_delay_ms = 17;
    RIG(p, .seed = 49, .clients = 2, .config = &config, .path = &usual);
    const cairn_predict *predict = cairn_client_probe_of(rig_client(&p, 0)).predict;
    uint32_t in_a_rollback = 0;
    for (uint32_t i = 0; i < 1500; i++) {
        cairn_client_shape shapes[128];
        rig_press(&p, 0, i % 60 < 30 ? CAIRN_SANDBOX_SPAWN : 0, i % 100 < 50 ? 1.0f : -1.0f);
        rig_press(&p, 1, i % 80 < 40 ? CAIRN_SANDBOX_SPAWN : 0, i % 60 < 30 ? 1.0f : -1.0f);
        rig_run_ms(&p, 2);
        const uint32_t count = cairn_client_shapes(rig_client(&p, 0), shapes, 128, NULL);
        assert_true(count >= 12);
        in_a_rollback += predict->open ? 1 : 0;
    }
    assert_true(in_a_rollback > 100);
}

TEST("a client that can save few states waits for the server, one that can save none is lockstep") {
    for (int none = 0; none < 2; none++) {
        cairn_client_config config = rig_config(CAIRN_CLIENT_PREDICT);
        config.rollback_memory_max = none ? 0 : 60000; // a few states of this scene
        RIG(p, .seed = 42, .clients = 1, .config = &config, .path = &usual);
        rig_play(&p, 4, 3000);
        const cairn_client_statistics s = rig_statistics(&p, 0);
        assert_true(none || s.prediction.window_full > 0);
        assert_true(!none || (s.prediction.predicted_ticks == 0 && s.prediction.rollbacks == 0));
        assert_int_equal(s.simulation.roots_differed, 0);
        assert_true(s.simulation.roots_compared > 150);
    }
}

TEST("a predicting client allocates nothing while it plays") {
    const cairn_client_config config = rig_config(CAIRN_CLIENT_PREDICT);
    RIG(p, .seed = 44, .clients = 2, .config = &config, .path = &usual);
    // The server's state history grows with its world; only the client's memory is compared here.
    cairn_room *room = cairn_room_table_at(&p.system.server->rooms, CAIRN_ROOM_MAIN);
    room->resync->states_required =
        (room->settings.tick_rate_hz * CAIRN_SERVER_RESYNC_STATE_HISTORY_MS + 999) / 1000;
    cairn_state_history_require(room->state_history, CAIRN_STATE_HISTORY_FOR_RESYNC, 0);
    rig_play(&p, 1, 1000);
    const uint64_t before = rig_statistics(&p, 0).prediction.rollbacks;
    const struct mallinfo2 a = mallinfo2();
    rig_play(&p, 2, 3000);
    const struct mallinfo2 b = mallinfo2();
    assert_int_equal(a.uordblks + a.hblkhd, b.uordblks + b.hblkhd);
    assert_true(rig_statistics(&p, 0).prediction.rollbacks > before + 3);
}

// By then the server no longer has the ticks that the client lacks. It sends its state, which the
// client has loaded within a second.
TEST("after a pause longer than the server's history of ticks the client gets a new state") {
    const cairn_client_config config = rig_config(CAIRN_CLIENT_PREDICT);
    RIG(p, .seed = 47, .clients = 1, .config = &config, .timeout_s = 60);
    rig_run_ms(&p, 1000);
    const uint64_t before = rig_statistics(&p, 0).simulation.ticks_stepped;
    rig_pause(&p, 0, true);
    rig_run_ms(&p, 25000);
    rig_pause(&p, 0, false);
    rig_run_ms(&p, 1500);
    const cairn_client_statistics s = rig_statistics(&p, 0);
    const uint64_t confirmed = cairn_client_confirmed_tick(rig_client(&p, 0));
    const uint64_t tick = cairn_world_tick(rig_server_world(&p));
    assert_int_equal(rig_state(&p, 0), CAIRN_CLIENT_PLAYING);
    assert_int_equal(s.simulation.states_loaded, 2);
    assert_int_equal(s.simulation.roots_differed, 0);
    assert_in_range(tick, confirmed, confirmed + 6);
    // Of the ticks of the pause it stepped only those after that state.
    assert_true(s.simulation.ticks_stepped - before < 1000);
    assert_true(rig_press(&p, 0, 0, 1.0f));
    rig_run_ms(&p, 500);
    assert_int_equal(rig_statistics(&p, 0).inputs.late, s.inputs.late);
}

TEST("lockstep makes inputs as far ahead as the path needs or as configured") {
    static const cairn_virtual_path path = {.delay_ns = 60000000};
    static const struct {
        uint32_t configured_ms;
        uint32_t low_ms, high_ms; // of the lead
        bool late;
    } rows[] = {{0, 120, 170, false}, {250, 250, 250, false}, {40, 40, 40, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cairn_client_config config = rig_config(CAIRN_CLIENT_LOCKSTEP);
        config.input_delay_ms = rows[i].configured_ms;
        RIG(p, .seed = 48, .clients = 1, .config = &config, .path = &path);
        rig_run_ms(&p, 3000);
        const cairn_client_statistics before = rig_statistics(&p, 0);
        rig_run_ms(&p, 1000);
        const cairn_client_statistics s = rig_statistics(&p, 0);
        assert_in_range(s.inputs.lead_ns / 1000000, rows[i].low_ms, rows[i].high_ms);
        assert_int_equal(s.inputs.late > before.inputs.late, rows[i].late);
        assert_int_equal(s.simulation.roots_differed, 0);
    }
}
