// SPDX-License-Identifier: MIT
// Whole clients of every mode in a room whose time an operator bends and whose world is replaced,
// over paths that lose and reorder: nobody is lost, nobody takes one world for another.
#include "tests/kit/test.h"

#include <string.h>

#include "tests/kit/rig.h"
#include <cairn/control.h>
#include <cairn/sim.h>

enum { OPERATOR, LOCKSTEP, PREDICT, HEAL, PLAYER, CLIENTS };

static rig p; // too large for a stack

static const cairn_scene *find_scene(void *user, const char *name) {
    (void)user;
    (void)name;
    return kit_scene_stack_and_row();
}

static void with_control(cairn_server_config *config) {
    config->control = true;
    config->find_scene = find_scene;
}

static void join(cairn_client_mode mode, bool spectator) {
    const cairn_virtual_path path = {
        .delay_ns = 30000000, .jitter_ns = 80000000, .loss_permille = 30, .repeat_permille = 20};
    cairn_client_config config = cairn_client_config_default();
    config.mode = mode;
    config.spectator = spectator;
    rig_join(&p, &config, &path);
}

static void start(void) {
    rig_start(&p, .seed = 11, .configure = with_control);
    p.operators = true;
    join(CAIRN_CLIENT_INTERPOLATE, true);
    p.operators = false;
    join(CAIRN_CLIENT_LOCKSTEP, false);
    join(CAIRN_CLIENT_PREDICT, false);
    join(CAIRN_CLIENT_HEAL, false);
    join(CAIRN_CLIENT_INTERPOLATE, false);
    rig_wait_to_play(&p);
    rig_play(&p, 3, 1000);
}

// Asks as the operator and lets time pass until the answer is there.
static cairn_client_reply ask(cairn_client_request request) {
    cairn_client *client = rig_client(&p, OPERATOR);
    cairn_client_reply reply = {.words = ""};
    const uint32_t number = cairn_client_ask(client, &request);
    assert_int_not_equal(number, 0);
    for (uint32_t i = 0; i < 500; i++) {
        rig_run_ms(&p, 10);
        if (cairn_client_next_reply(client, &reply)) {
            assert_int_equal(reply.request, number);
            return reply;
        }
    }
    fail_msg("no answer");
    return reply;
}

static uint64_t done(const char *verb, cairn_client_request request) {
    request.verb = cairn_client_verb_find(verb);
    const cairn_client_reply reply = ask(request);
    if (reply.refusal != 0) {
        fail_msg("%s: %s", verb, reply.words);
    }
    return reply.tick;
}

static uint64_t server_tick(void) {
    return cairn_world_tick(cairn_server_world(p.system.server, CAIRN_ROOM_MAIN));
}

// Everybody plays, at the server's tick, and agrees with it.
static void expect_all_well(const char *when) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const cairn_client_statistics told = rig_statistics(&p, i);
        if (rig_state(&p, i) != CAIRN_CLIENT_PLAYING) {
            fail_msg("%s: client %u is not playing: %s", when, i,
                cairn_client_failure_text(rig_client(&p, i)));
        }
        if (told.connection.server_tick > server_tick() ||
            told.connection.server_tick + 40 < server_tick()) {
            fail_msg("%s: client %u heard of tick %lu, the server is at %lu", when, i,
                (unsigned long)told.connection.server_tick, (unsigned long)server_tick());
        }
        if (told.simulation.roots_differed != 0) {
            fail_msg("%s: client %u has another world", when, i);
        }
    }
    cairn_server_statistics server;
    cairn_server_statistics_read(p.system.server, &server);
    assert_int_equal(server.roots_differed, 0);
    assert_int_equal(server.protocol_violations, 0);
}

TEST("a long pause costs nobody the connection") {
    start();
    const uint64_t tick = done("pause", (cairn_client_request){.verb = 0});
    rig_run_ms(&p, 8000);
    assert_int_equal(server_tick(), tick);
    expect_all_well("paused");
    done("step", (cairn_client_request){.count = 30});
    rig_run_ms(&p, 500);
    expect_all_well("stepped");
    // It shows the newest, not what is about to be.
    const cairn_world *shown = cairn_client_world(rig_client(&p, LOCKSTEP));
    assert_int_equal(cairn_world_tick(shown), tick + 30);
    done("resume", (cairn_client_request){.verb = 0});
    rig_play(&p, 4, 2000);
    expect_all_well("resumed");
    rig_end(&p);
}

TEST("all follow into another world") {
    start();
    done("save", (cairn_client_request){.name = "early"});
    rig_play(&p, 5, 1000);
    done("reset", (cairn_client_request){.seed = 9, .mask = 1});
    rig_play(&p, 6, 1500);
    expect_all_well("reset");
    const uint64_t tick = server_tick();
    done("load", (cairn_client_request){.name = "early"});
    rig_play(&p, 7, 1200);
    expect_all_well("loaded");
    done("seek", (cairn_client_request){.tick = server_tick() - 60});
    rig_play(&p, 8, 1200);
    expect_all_well("sought");
    done("load", (cairn_client_request){.name = "early"});
    done("load", (cairn_client_request){.name = "early"});
    rig_play(&p, 9, 1200);
    expect_all_well("loaded twice");
    assert_true(tick > 0);
    rig_end(&p);
}

TEST("all follow another rate") {
    static const uint32_t rates[] = {500, 2000};
    start();
    for (uint32_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const uint64_t tick = done("rate", (cairn_client_request){.count = rates[i]});
        rig_play(&p, 10 + i, 2000);
        expect_all_well("another rate");
        assert_in_range(server_tick() - tick, rates[i] * 115 / 1000, rates[i] * 130 / 1000);
    }
    rig_end(&p);
}

TEST("requests out of bounds are not sent") {
    static const float bad[1] = {0x1p127f * 2.0f};
    static const float many[65];
    const cairn_client_request rows[] = {
        {.verb = 1, .room = "a name of more than thirty-one bytes"},
        {.verb = 1, .name = "tab\there"},
        {.verb = 1, .numbers = bad, .number_count = 1},
        {.verb = 1, .numbers = many, .number_count = 65},
        {.verb = 1, .byte_count = 4097},
    };
    start();
    cairn_client *client = rig_client(&p, OPERATOR);
    assert_true(cairn_client_is_operator(client));
    assert_false(cairn_client_is_operator(rig_client(&p, PLAYER)));
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(cairn_client_ask(client, &rows[i]), 0);
    }
    cairn_client *alone = cairn_client_create_operator();
    const cairn_client_request features = {.verb = 1};
    assert_int_equal(cairn_client_ask(alone, &features), 0); // not welcomed anywhere
    cairn_client_destroy(alone);
    assert_int_equal(ask(features).refusal, 0);
    rig_end(&p);
}
