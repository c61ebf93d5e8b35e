// SPDX-License-Identifier: MIT
// Predicting clients against a whole server over the virtual network.

#include "tests/kit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client_lib/client_probe.h"
#include "tests/client/party.h"

static cairn_client_config predicting(void) {
    cairn_client_config config = cairn_client_config_default();
    config.mode = CAIRN_CLIENT_PREDICT;
    return config;
}

static uint32_t join(party *p, const cairn_virtual_path *path) {
    const cairn_client_config config = predicting();
    return party_join(p, &config, path);
}

// Each tick since the state was confirmed by an equal root, once; what is not yet is few.
static void expect_all_confirmed(const party *p, uint32_t client, uint64_t state_tick) {
    const cairn_client_statistics s = party_statistics(p, client);
    const uint64_t sure = cairn_client_confirmed_tick(p->clients[client].client);
    assert_int_equal(party_state(p, client), CAIRN_CLIENT_PLAYING);
    assert_int_equal(s.simulation.roots_differed, 0);
    assert_int_equal(s.simulation.roots_compared, sure - state_tick);
    assert_true(s.prediction.predicted_ticks <=
                cairn_client_probe_of(p->clients[client].client).predict->config.window_ticks);
    assert_true(sure + 90 > cairn_world_tick(cairn_server_world(p->server, CAIRN_ROOM_MAIN)));
}

TEST("what is confirmed is the servers on every path") {
    static const struct {
        cairn_virtual_path path;
        int32_t drift_ppm;
    } rows[] = {
        {{.delay_ns = 10000000}, 0},
        {{.delay_ns = 50000000, .jitter_ns = 10000000, .loss_permille = 50}, 1000},
        {{.delay_ns = 25000000, .jitter_ns = 40000000, .loss_permille = 300}, -1000},
        {{.delay_ns = 200000000, .jitter_ns = 10000000, .loss_permille = 20}, 1000},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        party p;
        uint64_t state_tick[2];
        party_start(&p, 1 + i);
        p.drift_ppm = rows[i].drift_ppm;
        join(&p, &rows[i].path);
        join(&p, &rows[i].path);
        party_wait_to_play(&p);
        for (uint32_t c = 0; c < 2; c++) {
            const cairn_client_statistics s = party_statistics(&p, c);
            state_tick[c] =
                cairn_client_confirmed_tick(p.clients[c].client) - s.simulation.roots_compared;
            assert_int_equal(s.simulation.states_loaded, 1);
        }
        party_play(&p, i, 5000);
        for (uint32_t c = 0; c < 2; c++) {
            expect_all_confirmed(&p, c, state_tick[c]);
            assert_true(party_statistics(&p, c).prediction.rollbacks > 0);
        }
        cairn_server_statistics server;
        cairn_server_statistics_read(p.server, &server);
        assert_true(server.roots_compared > 300);
        assert_int_equal(server.roots_differed, 0);
        party_end(&p);
    }
}

static cairn_client *client_of(const party *p, uint32_t client) {
    return p->clients[client].client;
}

static uint64_t by_cause(const party *p, uint32_t client, cairn_client_rollback_cause cause) {
    return cairn_client_rollback_count(client_of(p, client), cause);
}

static const cairn_world *server_world(const party *p) {
    return cairn_server_world(p->server, CAIRN_ROOM_MAIN);
}

// Milliseconds from a push to the first picture in which the last body (the player's box, that
// joined last) moves.
static uint64_t ms_until_it_moves(party *p, uint32_t client) {
    assert_true(party_look(p, client));
    const uint32_t last = p->clients[client].sample.body_count - 1;
    const float x = p->clients[client].bodies[last].position[0];
    assert_true(party_press(p, client, 0, 1.0f));
    for (uint64_t ms = 2; ms < 2000; ms += 2) {
        party_run_ms(p, 2);
        assert_true(party_look(p, client));
        if (fabsf(p->clients[client].bodies[last].position[0] - x) > 1e-4f) {
            return ms;
        }
    }
    return 2000;
}

TEST("own input shows after the delay not after the round trip") {
    static const cairn_virtual_path path = {.delay_ns = 60000000};
    party p;
    party_start(&p, 21);
    join(&p, &path);
    party_run_ms(&p, 4000);
    const cairn_client_statistics s = party_statistics(&p, 0);
    assert_in_range(s.connection.rtt_ns, 115000000, 135000000);
    assert_int_equal(s.inputs.delay_ticks, 3);
    assert_in_range(s.prediction.predicted_ticks, 4, 8);
    assert_in_range(ms_until_it_moves(&p, 0), 34, 90); // three ticks and what a picture takes
    party_run_ms(&p, 1000);
    assert_int_equal(party_statistics(&p, 0).prediction.rollbacks, 0); // nobody else is there
    party_end(&p);
    // A delay that the host fixes: next to none, all predicted.
    cairn_client_config config = predicting();
    config.input_delay_ms = 17;
    party_start(&p, 22);
    party_join(&p, &config, &path);
    party_run_ms(&p, 4000);
    assert_int_equal(party_statistics(&p, 0).inputs.delay_ticks, 1);
    assert_in_range(ms_until_it_moves(&p, 0), 10, 50);
    party_end(&p);
}

TEST("a short path is delayed and not predicted") {
    static const cairn_virtual_path path = {.delay_ns = 5000000};
    party p;
    party_start(&p, 23);
    join(&p, &path);
    join(&p, &path);
    party_run_ms(&p, 4000);
    party_play(&p, 3, 4000);
    const cairn_client_statistics s = party_statistics(&p, 0);
    assert_in_range(s.inputs.delay_ticks, 1, 3);
    assert_true(s.prediction.predicted_ticks <= 1);
    assert_int_equal(s.simulation.roots_differed, 0);
    party_end(&p);
}

// What is shown goes on without a jump although the world went back under it.
TEST("corrections glide") {
    static const cairn_virtual_path path = {.delay_ns = 60000000};
    party p;
    party_start(&p, 24);
    join(&p, &path);
    join(&p, &path);
    party_run_ms(&p, 3000);
    float error = 0;
    float jump = 0;
    float before[PARTY_BODIES_MAX];
    assert_true(party_look(&p, 0));
    const uint32_t count = p.clients[0].sample.body_count;
    for (uint32_t ms = 0; ms < 3000; ms += 2) {
        if (ms % 500 == 0) {
            party_press(&p, 1, 0, ms % 1000 == 0 ? 1.0f : -1.0f);
        }
        party_look(&p, 0);
        for (uint32_t i = 0; i < count; i++) {
            before[i] = p.clients[0].bodies[i].position[0];
        }
        party_run_ms(&p, 2);
        party_look(&p, 0);
        assert_int_equal(p.clients[0].sample.body_count, count);
        for (uint32_t i = 0; i < count; i++) {
            jump = fmaxf(jump, fabsf(p.clients[0].bodies[i].position[0] - before[i]));
        }
    }
    cairn_client_rollback rollbacks[64];
    const uint32_t held = cairn_client_rollbacks(client_of(&p, 0), rollbacks, 64);
    for (uint32_t i = 0; i < held; i++) {
        error = fmaxf(error, rollbacks[i].error_m_max);
    }
    assert_true(error > 0.1f);
    // The player itself, at 6 m/s, makes 12 mm in two milliseconds.
    assert_true(jump < 0.015f);
    party_end(&p);
}

TEST("rollbacks name their cause") {
    static const cairn_virtual_path path = {.delay_ns = 60000000};
    party p;
    party_start(&p, 25);
    join(&p, &path);
    party_run_ms(&p, 2000);
    join(&p, &path);
    party_run_ms(&p, 2000);
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_JOIN_LEAVE), 1);
    const uint64_t wrong = by_cause(&p, 0, CAIRN_ROLLBACK_WRONG_PREDICTION);
    assert_true(wrong <= 1); // the first input of who joined
    party_press(&p, 1, 0, 1.0f);
    party_run_ms(&p, 1000);
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_WRONG_PREDICTION), wrong + 1);
    cairn_client_rollback last;
    assert_int_equal(cairn_client_rollbacks(client_of(&p, 0), &last, 1), 1);
    assert_int_equal(last.slot, party_statistics(&p, 1).connection.slot);
    assert_in_range(last.ticks, 2, 10);
    assert_int_equal(last.bodies_moved, 1);
    assert_true(last.error_m_max > 1e-3f);
    // The way from the second player to the server is cut for a while: its inputs are lacking,
    // which it sees as its own, and the other as its.
    cairn_virtual_path *up =
        cairn_virtual_path_between(p.network, p.clients[1].endpoint, p.server_endpoint);
    up->cut = true;
    party_run_ms(&p, 300);
    up->cut = false;
    party_run_ms(&p, 1000);
    assert_true(by_cause(&p, 0, CAIRN_ROLLBACK_LATE_INPUT) >= 1);
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_OWN_INPUT), 0);
    assert_true(by_cause(&p, 1, CAIRN_ROLLBACK_OWN_INPUT) >= 1);
    assert_int_equal(by_cause(&p, 1, CAIRN_ROLLBACK_LATE_INPUT), 0);
    // The way to the first player is cut while the second turns round: the word about it is lost
    // and comes with the next.
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_LOST_PACKET), 0);
    cairn_virtual_path *down =
        cairn_virtual_path_between(p.network, p.server_endpoint, p.clients[0].endpoint);
    party_press(&p, 1, 0, -1.0f);
    party_run_ms(&p, 60);
    down->cut = true;
    party_run_ms(&p, 150);
    down->cut = false;
    party_run_ms(&p, 1000);
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_LOST_PACKET), 1);
    cairn_client_disconnect(
        client_of(&p, 1), cairn_virtual_local_ns(p.network, p.clients[1].endpoint));
    party_run_ms(&p, 1000);
    assert_int_equal(by_cause(&p, 0, CAIRN_ROLLBACK_JOIN_LEAVE), 2);
    assert_int_equal(party_statistics(&p, 0).simulation.roots_differed, 0);
    party_end(&p);
}

typedef enum stall { STALL_CLIENT, STALL_SERVER, STALL_PATH, STALL_COUNT } stall;

static void set_stall(party *p, stall kind, bool on) {
    if (kind == STALL_CLIENT) {
        p->clients[0].paused = on;
    } else if (kind == STALL_SERVER) {
        p->server_paused = on;
    } else {
        party_cut(p, 0, on);
    }
}

// Whatever stalls for five seconds: one second after it the client stands where it should, and the
// player's word counts. No advance steps more than it may.
TEST("a stall is over a second after it") {
    static const cairn_virtual_path path = {.delay_ns = 40000000, .jitter_ns = 5000000};
    for (stall kind = 0; kind < STALL_COUNT; kind++) {
        party p;
        party_start(&p, 31);
        p.timeout_s = 20;
        join(&p, &path);
        join(&p, &path);
        party_run_ms(&p, 1500);
        party_play(&p, 1, 1500);
        set_stall(&p, kind, true);
        party_run_ms(&p, 5000);
        set_stall(&p, kind, false);
        uint64_t stepped = party_statistics(&p, 0).simulation.ticks_stepped;
        for (int ms = 0; ms < 1000; ms += 10) {
            party_run_ms(&p, 10);
            const uint64_t now = party_statistics(&p, 0).simulation.ticks_stepped;
            assert_true(now - stepped <= 64); // ten milliseconds are at most two advances
            stepped = now;
        }
        const cairn_client_statistics s = party_statistics(&p, 0);
        const uint64_t sure = cairn_client_confirmed_tick(client_of(&p, 0));
        const uint64_t at = cairn_world_tick(cairn_client_world(client_of(&p, 0)));
        assert_in_range(cairn_world_tick(server_world(&p)), sure + 1, sure + 6);
        assert_in_range(at, sure + 1, sure + 10);
        assert_int_equal(s.simulation.roots_differed, 0);
        assert_true(ms_until_it_moves(&p, 0) < 150);
        party_run_ms(&p, 1000);
        assert_int_equal(party_statistics(&p, 0).inputs.late, s.inputs.late);
        party_end(&p);
    }
}
