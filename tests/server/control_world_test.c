// SPDX-License-Identifier: MIT
// Verbs that replace or copy a world: reset, load, seek, fork. Clients follow, and the recording
// replays.

#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/server_state.h"
#include "tests/kit/scenes.h"
#include "tests/server/operator_kit.h"

static void verb(cairn_control_verb what) {
    kit_do(&s, .verb = what);
}

static void save(const char *name) {
    kit_do(&s, .verb = CAIRN_CONTROL_SAVE, .save = {name});
}

static uint32_t ask_to_load(const char *name) {
    return kit_ask(&s, .verb = CAIRN_CONTROL_LOAD, .load = {name});
}

static void load(const char *name) {
    assert_int_equal(ask_to_load(name), CAIRN_CONTROL_DONE);
}

static uint32_t write_piece(cairn_control_save_write_request piece) {
    return kit_ask(&s, .verb = CAIRN_CONTROL_SAVE_WRITE, .save_write = piece);
}

static void expect_same(cairn_hash128 a, cairn_hash128 b) {
    assert_int_equal(a.lo, b.lo);
    assert_int_equal(a.hi, b.hi);
}

// Every client in the room holds its world, and none received a root that differs from its own.
static void expect_all_follow(void) {
    story_run_ms(&s, 400);
    const uint64_t tick = story_tick(&s);
    for (uint32_t i = 0; i < s.client_count; ++i) {
        const story_client *client = &s.clients[i];
        assert_int_equal(client->roots_wrong, 0);
        assert_int_equal(client->decode_failures, 0);
        if (story_state(&s, i) != CAIRN_NETCODE_STATE_CONNECTED) {
            continue;
        }
        if (client->hello.mode == CAIRN_MODE_LOCKSTEP) {
            assert_non_null(client->world);
            assert_true(tick - cairn_world_tick(client->world) < 10);
        } else if (tick > 0) {
            assert_non_null(story_newest(client));
            assert_true(tick - story_newest(client)->tick < 10);
            assert_int_equal(client->deltas_failed, 0);
        }
    }
    assert_int_equal(story_statistics(&s).total.roots_differed, 0);
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
}

static void expect_recording_replays(uint32_t replacements) {
    cairn_server_destroy(s.server);
    s.server = NULL;
    const story_replay replay = story_replay_recording(&s);
    assert_true(replay.ticks > 0);
    assert_int_equal(replay.roots_wrong, 0);
    assert_int_equal(replay.replacements, replacements);
}

static void join_player_of_each_kind(void) {
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 300);
}

TEST("a reset with the same seed repeats the run bit for bit") {
    cairn_hash128 roots[3];
    verb(CAIRN_CONTROL_PAUSE);
    for (uint32_t i = 0; i < 3; ++i) {
        kit_do(
            &s, .verb = CAIRN_CONTROL_RESET, .reset = {.has_seed = true, .seed = i == 2 ? 8 : 7});
        assert_int_equal(answer.answer.tick, 0);
        assert_int_equal(cairn_world_settings(story_world(&s))->seed, i == 2 ? 8 : 7);
        (void)spawn_box();
        step(30);
        roots[i] = story_root(&s);
    }
    expect_same(roots[0], roots[1]);
    assert_true(roots[0].lo != roots[2].lo);
    assert_true(story_statistics(&s).total.ticks_stepped >= 90);
    verb(CAIRN_CONTROL_RESET);
    assert_int_equal(cairn_world_settings(story_world(&s))->seed, 1); // the scene's
    verb(CAIRN_CONTROL_RESUME);
    expect_all_follow();
    expect_recording_replays(4);
}

TEST("players and spectators follow a reset and a load") {
    join_player_of_each_kind();
    save("early");
    (void)spawn_box();
    story_run_ms(&s, 300);
    verb(CAIRN_CONTROL_RESET);
    assert_int_equal(s.clients[1].notices[CAIRN_EVENT_REPLACED], 1);
    expect_all_follow();
    assert_int_equal(story_statistics(&s).total.players, 2);
    load("early");
    assert_int_equal(s.clients[1].notices[CAIRN_EVENT_REPLACED], 2);
    expect_all_follow();
    expect_recording_replays(2);
}

TEST("a new world has another one for the trials of edits") {
    (void)spawn_box(); // for which the room took memory
    s.holds_tasks = true;
    kit_send(&s, 0, .number = 70, .verb = CAIRN_CONTROL_SPAWN_BOX, .spawn_box = box);
    story_run_ms(&s, 40);
    assert_int_equal(s.task_count, 0);
    s.holds_tasks = false;
    kit_do(&s, .verb = CAIRN_CONTROL_RESET, .reset = {.has_seed = true, .seed = 8});
    s.holds_tasks = true;
    kit_send(&s, 0, .number = 71, .verb = CAIRN_CONTROL_SPAWN_BOX, .spawn_box = box);
    story_run_ms(&s, 40);
    assert_int_equal(s.task_count, 1); // takes memory again
    story_run_tasks(&s);
    story_run_ms(&s, 40);
    assert_int_equal(answer.answer.number, 71);
    assert_int_equal(answer.answer.refusal, CAIRN_CONTROL_DONE);
}

TEST("a loaded room continues as the saved one did") {
    verb(CAIRN_CONTROL_PAUSE);
    (void)spawn_box();
    step(20);
    save("here");
    const uint64_t tick = story_tick(&s);
    const cairn_hash128 saved = story_root(&s);
    step(50);
    const cairn_hash128 later = story_root(&s);
    load("here");
    assert_int_equal(story_tick(&s), tick);
    expect_same(story_root(&s), saved);
    step(50);
    expect_same(story_root(&s), later);
    expect_recording_replays(1);
}

TEST("saves are listed with their sizes until they are deleted") {
    verb(CAIRN_CONTROL_SAVES);
    assert_int_equal(answer.answer.saves.save_count, 0);
    save("one");
    const uint32_t size = answer.answer.save.size;
    save("two");
    verb(CAIRN_CONTROL_SAVES);
    const cairn_control_saves_answer *saves = &answer.answer.saves;
    assert_int_equal(saves->save_count, 2);
    assert_string_equal(saves->saves[0].name, "one");
    assert_int_equal(saves->saves[0].size, size);
    assert_string_equal(saves->saves[1].name, "two");
    kit_do(&s, .verb = CAIRN_CONTROL_SAVE_DELETE, .save_delete = {"one"});
    verb(CAIRN_CONTROL_SAVES);
    assert_int_equal(saves->save_count, 1);
    assert_string_equal(saves->saves[0].name, "two");
}

TEST("a save can be downloaded and uploaded in pieces") {
    static uint8_t bytes[1024 * 1024];
    verb(CAIRN_CONTROL_PAUSE);
    save("here");
    const cairn_hash128 saved = story_root(&s);
    const uint32_t size = answer.answer.save.size;
    assert_true(size < sizeof bytes);
    for (uint32_t at = 0; at < size; at += answer.answer.save_read.byte_count) {
        kit_do(&s, .verb = CAIRN_CONTROL_SAVE_READ, .save_read = {.name = "here", .offset = at});
        assert_int_equal(answer.answer.save_read.size, size);
        memcpy(bytes + at, answer.answer.save_read.bytes, answer.answer.save_read.byte_count);
    }
    kit_do(&s, .verb = CAIRN_CONTROL_SAVE_DELETE, .save_delete = {"here"});
    assert_int_equal(ask_to_load("here"), CAIRN_CONTROL_NAME_UNKNOWN);
    step(10);
    for (uint32_t at = 0; at < size; at = answer.answer.save_write.received_size) {
        const uint32_t most = at < 8 ? 1 : 4096; // the first ones have a byte each
        const uint32_t left = size - at < most ? size - at : most;
        if (at == 8) {
            assert_int_equal(ask_to_load("back"), CAIRN_CONTROL_FOREIGN);
        }
        assert_int_equal(write_piece((cairn_control_save_write_request){.name = "back",
                             .offset = at,
                             .size = size,
                             .bytes = bytes + at,
                             .byte_count = left}),
            CAIRN_CONTROL_DONE);
        assert_int_equal(answer.answer.save_write.received_size, at + left);
    }
    load("back");
    expect_same(story_root(&s), saved);
}

static void upload(const uint8_t *bytes, uint32_t size) {
    for (uint32_t at = 0; at < size; at += 4096) {
        const uint32_t left = size - at < 4096 ? size - at : 4096;
        assert_int_equal(write_piece((cairn_control_save_write_request){.name = "foreign",
                             .offset = at,
                             .size = size,
                             .bytes = bytes + at,
                             .byte_count = left}),
            CAIRN_CONTROL_DONE);
    }
}

// A piece may begin only where the bytes that the server has end, and never changes the size.
TEST("a piece of a save at another offset is refused") {
    static const uint8_t bytes[100] = {1, 2, 3};
    cairn_control_save_write_request piece = {
        .name = "save", .offset = 0, .size = 100, .bytes = bytes, .byte_count = 40};
    assert_int_equal(write_piece(piece), CAIRN_CONTROL_DONE);
    static const struct {
        uint32_t offset, size, byte_count;
    } wrong[] = {{1, 100, 10}, {39, 100, 10}, {41, 100, 10}, {99, 100, 1}, {100, 100, 0},
        {101, 100, 1}, {UINT32_MAX, 100, 10}, {40, 99, 10}, {40, 101, 10}, {40, 100, 61}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        piece.offset = wrong[i].offset;
        piece.size = wrong[i].size;
        piece.byte_count = wrong[i].byte_count;
        if (write_piece(piece) != CAIRN_CONTROL_OUT_OF_RANGE) {
            fail_msg("row %zu", i);
        }
        assert_string_equal(answer.answer.reason, "the server has 40 of the save's 100 bytes");
    }
    piece.offset = 40;
    piece.size = 100;
    piece.byte_count = 60;
    assert_int_equal(write_piece(piece), CAIRN_CONTROL_DONE);
    assert_int_equal(answer.answer.save_write.received_size, 100);
}

static uint32_t load_of(const cairn_world_def *def) {
    static uint8_t bytes[1024 * 1024];
    cairn_world *world = NULL;
    assert_int_equal(cairn_world_create(def, &world), CAIRN_OK);
    const size_t size = cairn_world_encode(world, bytes, sizeof bytes);
    cairn_world_destroy(world);
    upload(bytes, (uint32_t)size);
    return ask_to_load("foreign");
}

TEST("a state with other settings is refused") {
    static const uint8_t noise[100] = {1, 2, 3};
    const cairn_world_def own = *cairn_world_settings(story_world(&s));
    cairn_world_def def = own;
    assert_int_equal(load_of(&def), CAIRN_CONTROL_DONE);
    def.gravity.y = -1.0f;
    assert_int_equal(load_of(&def), CAIRN_CONTROL_FOREIGN);
    def = own;
    def.body_capacity -= 1;
    assert_int_equal(load_of(&def), CAIRN_CONTROL_FOREIGN);
    def = own;
    def.rules = NULL;
    assert_int_equal(load_of(&def), CAIRN_CONTROL_FOREIGN);
    def = own;
    def.tick_rate_hz = 30;
    assert_int_equal(load_of(&def), CAIRN_CONTROL_FOREIGN);
    upload(noise, sizeof noise);
    assert_int_equal(ask_to_load("foreign"), CAIRN_CONTROL_FOREIGN);
    assert_true(answer.answer.reason[0] != '\0');
    expect_all_follow();
}

TEST("a save has the longest name that fits") {
    static const char longest[] = "a save whose name has no room l";
    assert_int_equal(strlen(longest), CAIRN_NAME_SIZE_MAX);
    save(longest);
    verb(CAIRN_CONTROL_SAVES);
    assert_int_equal(answer.answer.saves.save_count, 1);
    assert_string_equal(answer.answer.saves.saves[0].name, longest);
    load(longest);
    expect_all_follow();
}

TEST("bad requests about saves, seeks and rooms are refused") {
    static const uint8_t some[8] = {0};
    const struct {
        cairn_control_request ask;
        uint32_t refusal;
    } rows[] = {{{.verb = CAIRN_CONTROL_SAVE, .save = {""}}, CAIRN_CONTROL_NAME_TAKEN},
        {{.verb = CAIRN_CONTROL_SAVE, .save = {"a name of more than thirty-one bytes"}},
            CAIRN_CONTROL_NAME_TAKEN},
        {{.verb = CAIRN_CONTROL_LOAD, .load = {"nothing"}}, CAIRN_CONTROL_NAME_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SAVE_READ, .save_read = {.name = "nothing"}},
            CAIRN_CONTROL_NAME_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SAVE_DELETE, .save_delete = {"nothing"}},
            CAIRN_CONTROL_NAME_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SAVE_WRITE,
             .save_write = {.name = "nothing", .offset = 8, .size = 16}},
            CAIRN_CONTROL_NAME_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SAVE_WRITE,
             .save_write = {.name = "large", .size = 64 * 1024 * 1024 + 1}},
            CAIRN_CONTROL_CAPACITY},
        {{.verb = CAIRN_CONTROL_SAVE_WRITE, .save_write = {.name = "none", .size = 0}},
            CAIRN_CONTROL_CAPACITY},
        {{.verb = CAIRN_CONTROL_SAVE_WRITE,
             .save_write = {.name = "long", .size = 4, .bytes = some, .byte_count = 8}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SAVE_READ, .save_read = {.name = "long", .offset = 9}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SEEK, .seek = {1000000}}, CAIRN_CONTROL_TICK_GONE},
        {{.verb = CAIRN_CONTROL_FORK, .fork = {.name = "main"}}, CAIRN_CONTROL_NAME_TAKEN},
        {{.verb = CAIRN_CONTROL_FORK, .fork = {.name = "not a name"}}, CAIRN_CONTROL_NAME_TAKEN},
        {{.verb = CAIRN_CONTROL_FORK, .fork = {.name = "b", .has_tick = true, .tick = 1000000}},
            CAIRN_CONTROL_TICK_GONE},
        {{.verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "b", .scene = "no scene"}},
            CAIRN_CONTROL_NAME_UNKNOWN},
        {{.verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "main", .scene = "test"}},
            CAIRN_CONTROL_NAME_TAKEN},
        {{.verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "", .scene = "test"}},
            CAIRN_CONTROL_NAME_TAKEN},
        {{.verb = CAIRN_CONTROL_ROOM_CREATE,
             .room_create = {.name = "b", .scene = "test", .tick_rate_hz = 9}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_ROOM_DESTROY, .room = "nowhere"}, CAIRN_CONTROL_ROOM_UNKNOWN},
        {{.verb = CAIRN_CONTROL_ROOM_DESTROY}, CAIRN_CONTROL_BUSY}};
    join_player_of_each_kind();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint32_t refusal = kit_ask_request(&s, rows[i].ask);
        if (refusal != rows[i].refusal) {
            fail_msg(
                "row %zu: %s, %s", i, cairn_control_refusal_text(refusal), answer.answer.reason);
        }
    }
    uint32_t refusal = 0;
    for (uint32_t i = 0; i < 33; ++i) {
        char name[8];
        snprintf(name, sizeof name, "s%u", i);
        refusal = kit_ask(&s, .verb = CAIRN_CONTROL_SAVE, .save = {name});
    }
    assert_int_equal(refusal, CAIRN_CONTROL_CAPACITY);
    expect_all_follow();
}

TEST("a seek restores ticks from memory and from the recording") {
    verb(CAIRN_CONTROL_PAUSE);
    (void)spawn_box();
    step(20);
    const uint64_t early = story_tick(&s);
    const cairn_hash128 early_root = story_root(&s);
    step(300); // far beyond what is kept in memory
    const uint64_t near = story_tick(&s);
    const cairn_hash128 near_root = story_root(&s);
    step(30);
    kit_do(&s, .verb = CAIRN_CONTROL_SEEK, .seek = {near});
    assert_int_equal(story_tick(&s), near);
    expect_same(story_root(&s), near_root);
    kit_do(&s, .verb = CAIRN_CONTROL_SEEK, .seek = {early});
    assert_int_equal(story_tick(&s), early);
    expect_same(story_root(&s), early_root);
    step(300);
    expect_same(story_root(&s), near_root);
    verb(CAIRN_CONTROL_RESUME);
    expect_all_follow();
    expect_recording_replays(2);
}

static uint32_t body_count(void) {
    return cairn_world_counts_read(story_world(&s)).bodies;
}

// Runs until the world has so many bodies, which those of players are among.
static void run_until_bodies(uint32_t count) {
    for (uint32_t i = 0; i < 250 && body_count() != count; ++i) {
        story_run_ms(&s, 4);
    }
    assert_int_equal(body_count(), count);
}

// Seeks to a tick at which the world had `then` bodies, and expects those of the players of now.
static void seek_and_expect_players(uint64_t tick, uint32_t then) {
    const uint32_t now = body_count();
    verb(CAIRN_CONTROL_PAUSE);
    kit_do(&s, .verb = CAIRN_CONTROL_SEEK, .seek = {tick});
    assert_int_equal(body_count(), then);
    verb(CAIRN_CONTROL_RESUME);
    story_run_ms(&s, 200);
    assert_int_equal(body_count(), now);
    expect_all_follow();
    assert_int_equal(body_count(), now);
}

TEST("after a seek to before a join or a leave, those play who are there now") {
    const uint32_t alone = body_count();
    story_run_ms(&s, 300);
    uint64_t tick = story_tick(&s);
    story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    run_until_bodies(alone + 1);
    seek_and_expect_players(tick, alone);
    const uint32_t second = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    run_until_bodies(alone + 2);
    tick = story_tick(&s);
    story_run_ms(&s, 100);
    story_leave(&s, second);
    run_until_bodies(alone + 1);
    seek_and_expect_players(tick, alone + 2);
}

TEST("a seek to the tick of a join knows the player") {
    const uint32_t alone = body_count();
    story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    run_until_bodies(alone + 1);
    const uint64_t tick = story_tick(&s);
    story_run_ms(&s, 200);
    seek_and_expect_players(tick, alone + 1);
}

TEST("a room that an operator creates is recorded if the operator's own is") {
    kit_do(&s, .verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "new", .scene = "test"});
    const cairn_room_table *rooms = &s.server->rooms;
    assert_non_null(cairn_room_table_at(rooms, CAIRN_ROOM_MAIN)->recording);
    assert_non_null(cairn_room_table_at(rooms, cairn_room_table_find(rooms, "new"))->recording);
}

TEST("the room goes on while its recording is searched") {
    (void)spawn_box();
    story_run_ms(&s, 12000);
    const uint64_t before = story_tick(&s);
    const uint32_t answers = answer.count;
    s.holds_tasks = true;
    kit_send_request(
        &s, 0, (cairn_control_request){.verb = CAIRN_CONTROL_SEEK, .number = 77, .seek = {20}});
    story_run_ms(&s, 1000);
    assert_int_equal(answer.count, answers);
    assert_in_range(story_tick(&s), before + 55, before + 65);
    assert_true(s.task_count > 0);
    // Another seek waits until this one is answered; other requests do not.
    story_run_tasks(&s);
    story_run_ms(&s, 100);
    assert_int_equal(answer.count, answers + 1);
    assert_int_equal(answer.answer.number, 77);
    assert_int_equal(answer.answer.refusal, CAIRN_CONTROL_DONE);
    assert_in_range(story_tick(&s), 20, 30);
    expect_all_follow();
}

// Sends a request of which a task does the long part, and lets the room go on before the task runs.
// Before copies are made, another task finds memory for them.
static void expect_done_beside_room(cairn_control_request request) {
    const uint64_t before = story_tick(&s);
    const uint32_t answers = answer.count;
    const bool copies = request.verb != CAIRN_CONTROL_LOAD && request.verb != CAIRN_CONTROL_RESET;
    s.holds_tasks = true;
    request.number = 77;
    kit_send_request(&s, 0, request);
    if (copies) {
        story_run_ms(&s, 40);
        assert_int_equal(s.task_count, 1);
        story_run_tasks(&s);
        s.holds_tasks = true;
    }
    story_run_ms(&s, 1000);
    assert_int_equal(answer.count, answers);
    assert_in_range(story_tick(&s), before + 55, before + 65);
    story_run_tasks(&s);
    story_run_ms(&s, 100);
    assert_int_equal(answer.count, answers + 1);
    assert_int_equal(answer.answer.number, 77);
    assert_int_equal(answer.answer.refusal, CAIRN_CONTROL_DONE);
}

TEST("the room goes on while a save is encoded and while it is loaded") {
    (void)spawn_box();
    story_run_ms(&s, 500);
    const uint64_t tick = story_tick(&s);
    expect_done_beside_room((cairn_control_request){.verb = CAIRN_CONTROL_SAVE, .save = {"early"}});
    // The answer is about the world that was saved.
    assert_in_range(answer.answer.tick, tick, tick + 10);
    const uint64_t saved_tick = answer.answer.tick;
    const cairn_hash128 saved = answer.answer.root;
    expect_done_beside_room((cairn_control_request){.verb = CAIRN_CONTROL_LOAD, .load = {"early"}});
    assert_in_range(story_tick(&s), saved_tick, saved_tick + 10);
    expect_all_follow();
    verb(CAIRN_CONTROL_PAUSE);
    load("early");
    assert_int_equal(answer.answer.tick, saved_tick);
    expect_same(story_root(&s), saved);
}

TEST("ticks wait until a client has the state that they follow, also one of the first tick") {
    verb(CAIRN_CONTROL_PAUSE);
    verb(CAIRN_CONTROL_RESET);
    const uint32_t late = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    s.clients[late].deaf = true;
    story_run_ms(&s, 200);
    const cairn_session_replication *own = s.server->sessions[late].replication;
    assert_true(own->state.sent);
    assert_int_equal(own->state.tick, 0);
    verb(CAIRN_CONTROL_RESUME);
    story_run_ms(&s, 200);
    assert_true(story_tick(&s) > 10);
    assert_int_equal(own->ticks.sent_end, 0);
    s.clients[late].deaf = false;
    story_run_ms(&s, 1000);
    assert_true(own->ticks.sent_end > 10);
    expect_all_follow();
}

TEST("the room goes on while its first state is made") {
    story_run_ms(&s, 500);
    expect_done_beside_room((cairn_control_request){.verb = CAIRN_CONTROL_RESET});
    assert_int_equal(answer.answer.tick, 0);
    assert_in_range(story_tick(&s), 0, 10);
    expect_all_follow();
}

TEST("the room goes on while a tick from memory is made ready, and while a copy is") {
    (void)spawn_box();
    story_run_ms(&s, 500);
    const uint64_t tick = story_tick(&s) - 10;
    expect_done_beside_room((cairn_control_request){.verb = CAIRN_CONTROL_SEEK, .seek = {tick}});
    assert_in_range(story_tick(&s), tick, tick + 10);
    expect_all_follow();
    const uint64_t now = story_tick(&s);
    expect_done_beside_room(
        (cairn_control_request){.verb = CAIRN_CONTROL_FORK, .fork = {.name = "other"}});
    assert_in_range(answer.answer.tick, now, now + 10);
    expect_all_follow();
    expect_recording_replays(1);
}

static const cairn_scene *find_either_scene(void *user, const char *name) {
    (void)user;
    static const cairn_scene *wide;
    if (wide == NULL) {
        wide = kit_scene("{'name': 'wide', 'rules': 'sandbox', 'body_capacity': 512,"
                         " 'shape_capacity': 512, 'joint_capacity': 8, 'contact_capacity': 2048,"
                         " 'seed': 1, 'bodies': ["
                         "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                         "{'kind': 'dynamic', 'position': [0, 0.5, 0], 'grid_count': [20, 1, 15],"
                         " 'grid_spacing': [2, 1, 2],"
                         " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}");
    }
    return strcmp(name, "wide") == 0 ? wide : story_scene();
}

// Two operators, and a room beside theirs.
static void start_with_two_operators(void) {
    cairn_server_config config = story_config();
    config.control = true;
    config.find_scene = find_either_scene;
    kit_start_with(&s, &answer, &config);
    story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    story_run_ms(&s, 300);
    kit_do(&s, .verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "x", .scene = "test"});
}

// While tasks are held. Then they run.
static void open_a_wide_room_in_place_of_x(void) {
    kit_send(&s, 1, .verb = CAIRN_CONTROL_ROOM_DESTROY, .room = "x");
    story_run_ms(&s, 100);
    // By the host: a request to create a room waits for the task.
    cairn_server_room_config config = cairn_server_room_config_default();
    config.name = "x";
    config.scene = find_either_scene(NULL, "wide");
    uint32_t id;
    assert_int_equal(
        cairn_server_room_create(s.server, s.now_ns, &config, &id, NULL), CAIRN_ROOM_CREATED);
    story_run_ms(&s, 200);
    story_run_tasks(&s);
    story_run_ms(&s, 300);
}

TEST("a world that was made for a room does not enter another of its name") {
    start_with_two_operators();
    kit_do(&s, .verb = CAIRN_CONTROL_SAVE, .room = "x", .save = {"early"});
    s.holds_tasks = true;
    const uint32_t answers = answer.count;
    kit_send(&s, 0, .verb = CAIRN_CONTROL_LOAD, .room = "x", .load = {"early"});
    story_run_ms(&s, 200);
    open_a_wide_room_in_place_of_x();
    assert_int_equal(answer.count, answers + 1);
    const cairn_room_table *rooms = &s.server->rooms;
    const cairn_room *x = cairn_room_table_at(rooms, cairn_room_table_find(rooms, "x"));
    assert_non_null(x);
    assert_int_equal(cairn_world_settings(x->world)->body_capacity, 512);
    expect_all_follow();
}

// The memory for its copy was of the room that had the name before.
TEST("a room that is opened in place of one that is compared is compared") {
    start_with_two_operators();
    s.holds_tasks = true;
    const uint32_t answers = answer.count;
    kit_send(&s, 0, .verb = CAIRN_CONTROL_DIFF, .diff = {"x"});
    story_run_ms(&s, 100);
    open_a_wide_room_in_place_of_x();
    assert_int_equal(answer.count, answers + 1);
    assert_int_equal(answer.answer.refusal, CAIRN_CONTROL_DONE);
    assert_true(answer.answer.diff.difference_count > 300);
    expect_all_follow();
}

TEST("a room may be closed while it is compared") {
    start_with_two_operators();
    const uint32_t answers = answer.count;
    kit_send(&s, 0, .verb = CAIRN_CONTROL_DIFF, .room = "x", .diff = {"main"});
    kit_send(&s, 1, .verb = CAIRN_CONTROL_ROOM_DESTROY, .room = "x");
    story_run_ms(&s, 300);
    assert_int_equal(answer.count, answers + 1);
    assert_int_equal(answer.answer.refusal, CAIRN_CONTROL_ROOM_UNKNOWN);
    expect_all_follow();
}

// find_scene may free the scene that it returned before.
TEST("a room is created when the scene of a reset is no longer needed") {
    const uint32_t answers = answer.count;
    const uint32_t other = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    story_run_ms(&s, 500);
    s.holds_tasks = true;
    kit_send(&s, 0, .verb = CAIRN_CONTROL_RESET);
    story_run_ms(&s, 100);
    kit_send(&s, other, .verb = CAIRN_CONTROL_ROOM_CREATE,
        .room_create = {.name = "new", .scene = "test"});
    story_run_ms(&s, 300);
    assert_int_equal(cairn_room_table_find(&s.server->rooms, "new"), 0);
    story_run_tasks(&s);
    story_run_ms(&s, 300);
    assert_int_equal(answer.count, answers + 1);
    assert_true(cairn_room_table_find(&s.server->rooms, "new") != 0);
    expect_all_follow();
}

TEST("rooms go on while their worlds are compared") {
    (void)spawn_box();
    story_run_ms(&s, 200);
    kit_do(&s, .verb = CAIRN_CONTROL_FORK, .fork = {.name = "other"});
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_BOX, .room = "other", .spawn_box = box);
    story_run_ms(&s, 100);
    const uint64_t tick = story_tick(&s);
    expect_done_beside_room((cairn_control_request){.verb = CAIRN_CONTROL_DIFF, .diff = {"other"}});
    assert_true(answer.answer.diff.difference_count > 0);
    assert_string_equal(answer.answer.room, "main");
    assert_in_range(answer.answer.tick, tick, tick + 10);
    expect_all_follow();
}

static uint64_t tick_of(const char *room) {
    const uint32_t id = cairn_room_table_find(&s.server->rooms, room);
    return cairn_room_table_at(&s.server->rooms, id)->scheduler.tick;
}

// They are copied one after the other; a tick may come in between.
TEST("rooms that go on are compared as they are at one moment") {
    verb(CAIRN_CONTROL_PAUSE);
    (void)spawn_box();
    step(2); // it falls
    kit_do(&s, .verb = CAIRN_CONTROL_FORK, .fork = {.name = "other", .paused = true});
    kit_send(&s, 0, .verb = CAIRN_CONTROL_RESUME);
    kit_send(&s, 0, .verb = CAIRN_CONTROL_RESUME, .room = "other");
    for (uint32_t i = 0; i < 20; ++i) {
        story_run_ms(&s, 4 + i % 5 * 4);
        const uint64_t tick = story_tick(&s);
        assert_int_equal(tick_of("other"), tick);
        kit_do(&s, .verb = CAIRN_CONTROL_DIFF, .diff = {"other"});
        assert_int_equal(answer.answer.diff.difference_count, 0);
        assert_in_range(answer.answer.tick, tick, tick + 3);
    }
}

TEST("a comparison for a client that has left holds up nobody") {
    kit_do(&s, .verb = CAIRN_CONTROL_FORK, .fork = {.name = "other"});
    for (uint32_t steps = 1; steps < 6; ++steps) {
        const uint32_t leaver = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
        story_run_ms(&s, 300);
        kit_send(&s, leaver, .verb = CAIRN_CONTROL_DIFF, .diff = {"other"});
        story_run_ms(&s, steps * 4);
        story_leave(&s, leaver);
        story_run_ms(&s, 100);
        save("after");
        kit_do(&s, .verb = CAIRN_CONTROL_SAVE_DELETE, .save_delete = {"after"});
    }
}

TEST("a save that is deleted while it is loaded is loaded") {
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 500);
    save("early");
    const uint64_t tick = story_tick(&s);
    s.holds_tasks = true;
    kit_send(&s, 0, .verb = CAIRN_CONTROL_LOAD, .load = {"early"});
    story_run_ms(&s, 200);
    kit_send(&s, 1, .verb = CAIRN_CONTROL_SAVE_DELETE, .save_delete = {"early"});
    story_run_ms(&s, 300);
    // Takes memory that was freed. Volatile: what is freed unread need not be written.
    enum { BLOCKS = 16384 };
    static uint8_t *blocks[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        blocks[i] = malloc(4096);
        assert_non_null(blocks[i]);
        for (uint32_t k = 0; k < 4096; ++k) {
            ((volatile uint8_t *)blocks[i])[k] = 0xa5;
        }
    }
    story_run_tasks(&s);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        free(blocks[i]);
    }
    story_run_ms(&s, 100);
    assert_in_range(story_tick(&s), tick, tick + 10);
    assert_int_equal(ask_to_load("early"), CAIRN_CONTROL_NAME_UNKNOWN);
    expect_all_follow();
}

TEST("a search for a client that has left is forgotten") {
    story_run_ms(&s, 12000);
    s.holds_tasks = true;
    kit_send_request(
        &s, 0, (cairn_control_request){.verb = CAIRN_CONTROL_SEEK, .number = 77, .seek = {20}});
    story_run_ms(&s, 500);
    story_leave(&s, 0);
    story_run_ms(&s, 500);
    const uint64_t before = story_tick(&s);
    story_run_tasks(&s);
    story_run_ms(&s, 100);
    assert_true(story_tick(&s) >= before);
}

TEST("a fork runs beside its room and can be compared with it") {
    verb(CAIRN_CONTROL_PAUSE);
    step(40);
    const uint64_t tick = story_tick(&s);
    kit_do(&s, .verb = CAIRN_CONTROL_FORK, .fork = {.name = "other"});
    assert_string_equal(answer.answer.room, "other");
    assert_int_equal(answer.answer.tick, tick);
    const cairn_control_request diff = {.verb = CAIRN_CONTROL_DIFF, .diff = {"other"}};
    kit_do_request(&s, diff);
    assert_int_equal(answer.answer.diff.difference_count, 0);
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_BOX, .room = "other", .spawn_box = box);
    kit_do(&s, .verb = CAIRN_CONTROL_STEP, .room = "other", .step = {5});
    assert_int_equal(story_tick(&s), tick);
    step(5);
    kit_do_request(&s, diff);
    assert_true(answer.answer.diff.difference_count > 0);
    bool bodies_differ = false;
    for (uint32_t i = 0; i < answer.answer.diff.listed_count; ++i) {
        const cairn_control_difference *difference = &answer.answer.diff.differences[i];
        bodies_differ = bodies_differ || strcmp(difference->section, "bodies") == 0;
        assert_true(difference->field[0] != '\0');
        assert_true(difference->bits_here != difference->bits_other);
    }
    assert_true(bodies_differ);
    kit_do(
        &s, .verb = CAIRN_CONTROL_FORK, .fork = {.name = "then", .has_tick = true, .tick = tick});
    assert_int_equal(answer.answer.tick, tick);
    kit_do(&s, .verb = CAIRN_CONTROL_ROOM_CREATE,
        .room_create = {
            .name = "new", .scene = "test", .has_seed = true, .seed = 5, .paused = true});
    verb(CAIRN_CONTROL_ROOMS);
    assert_int_equal(answer.answer.rooms.room_count, 4);
    kit_do(&s, .verb = CAIRN_CONTROL_ROOM_DESTROY, .room = "other");
    verb(CAIRN_CONTROL_ROOMS);
    const cairn_control_rooms_answer *rooms = &answer.answer.rooms;
    assert_int_equal(rooms->room_count, 3);
    for (uint32_t i = 0; i < rooms->room_count; ++i) {
        assert_string_not_equal(rooms->rooms[i].name, "other");
    }
    assert_string_equal(rooms->rooms[2].name, "new");
    assert_int_equal(rooms->rooms[2].tick, 0);
    verb(CAIRN_CONTROL_RESUME);
    expect_all_follow();
}

TEST("a request that waits for a closing room is answered") {
    kit_do(&s, .verb = CAIRN_CONTROL_FORK, .fork = {.name = "other"});
    kit_send(&s, 0, .number = 1, .verb = CAIRN_CONTROL_RUN_UNTIL, .room = "other",
        .run_until = {1000000});
    story_run_ms(&s, 50);
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_RESET, .room = "other"), CAIRN_CONTROL_BUSY);
    kit_send(&s, 0, .number = 2, .verb = CAIRN_CONTROL_ROOM_DESTROY, .room = "other");
    story_run_ms(&s, 100);
    assert_int_equal(answer.answer.number, 2);
    assert_int_equal(story_statistics(&s).controls_refused[CAIRN_CONTROL_ROOM_CLOSED], 1);
}
