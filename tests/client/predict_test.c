// SPDX-License-Identifier: MIT
// Predicting clients and a complete server over the virtual network.

#include "tests/kit/test.h"

#include <math.h>

#include "client_lib/client_probe.h"
#include "tests/kit/rig.h"

static uint32_t join(rig *p, const cairn_virtual_path *path) {
    const cairn_client_config config = rig_config(CAIRN_CLIENT_PREDICT);
    return rig_join(p, &config, path);
}

// The server confirmed each tick since `state_tick` once, with an equal root, but for the last few.
static void expect_all_confirmed(const rig *p, uint32_t client, uint64_t state_tick) {
    const cairn_client_statistics s = rig_statistics(p, client);
    const uint64_t confirmed = cairn_client_confirmed_tick(rig_client(p, client));
    assert_int_equal(rig_state(p, client), CAIRN_CLIENT_PLAYING);
    assert_int_equal(s.simulation.roots_differed, 0);
    assert_int_equal(s.simulation.roots_compared, confirmed - state_tick);
    assert_true(s.prediction.predicted_ticks <=
                cairn_client_probe_of(rig_client(p, client)).predict->config.window_ticks);
    assert_true(confirmed + 90 > cairn_world_tick(rig_server_world(p)));
}

TEST("the confirmed world is the server's on every path") {
    static const struct {
        cairn_virtual_path path;
        int32_t drift_ppm;
    } rows[] = {{{.delay_ns = 10000000}, 0},
        {{.delay_ns = 50000000, .jitter_ns = 10000000, .loss_permille = 50}, 1000},
        {{.delay_ns = 25000000, .jitter_ns = 40000000, .loss_permille = 300}, -1000},
        {{.delay_ns = 200000000, .jitter_ns = 10000000, .loss_permille = 20}, 1000}};
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(rig) p;
        uint64_t state_tick[2];
        rig_start(&p, .seed = 1 + i);
        p.drift_ppm = rows[i].drift_ppm;
        join(&p, &rows[i].path);
        join(&p, &rows[i].path);
        rig_wait_to_play(&p);
        for (uint32_t c = 0; c < 2; c++) {
            const cairn_client_statistics s = rig_statistics(&p, c);
            state_tick[c] =
                cairn_client_confirmed_tick(rig_client(&p, c)) - s.simulation.roots_compared;
            assert_int_equal(s.simulation.states_loaded, 1);
        }
        rig_play(&p, i, 5000);
        for (uint32_t c = 0; c < 2; c++) {
            expect_all_confirmed(&p, c, state_tick[c]);
            assert_true(rig_statistics(&p, c).prediction.rollbacks > 0);
        }
        const cairn_server_statistics server = rig_server_statistics(&p);
        assert_true(server.total.roots_compared >= 6); // one in 64 ticks of each client
        assert_int_equal(server.total.roots_differed, 0);
        // What the clients reported of their rollbacks, a second before the end or sooner.
        const cairn_client_prediction_statistics a = rig_statistics(&p, 0).prediction;
        const cairn_client_prediction_statistics b = rig_statistics(&p, 1).prediction;
        assert_in_range(
            server.total.rollbacks, (a.rollbacks + b.rollbacks) / 2, a.rollbacks + b.rollbacks);
        assert_in_range(server.total.rollback_ticks, server.total.rollbacks,
            a.rollback_ticks + b.rollback_ticks);
        assert_int_equal(server.total.rollback_reports_bounded, 0);
    }
}

static uint64_t by_cause(const rig *p, uint32_t client, cairn_client_rollback_cause cause) {
    return cairn_client_rollback_count(rig_client(p, client), cause);
}

// Milliseconds from a push to the first picture in which the last body moves: the box of the player
// who joined last.
static uint64_t ms_until_player_moves(rig *p, uint32_t client) {
    assert_true(rig_look(p, client));
    const uint32_t last = p->views[client].sample.body_count - 1;
    const float x = p->views[client].bodies[last].position[0];
    assert_true(rig_press(p, client, 0, 1.0f));
    for (uint64_t ms = 2; ms < 2000; ms += 2) {
        rig_run_ms(p, 2);
        assert_true(rig_look(p, client));
        if (fabsf(p->views[client].bodies[last].position[0] - x) > 1e-4f) {
            return ms;
        }
    }
    return 2000;
}

TEST("the player's own input shows after the input delay, not after the round trip") {
    static const cairn_virtual_path path = {.delay_ns = 60000000};
    // Adaptive, and fixed to one tick: then all the rest of the path is predicted.
    for (int fixed = 0; fixed < 2; fixed++) {
        cairn_client_config config = rig_config(CAIRN_CLIENT_PREDICT);
        config.input_delay_ms = fixed ? 17 : 0;
        RIG(p, .seed = 21, .clients = 1, .config = &config, .path = &path);
        rig_run_ms(&p, 3500);
        const cairn_client_statistics s = rig_statistics(&p, 0);
        assert_in_range(s.connection.rtt_ns, 115000000, 135000000);
        assert_int_equal(s.inputs.delay_ticks, fixed ? 1 : 3);
        assert_in_range(s.prediction.predicted_ticks, 4, fixed ? 12 : 8);
        // The delay, and the time to draw a picture.
        assert_in_range(ms_until_player_moves(&p, 0), fixed ? 10 : 34, fixed ? 50 : 90);
        rig_run_ms(&p, 1000);
        assert_int_equal(rig_statistics(&p, 0).prediction.rollbacks, 0); // there is no other player
    }
}

TEST("over a short path inputs are delayed and nothing is predicted") {
    static const cairn_virtual_path path = {.delay_ns = 5000000};
    RIG(p, .seed = 23);
    join(&p, &path);
    join(&p, &path);
    rig_run_ms(&p, 4000);
    rig_play(&p, 3, 4000);
    const cairn_client_statistics s = rig_statistics(&p, 0);
    assert_in_range(s.inputs.delay_ticks, 1, 3);
    assert_true(s.prediction.predicted_ticks <= 1);
    assert_int_equal(s.simulation.roots_differed, 0);
}

TEST("the picture does not jump when the world is rolled back") {
    static const cairn_virtual_path path = {.delay_ns = 60000000};
    RIG(p, .seed = 24);
    join(&p, &path);
    join(&p, &path);
    rig_run_ms(&p, 3000);
    float error = 0;
    float jump = 0;
    float before[RIG_BODIES_MAX];
    assert_true(rig_look(&p, 0));
    const uint32_t count = p.views[0].sample.body_count;
    for (uint32_t ms = 0; ms < 3000; ms += 2) {
        if (ms % 500 == 0) {
            rig_press(&p, 1, 0, ms % 1000 == 0 ? 1.0f : -1.0f);
        }
        rig_look(&p, 0);
        for (uint32_t i = 0; i < count; i++) {
            before[i] = p.views[0].bodies[i].position[0];
        }
        rig_run_ms(&p, 2);
        rig_look(&p, 0);
        assert_int_equal(p.views[0].sample.body_count, count);
        for (uint32_t i = 0; i < count; i++) {
            jump = fmaxf(jump, fabsf(p.views[0].bodies[i].position[0] - before[i]));
        }
    }
    cairn_client_rollback rollbacks[64];
    const uint32_t held = cairn_client_rollbacks(rig_client(&p, 0), rollbacks, 64);
    for (uint32_t i = 0; i < held; i++) {
        error = fmaxf(error, rollbacks[i].error_m_max);
    }
    assert_true(error > 0.1f);
    // The player itself moves 12 mm in 2 ms, at 6 m/s.
    assert_true(jump < 0.015f);
}

TEST("a rollback names its cause") {
    static const cairn_virtual_path path = {.delay_ns = 60000000};
    RIG(p, .seed = 25);
    join(&p, &path);
    rig_run_ms(&p, 2000);
    join(&p, &path);
    rig_run_ms(&p, 2000);
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_JOIN_LEAVE), 1);
    const uint64_t wrong = by_cause(&p, 0, CAIRN_ROLLBACK_WRONG_PREDICTION);
    assert_true(wrong <= 1); // by the first input of the player who joined
    rig_press(&p, 1, 0, 1.0f);
    rig_run_ms(&p, 1000);
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_WRONG_PREDICTION), wrong + 1);
    cairn_client_rollback last;
    assert_int_equal(cairn_client_rollbacks(rig_client(&p, 0), &last, 1), 1);
    assert_int_equal(last.slot, rig_statistics(&p, 1).connection.slot);
    assert_in_range(last.ticks, 2, 10);
    assert_int_equal(last.bodies_moved, 1);
    assert_true(last.error_m_max > 1e-3f);
    // The path from the second player to the server is cut for a while, so its inputs are missing.
    // Its client reports its own input as the cause, and the other client reports a late input.
    cairn_virtual_path *up = cairn_virtual_path_between(
        p.system.network, p.system.clients[1].endpoint, p.system.server_endpoint);
    up->cut = true;
    rig_run_ms(&p, 300);
    up->cut = false;
    rig_run_ms(&p, 1000);
    assert_true(by_cause(&p, 0, CAIRN_ROLLBACK_LATE_INPUT) >= 1);
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_OWN_INPUT), 0);
    assert_true(by_cause(&p, 1, CAIRN_ROLLBACK_OWN_INPUT) >= 1);
    assert_int_equal(by_cause(&p, 1, CAIRN_ROLLBACK_LATE_INPUT), 0);
    // The path to the first player is cut while the second changes direction: the message about
    // that is lost, and the next one repeats it.
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_LOST_PACKET), 0);
    cairn_virtual_path *down = cairn_virtual_path_between(
        p.system.network, p.system.server_endpoint, p.system.clients[0].endpoint);
    rig_press(&p, 1, 0, -1.0f);
    rig_run_ms(&p, 60);
    down->cut = true;
    rig_run_ms(&p, 150);
    down->cut = false;
    rig_run_ms(&p, 1000);
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_LOST_PACKET), 1);
    cairn_client_disconnect(rig_client(&p, 1), rig_client_now_ns(&p, 1));
    rig_run_ms(&p, 1000);
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_JOIN_LEAVE), 2);
    assert_int_equal(rig_statistics(&p, 0).simulation.roots_differed, 0);
}

typedef enum stall { STALL_CLIENT, STALL_SERVER, STALL_PATH, STALL_COUNT } stall;

static void set_stall(rig *p, stall kind, bool on) {
    if (kind == STALL_CLIENT) {
        rig_pause(p, 0, on);
    } else if (kind == STALL_SERVER) {
        rig_pause_server(p, on);
    } else {
        rig_cut(p, 0, on);
    }
}

static uint64_t steps_most; // of client 0 in one turn of its host
static uint64_t steps_seen;

static void count_steps(void *user, uint32_t client) {
    if (client == 0) {
        const uint64_t steps = rig_statistics(user, 0).simulation.ticks_stepped;
        steps_most = steps - steps_seen > steps_most ? steps - steps_seen : steps_most;
        steps_seen = steps;
    }
}

// The client, the server or the path stalls for five seconds. One second later the client is at the
// right tick and its inputs arrive in time. No advance steps more than it may.
TEST("a client has recovered a second after a stall") {
    static const cairn_virtual_path path = {.delay_ns = 40000000, .jitter_ns = 5000000};
    for (stall kind = 0; kind < STALL_COUNT; kind++) {
        RIG(p, .seed = 31, .timeout_s = 20);
        join(&p, &path);
        join(&p, &path);
        rig_run_ms(&p, 1500);
        rig_play(&p, 1, 1500);
        set_stall(&p, kind, true);
        rig_run_ms(&p, 5000);
        set_stall(&p, kind, false);
        steps_seen = rig_statistics(&p, 0).simulation.ticks_stepped;
        steps_most = 0;
        p.system.after_client = count_steps;
        rig_run_ms(&p, 1000);
        assert_in_range(steps_most, 1, 32);
        const cairn_client_statistics s = rig_statistics(&p, 0);
        const uint64_t confirmed = cairn_client_confirmed_tick(rig_client(&p, 0));
        const uint64_t predicted = cairn_world_tick(cairn_client_world(rig_client(&p, 0)));
        assert_in_range(cairn_world_tick(rig_server_world(&p)), confirmed + 1, confirmed + 6);
        assert_in_range(predicted, confirmed + 1, confirmed + 10);
        assert_int_equal(s.simulation.roots_differed, 0);
        assert_true(ms_until_player_moves(&p, 0) < 150);
        rig_run_ms(&p, 1000);
        assert_int_equal(rig_statistics(&p, 0).inputs.late, s.inputs.late);
    }
}
