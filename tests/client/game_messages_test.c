// SPDX-License-Identifier: MIT
// Messages between players and the rules, and events of the rules, in all modes of a client.

#include "tests/kit/test.h"

#include <string.h>

#include "base/hash.h"
#include "tests/kit/rig.h"
#include <cairn/recording.h>
#include <cairn/rules_registry.h>

// Each message is answered to its player and announced to all. An input with buttons makes an
// event, so that a wrong prediction of an input makes a wrong event.
typedef struct talk {
    uint32_t heard;
    uint32_t sum;
} talk;

static void hear(
    cairn_world *world, void *state, uint32_t slot, const uint8_t *bytes, uint32_t size) {
    talk *t = state;
    uint8_t all[2] = {(uint8_t)slot, bytes[0]};
    t->heard += 1;
    for (uint32_t i = 0; i < size; ++i) {
        t->sum = 31 * t->sum + bytes[i];
    }
    (void)cairn_world_send_message(world, slot, bytes, size);
    (void)cairn_world_send_message(world, CAIRN_SLOT_ALL, all, sizeof all);
    (void)cairn_world_send_event(world, CAIRN_SLOT_ALL, "heard", 5);
}

static void press(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)state;
    for (uint32_t i = 0; i < command_count; ++i) {
        if (commands[i].kind == CAIRN_COMMAND_INPUT && commands[i].buttons != 0) {
            const uint8_t bytes[] = {'p', (uint8_t)commands[i].slot, (uint8_t)commands[i].buttons};
            (void)cairn_world_send_event(world, CAIRN_SLOT_ALL, bytes, sizeof bytes);
        }
    }
}

static const cairn_rules talking = {.name = "talking",
    .version = 1,
    .state_size = sizeof(talk),
    .step = press,
    .message_size_max = 100,
    .message = hear};

static void set_rules(cairn_server_config *config) {
    config->first_room.rules = &talking;
}

static talk talk_of(const cairn_world *world) {
    uint32_t size = 0;
    const talk *found = cairn_world_rules_state(world, &size);
    assert_int_equal(size, sizeof *found);
    return *found;
}

typedef struct inbox {
    uint32_t count[CAIRN_CLIENT_GAME_EVENT_WITHDRAWN + 1];
    uint64_t tick; // of the last message
    uint32_t own;  // answers
    uint32_t next; // number of the next answer expected
} inbox;

static void take_all(cairn_client *client, inbox *in) {
    cairn_client_game_message m;
    while (cairn_client_next_game_message(client, &m)) {
        in->count[m.kind] += 1;
        if (m.kind == CAIRN_CLIENT_GAME_MESSAGE) {
            assert_true(m.tick >= in->tick);
            in->tick = m.tick;
            if (m.size == 100) {
                assert_int_equal(m.bytes[0], in->next++ % 256); // in order, none twice
                in->own += 1;
            }
        }
    }
}

static void say(cairn_client *client, uint32_t number) {
    uint8_t bytes[100];
    memset(bytes, (int)number, sizeof bytes);
    bytes[0] = (uint8_t)number;
    assert_int_equal(cairn_client_send_game_message(client, bytes, sizeof bytes), CAIRN_OK);
}

static void play(cairn_client_mode mode, inbox *in, talk *server) {
    cairn_client_config config = rig_config(mode);
    config.rules = &talking;
    assert_null(cairn_rules_register(&talking)); // for the recording
    RIG(r, .seed = 5, .recorded = true, .configure = set_rules);
    rig_join(&r, &config, NULL);
    rig_wait_to_play(&r);
    *in = (inbox){0};
    for (uint32_t i = 0; i < 20; ++i) {
        say(rig_client(&r, ALICE), i);
        rig_run_ms(&r, 100);
        take_all(rig_client(&r, ALICE), in);
    }
    rig_run_ms(&r, 1000);
    take_all(rig_client(&r, ALICE), in);
    *server = talk_of(rig_server_world(&r));
    const cairn_world *world = cairn_client_world(rig_client(&r, ALICE));
    if (world != NULL) {
        assert_int_equal(talk_of(world).sum, server->sum);
        expect_no_difference(&r);
    }
    cairn_server_statistics statistics;
    cairn_server_statistics_read(r.system.server, &statistics);
    assert_int_equal(statistics.total.game_messages_taken, 20);
    assert_int_equal(statistics.total.game_messages_sent, 40);
    assert_int_equal(cairn_client_game_statistics_read(rig_client(&r, ALICE)).missed, 0);
}

TEST("a message reaches the rules and is answered in order, in every mode") {
    static const cairn_client_mode modes[] = {
        CAIRN_CLIENT_INTERPOLATE, CAIRN_CLIENT_LOCKSTEP, CAIRN_CLIENT_PREDICT, CAIRN_CLIENT_HEAL};
    talk first = {0};
    for (uint32_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        inbox in;
        talk server;
        play(modes[i], &in, &server);
        assert_int_equal(server.heard, 20);
        assert_int_equal(in.own, 20);
        assert_int_equal(in.count[CAIRN_CLIENT_GAME_MESSAGE], 40);
        // A message is not predicted: its event is new when the tick is confirmed.
        assert_int_equal(in.count[CAIRN_CLIENT_GAME_EVENT], 20);
        assert_int_equal(in.count[CAIRN_CLIENT_GAME_EVENT_PREDICTED], 0);
        first = i == 0 ? server : first;
        assert_int_equal(first.sum, server.sum);
    }
}

// An input on every fourth tick of both players; each predicts the other's wrongly.
TEST("predicted events are confirmed or withdrawn") {
    cairn_client_config config = rig_config(CAIRN_CLIENT_PREDICT);
    config.rules = &talking;
    RIG(r, .seed = 6, .configure = set_rules);
    rig_join(&r, &config, NULL);
    rig_join(&r, &config, NULL);
    rig_wait_to_play(&r);
    inbox in[2] = {0};
    for (uint32_t i = 0; i < 40; ++i) {
        for (uint32_t k = 0; k < 2; ++k) {
            const cairn_client_input input = {.buttons = (i + k) % 4 == 0 ? 1u + i : 0};
            cairn_client_push_input(rig_client(&r, k), &input);
        }
        rig_run_ms(&r, 50);
        take_all(rig_client(&r, 0), &in[0]);
        take_all(rig_client(&r, 1), &in[1]);
    }
    const cairn_client_input none = {0};
    cairn_client_push_input(rig_client(&r, 0), &none);
    cairn_client_push_input(rig_client(&r, 1), &none);
    rig_run_ms(&r, 1500);
    uint32_t happened[2];
    for (uint32_t k = 0; k < 2; ++k) {
        take_all(rig_client(&r, k), &in[k]);
        const uint32_t *count = in[k].count;
        assert_true(count[CAIRN_CLIENT_GAME_EVENT_CONFIRMED] > 20);
        assert_true(count[CAIRN_CLIENT_GAME_EVENT_WITHDRAWN] > 0);
        assert_int_equal(count[CAIRN_CLIENT_GAME_EVENT_PREDICTED],
            count[CAIRN_CLIENT_GAME_EVENT_CONFIRMED] + count[CAIRN_CLIENT_GAME_EVENT_WITHDRAWN]);
        happened[k] = count[CAIRN_CLIENT_GAME_EVENT] + count[CAIRN_CLIENT_GAME_EVENT_CONFIRMED];
    }
    assert_int_equal(happened[0], happened[1]);
}

// What one player was sent, or a replay finds that it should have been sent, as one text.
typedef struct transcript {
    uint32_t count;
    cairn_hash128 sum;
} transcript;

static void note(transcript *t, uint32_t kind, uint64_t tick, const uint8_t *bytes, uint32_t size) {
    uint32_t words[3 + CAIRN_GAME_MESSAGE_SIZE_MAX / 4] = {kind, (uint32_t)tick, size};
    memcpy(words + 3, bytes, size);
    t->sum = cairn_hash_add(t->sum, cairn_hash_words(t->count++, words, sizeof words / 4));
}

static void note_all(cairn_client *client, transcript t[3]) {
    cairn_client_game_message m;
    while (cairn_client_next_game_message(client, &m)) {
        assert_true(m.kind == CAIRN_CLIENT_GAME_MESSAGE || m.kind == CAIRN_CLIENT_GAME_EVENT);
        note(&t[m.kind], m.kind, m.tick, m.bytes, m.size);
    }
}

TEST("a replay sends the messages and events that the server sent, at the same ticks") {
    cairn_client_config config = rig_config(CAIRN_CLIENT_LOCKSTEP);
    config.rules = &talking;
    assert_null(cairn_rules_register(&talking));
    transcript live[3] = {{0}};
    RIG(r, .seed = 8, .recorded = true, .configure = set_rules);
    rig_join(&r, &config, NULL);
    rig_join(&r, &config, NULL);
    rig_wait_to_play(&r);
    const uint64_t first_tick = cairn_client_confirmed_tick(rig_client(&r, BOB));
    note_all(rig_client(&r, BOB), live);
    assert_int_equal(live[CAIRN_GAME_MESSAGE].count + live[CAIRN_GAME_EVENT].count, 0);
    for (uint32_t i = 0; i < 20; ++i) {
        const cairn_client_input input = {.buttons = i % 3};
        say(rig_client(&r, i % 2), i);
        cairn_client_push_input(rig_client(&r, ALICE), &input);
        rig_run_ms(&r, 100);
        note_all(rig_client(&r, BOB), live);
    }
    const cairn_client_input none = {0};
    cairn_client_push_input(rig_client(&r, ALICE), &none);
    rig_run_ms(&r, 1000);
    note_all(rig_client(&r, BOB), live);
    cairn_server_destroy(r.system.server);
    r.system.server = NULL;
    transcript again[3] = {{0}};
    cairn_player *player = NULL;
    char text[CAIRN_PLAYER_TEXT_SIZE];
    assert_int_equal(cairn_player_create(r.record, r.record_size, &player, text), CAIRN_OK);
    cairn_player_event event;
    while ((event = cairn_player_next(player)) != CAIRN_PLAYER_END) {
        const cairn_world *world = cairn_player_world(player);
        uint32_t count = 0;
        const cairn_game_message *sent =
            event == CAIRN_PLAYER_TICK ? cairn_world_game_messages(world, &count) : NULL;
        for (uint32_t i = 0; i < count; ++i) {
            if (sent[i].slot == 1 || sent[i].slot == CAIRN_SLOT_ALL) {
                assert_true(cairn_world_tick(world) > first_tick);
                note(&again[sent[i].kind], sent[i].kind, cairn_world_tick(world), sent[i].bytes,
                    sent[i].size);
            }
        }
    }
    cairn_player_destroy(player);
    assert_int_equal(live[CAIRN_GAME_MESSAGE].count, 30); // 20 to all, 10 answers
    assert_true(live[CAIRN_GAME_EVENT].count > 40);
    for (uint32_t kind = CAIRN_GAME_MESSAGE; kind <= CAIRN_GAME_EVENT; ++kind) {
        assert_int_equal(live[kind].count, again[kind].count);
        assert_true(cairn_hash_equal(live[kind].sum, again[kind].sum));
    }
}

static uint64_t refused(rig *r, cairn_game_refusal why) {
    cairn_server_statistics statistics;
    cairn_server_statistics_read(r->system.server, &statistics);
    return statistics.total.game_messages_refused[why];
}

TEST("messages that are too large, over the budget or a spectator's are refused by name") {
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    cairn_client_config watching = config;
    watching.spectator = true;
    RIG(r, .seed = 7, .configure = set_rules);
    rig_join(&r, &config, NULL);
    rig_join(&r, &watching, NULL);
    assert_int_equal(
        cairn_client_send_game_message(rig_client(&r, 0), "early", 5), CAIRN_NOT_FOUND);
    rig_wait_to_play(&r);
    uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX + 1] = {0};
    assert_int_equal(
        cairn_client_send_game_message(rig_client(&r, 0), bytes, 0), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_client_send_game_message(rig_client(&r, 0), bytes, sizeof bytes),
        CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_client_send_game_message(rig_client(&r, 0), bytes, 101), CAIRN_OK);
    assert_int_equal(cairn_client_send_game_message(rig_client(&r, 1), bytes, 1), CAIRN_OK);
    rig_run_ms(&r, 500);
    assert_int_equal(refused(&r, CAIRN_GAME_REFUSED_TOO_LARGE), 1);
    assert_int_equal(refused(&r, CAIRN_GAME_REFUSED_SPECTATOR), 1);
    const cairn_client_game_statistics told = cairn_client_game_statistics_read(rig_client(&r, 0));
    assert_int_equal(told.refused, 1);
    assert_string_equal(told.refusal_text, cairn_game_refusal_text(CAIRN_GAME_REFUSED_TOO_LARGE));
    rig_run_ms(&r, 1000);
    for (uint32_t i = 0; i < 60; ++i) { // of 132 bytes each: 4096 at once, then 2048 per second
        assert_int_equal(cairn_client_send_game_message(rig_client(&r, 0), bytes, 100), CAIRN_OK);
    }
    rig_run_ms(&r, 500);
    const uint64_t over = refused(&r, CAIRN_GAME_REFUSED_BUDGET);
    assert_true(over >= 20 && over <= 29);
    assert_int_equal(talk_of(rig_server_world(&r)).heard, 60 - over);
    rig_run_ms(&r, 3000);
    assert_int_equal(cairn_client_send_game_message(rig_client(&r, 0), bytes, 100), CAIRN_OK);
    rig_run_ms(&r, 500);
    assert_int_equal(talk_of(rig_server_world(&r)).heard, 61 - over);
}

TEST("rules without messages refuse them, and the client stays") {
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    RIG(r, .seed = 8);
    rig_join(&r, &config, NULL);
    rig_wait_to_play(&r);
    for (uint32_t i = 0; i < 40; ++i) {
        assert_int_equal(cairn_client_send_game_message(rig_client(&r, 0), "hello", 5), CAIRN_OK);
    }
    rig_run_ms(&r, 1000);
    assert_int_equal(refused(&r, CAIRN_GAME_REFUSED_NO_RULES), 40);
    assert_int_equal(cairn_client_state_read(rig_client(&r, 0)), CAIRN_CLIENT_PLAYING);
}
