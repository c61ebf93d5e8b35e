// SPDX-License-Identifier: MIT
// Predicting clients against a whole server over the virtual network.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>

#include "base/random.h"
#include "client_lib/client_parts.h"
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

// Everybody presses something now and then.
static void play(party *p, uint64_t seed, uint64_t ms) {
    cairn_random random = cairn_random_of(seed);
    for (uint64_t t = 0; t < ms; t += 100) {
        for (uint32_t i = 0; i < p->client_count; i++) {
            if (cairn_random_below(&random, 4) == 0) {
                party_press(p, i, 1u << cairn_random_below(&random, 4),
                    (float)cairn_random_below(&random, 3) - 1.0f);
            }
        }
        party_run_ms(p, 100);
    }
}

// Each tick since the state was confirmed by an equal root, once; what is not yet is few.
static void expect_all_confirmed(const party *p, uint32_t client, uint64_t state_tick) {
    const cairn_client_statistics s = party_statistics(p, client);
    const uint64_t sure = cairn_client_tick_sure(p->clients[client].client);
    assert_int_equal(party_state(p, client), CAIRN_CLIENT_PLAYING);
    assert_int_equal(s.roots_differed, 0);
    assert_int_equal(s.roots_compared, sure - state_tick);
    assert_true(s.predicted_ticks <= p->clients[client].client->predict.config.window_ticks);
    assert_true(sure + 90 > cairn_world_tick(cairn_server_world(p->server, CAIRN_ROOM_MAIN)));
}

static void wait_to_play(party *p) {
    for (uint32_t i = 0; i < p->client_count; i++) {
        for (int k = 0; k < 100 && party_state(p, i) != CAIRN_CLIENT_PLAYING; k++) {
            party_run_ms(p, 100);
        }
        assert_int_equal(party_state(p, i), CAIRN_CLIENT_PLAYING);
    }
}

static void what_is_confirmed_is_the_servers_on_every_path(void **state) {
    (void)state;
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
        wait_to_play(&p);
        for (uint32_t c = 0; c < 2; c++) {
            const cairn_client_statistics s = party_statistics(&p, c);
            state_tick[c] = cairn_client_tick_sure(p.clients[c].client) - s.roots_compared;
            assert_int_equal(s.states_loaded, 1);
        }
        play(&p, i, 5000);
        for (uint32_t c = 0; c < 2; c++) {
            expect_all_confirmed(&p, c, state_tick[c]);
            assert_true(party_statistics(&p, c).rollbacks > 0);
        }
        cairn_server_statistics server;
        cairn_server_statistics_read(p.server, &server);
        assert_true(server.roots_compared > 300);
        assert_int_equal(server.roots_differed, 0);
        party_end(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_confirmed_is_the_servers_on_every_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
