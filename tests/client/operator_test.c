// SPDX-License-Identifier: MIT
// Clients of every mode in a room that an operator pauses, slows down and resets, over paths that
// lose and reorder: no client loses its connection or takes data of one world for another's.

#include "tests/kit/test.h"

#include <string.h>

#include "schema/codec.h"
#include "tests/kit/rig.h"
#include <cairn/control.h>
#include <cairn/sim.h>

SCOPE_POINTER_ENDS(cairn_encoder, cairn_encoder_destroy)

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
    cairn_client_config config = rig_config(mode);
    config.spectator = spectator;
    rig_join(&p, &config, &path);
}

BEFORE_EACH {
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

AFTER_EACH {
    rig_end(&p);
}

static cairn_control_answer ask(cairn_control_request request) {
    return rig_ask(&p, OPERATOR, &request);
}

// Sends a request that must succeed. Returns the tick of its answer.
static uint64_t done(cairn_control_request request) {
    return rig_order(&p, OPERATOR, &request).tick;
}

static uint64_t load(const char *name) {
    return done((cairn_control_request){.verb = CAIRN_CONTROL_LOAD, .load = {name}});
}

static uint64_t server_tick(void) {
    return cairn_world_tick(rig_server_world(&p));
}

// Every client plays at the server's tick, with the server's world.
static void expect_same_world(const char *when) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const cairn_client_statistics s = rig_statistics(&p, i);
        if (rig_state(&p, i) != CAIRN_CLIENT_PLAYING) {
            fail_msg("%s: client %u is not playing: %s", when, i,
                cairn_client_failure_text(rig_client(&p, i)));
        }
        if (s.connection.server_tick > server_tick() ||
            s.connection.server_tick + 40 < server_tick()) {
            fail_msg("%s: client %u received tick %lu, the server is at %lu", when, i,
                (unsigned long)s.connection.server_tick, (unsigned long)server_tick());
        }
        if (s.simulation.roots_differed != 0) {
            fail_msg("%s: client %u has another world", when, i);
        }
    }
    const cairn_server_statistics server = rig_server_statistics(&p);
    assert_int_equal(server.total.roots_differed, 0);
    assert_int_equal(server.protocol_violations, 0);
}

TEST("a long pause ends no connection") {
    const uint64_t tick = done((cairn_control_request){.verb = CAIRN_CONTROL_PAUSE});
    rig_run_ms(&p, 8000);
    assert_int_equal(server_tick(), tick);
    expect_same_world("paused");
    done((cairn_control_request){.verb = CAIRN_CONTROL_STEP, .step = {30}});
    rig_run_ms(&p, 500);
    expect_same_world("stepped");
    // The client has stepped the ticks of the request and no more.
    const cairn_world *shown = cairn_client_world(rig_client(&p, LOCKSTEP));
    assert_int_equal(cairn_world_tick(shown), tick + 30);
    done((cairn_control_request){.verb = CAIRN_CONTROL_RESUME});
    rig_play(&p, 4, 2000);
    expect_same_world("resumed");
}

TEST("every client follows into another world") {
    done((cairn_control_request){.verb = CAIRN_CONTROL_SAVE, .save = {"early"}});
    rig_play(&p, 5, 1000);
    done((cairn_control_request){
        .verb = CAIRN_CONTROL_RESET, .reset = {.has_seed = true, .seed = 9}});
    rig_play(&p, 6, 1500);
    expect_same_world("reset");
    const uint64_t tick = server_tick();
    load("early");
    rig_play(&p, 7, 1200);
    expect_same_world("loaded");
    done((cairn_control_request){.verb = CAIRN_CONTROL_SEEK, .seek = {server_tick() - 60}});
    rig_play(&p, 8, 1200);
    expect_same_world("moved to an earlier tick");
    load("early");
    load("early");
    rig_play(&p, 9, 1200);
    expect_same_world("loaded twice");
    assert_true(tick > 0);
}

TEST("every client follows a change of the rate") {
    static const uint32_t rates[] = {500, 2000};
    for (uint32_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        done((cairn_control_request){.verb = CAIRN_CONTROL_RATE, .rate = {rates[i]}});
        const uint64_t tick = server_tick(); // the answer may have been sent again
        rig_play(&p, 10 + i, 2000);
        expect_same_world("another rate");
        assert_in_range(server_tick() - tick, rates[i] * 115 / 1000, rates[i] * 130 / 1000);
    }
}

static const cairn_control_request features = {.verb = CAIRN_CONTROL_FEATURES};

TEST("a request out of bounds is not sent") {
    static char long_name[CAIRN_CONTROL_NAME_SIZE_MAX + 2];
    memset(long_name, 'a', sizeof long_name - 1);
    const float infinite = 0x1p127f * 2.0f;
    const cairn_control_request rows[] = {
        {.verb = CAIRN_CONTROL_FEATURES, .room = "a name of more than thirty-one bytes"},
        {.verb = CAIRN_CONTROL_SAVE, .save = {"tab\there"}},
        {.verb = CAIRN_CONTROL_SAVE, .save = {NULL}},
        {.verb = CAIRN_CONTROL_SAVE, .save = {long_name}},
        {.verb = CAIRN_CONTROL_IMPULSE, .impulse = {.impulse = {0.0f, infinite, 0.0f}}},
        {.verb = CAIRN_CONTROL_SAVE_WRITE, .save_write = {.name = "a", .byte_count = 4097}},
        {.verb = UINT8_MAX + 1},
    };
    cairn_client *client = rig_client(&p, OPERATOR);
    assert_true(cairn_client_is_operator(client));
    assert_false(cairn_client_is_operator(rig_client(&p, PLAYER)));
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(cairn_client_ask(client, &rows[i]), 0);
    }
    cairn_client *alone = cairn_client_create_operator();
    assert_int_equal(cairn_client_ask(alone, &features), 0); // not welcomed anywhere
    cairn_client_destroy(alone);
    assert_int_equal(ask(features).refusal, 0);
}

TEST("requests and answers can be passed in their encoded form") {
    uint8_t unaligned[256] = {0};
    cairn_client *client = rig_client(&p, OPERATOR);
    SCOPED(cairn_encoder) *encoder = NULL;
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder), CAIRN_OK);
    const cairn_message request = {.kind = CAIRN_MESSAGE_CONTROL,
        .control = {.number = 77, .verb = CAIRN_CONTROL_STATE, .room = ""}};
    const uint8_t *bytes = NULL;
    size_t size = 0;
    assert_int_equal(cairn_message_encode(encoder, &request, &bytes, &size), CAIRN_OK);
    assert_true(size < sizeof unaligned);
    memcpy(unaligned + 1, bytes, size);
    assert_int_equal(cairn_client_ask_encoded(client, unaligned + 1, size - 8), 0);
    assert_int_equal(cairn_client_ask_encoded(client, unaligned + 1, 0), 0);
    const uint32_t number = cairn_client_ask_encoded(client, unaligned + 1, size);
    assert_int_not_equal(number, 0);
    size = 0;
    for (uint32_t i = 0; i < 500 && size == 0; i++) {
        rig_run_ms(&p, 10);
        size = cairn_client_next_answer_encoded(client, &bytes);
    }
    assert_true(size > 0);
    cairn_message answer;
    assert_int_equal(cairn_message_decode(bytes, size, CAIRN_TO_CLIENT, &answer), CAIRN_DECODE_OK);
    assert_int_equal(answer.answer.number, number);
    assert_int_equal(answer.answer.verb, CAIRN_CONTROL_STATE);
    assert_int_equal(answer.answer.state.players, 4);
    // A message of a kind that clients do not send is refused.
    const cairn_message foreign = {.kind = CAIRN_MESSAGE_ANSWER,
        .answer = {.verb = CAIRN_CONTROL_PAUSE, .reason = "", .room = ""}};
    assert_int_equal(cairn_message_encode(encoder, &foreign, &bytes, &size), CAIRN_OK);
    assert_int_equal(cairn_client_ask_encoded(client, bytes, size), 0);
}
