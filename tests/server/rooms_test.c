// SPDX-License-Identifier: MIT
// The table of rooms: names, ids, which clients are admitted, and what remains when a room closes.
#include "tests/kit/test.h"

#include <string.h>

#include "server/core/server_state.h"
#include "tests/kit/scenes.h"
#include "tests/server/story.h"

static story s;

AFTER_EACH {
    story_end(&s);
}

static void start(uint32_t rooms_max) {
    cairn_server_config config = story_config();
    config.rooms_max = rooms_max;
    story_start(&s, &config);
}

static cairn_server_room_config named(const char *name) {
    cairn_server_room_config config = cairn_server_room_config_default();
    config.name = name;
    config.scene = kit_scene_stack_and_row();
    return config;
}

static uint32_t create(const char *name) {
    const cairn_server_room_config config = named(name);
    uint32_t room;
    assert_int_equal(
        cairn_server_room_create(s.server, s.now_ns, &config, &room, NULL), CAIRN_ROOM_CREATED);
    assert_int_not_equal(room, 0);
    return room;
}

TEST("a room that cannot be created is refused with the reason and counted") {
    start(2);
    cairn_server_room_config rows[16];
    static const cairn_server_room_refusal expected[] = {CAIRN_ROOM_REFUSED_NAME,
        CAIRN_ROOM_REFUSED_NAME, CAIRN_ROOM_REFUSED_NAME, CAIRN_ROOM_REFUSED_NAME,
        CAIRN_ROOM_REFUSED_NAME, CAIRN_ROOM_REFUSED_NAME_TAKEN, CAIRN_ROOM_REFUSED_SCENE,
        CAIRN_ROOM_REFUSED_SCENE, CAIRN_ROOM_REFUSED_SCENE, CAIRN_ROOM_REFUSED_SCENE,
        CAIRN_ROOM_REFUSED_SCENE};
    const size_t count = sizeof expected / sizeof *expected;
    for (size_t i = 0; i < count; ++i) {
        rows[i] = named("second");
    }
    rows[0].name = NULL;
    rows[1].name = "";
    rows[2].name = "../main";
    rows[3].name = "a room";
    rows[4].name = "a-name-of-thirty-two-characters-";
    rows[5].name = CAIRN_ROOM_NAME_DEFAULT;
    rows[6].scene = NULL;
    rows[7].tick_rate_hz = CAIRN_TICK_RATE_HZ_MAX + 1;
    rows[8].snapshot_rate_hz = 1000;
    rows[9].players_max = 0;
    rows[10].catch_up_ticks_max = 0;
    for (size_t i = 0; i < count; ++i) {
        uint32_t room = 7;
        char reason[CAIRN_ROOM_REASON_SIZE];
        assert_int_equal(
            cairn_server_room_create(s.server, s.now_ns, &rows[i], &room, reason), expected[i]);
        assert_int_equal(room, 0);
        assert_true(strlen(reason) > 0);
        assert_int_equal(story_statistics(&s).rooms_refused, i + 1);
    }
    assert_true(story_has_event(&s, "room_refused"));
    create("a-name-of-thirty-one-characters");
    const cairn_server_room_config third = named("third");
    uint32_t room;
    assert_int_equal(cairn_server_room_create(s.server, s.now_ns, &third, &room, NULL),
        CAIRN_ROOM_REFUSED_TABLE_FULL);
    assert_int_equal(story_statistics(&s).rooms, 2);
    cairn_server_drain(s.server, s.now_ns);
    assert_int_equal(cairn_server_room_create(s.server, s.now_ns, &third, &room, NULL),
        CAIRN_ROOM_REFUSED_DRAINING);
}

TEST("an id is never given to a later room") {
    start(2);
    uint32_t first = create("side");
    assert_int_equal(cairn_server_room_find(s.server, "side"), first);
    assert_true(cairn_server_room_destroy(s.server, s.now_ns, first, "test"));
    assert_false(cairn_server_room_destroy(s.server, s.now_ns, first, "test"));
    assert_int_equal(cairn_server_room_find(s.server, "side"), 0);
    uint32_t second = create("side");
    assert_int_not_equal(second, first);
    assert_null(cairn_server_world(s.server, first));
    assert_non_null(cairn_server_world(s.server, second));
}

TEST("the load of a server is that of all its rooms") {
    start(3);
    const uint32_t first = cairn_server_room_next(s.server, 0);
    assert_int_equal(story_statistics(&s).load_permille, 0);
    cairn_room_table_at(&s.server->rooms, first)->mean_cost_ns = 1000000; // of a second at 60 Hz
    assert_int_equal(story_statistics(&s).load_permille, 60);
    cairn_room_table_at(&s.server->rooms, create("second"))->mean_cost_ns = 2000000;
    assert_int_equal(story_statistics(&s).load_permille, 180);
}

static cairn_server_room_refusal try_to_create(const char *name, uint32_t cost_us) {
    cairn_server_room_config config = named(name);
    config.cost_us = cost_us;
    uint32_t room;
    return cairn_server_room_create(s.server, s.now_ns, &config, &room, NULL);
}

TEST("a room is taken to need what the dearest one of its scene does, or else what it says") {
    enum { THOUSANDTH_NS = 16667 }; // of a processor, in each tick at 60 Hz
    cairn_server_config config = story_config();
    config.rooms_max = 8;
    config.load_max_percent = 1; // ten thousandths
    story_start(&s, &config);
    cairn_room *first = cairn_room_table_at(&s.server->rooms, cairn_server_room_next(s.server, 0));
    assert_int_equal(try_to_create("dear", 184), CAIRN_ROOM_REFUSED_LOAD); // nothing is measured
    assert_int_equal(try_to_create("cheap", 167), CAIRN_ROOM_CREATED);
    // Another scene's is not of interest.
    first->mean_cost_ns = 2 * THOUSANDTH_NS;
    assert_int_equal(try_to_create("dear", 184), CAIRN_ROOM_REFUSED_LOAD);
    const uint32_t cheap = cairn_server_room_find(s.server, "cheap");
    cairn_room_table_at(&s.server->rooms, cheap)->mean_cost_ns = THOUSANDTH_NS;
    assert_int_equal(try_to_create("dear", 184), CAIRN_ROOM_CREATED); // a thousandth, in truth
    const uint32_t dear = cairn_server_room_find(s.server, "dear");
    cairn_room_table_at(&s.server->rooms, dear)->mean_cost_ns = 4 * THOUSANDTH_NS;
    assert_int_equal(story_statistics(&s).load_permille, 7);
    assert_int_equal(try_to_create("more", 1), CAIRN_ROOM_REFUSED_LOAD);
    first->mean_cost_ns = THOUSANDTH_NS;
    assert_int_equal(try_to_create("more", 1000), CAIRN_ROOM_CREATED);
    assert_int_equal(story_statistics(&s).rooms_refused, 3);
}

TEST("each room keeps its own time") {
    start(4);
    story_run_ms(&s, 500);
    cairn_server_room_config config = named("slow");
    config.tick_rate_hz = 20;
    uint32_t slow;
    assert_int_equal(
        cairn_server_room_create(s.server, s.now_ns, &config, &slow, NULL), CAIRN_ROOM_CREATED);
    story_run_ms(&s, 1000);
    cairn_server_room_statistics main_room;
    cairn_server_room_statistics slow_room;
    assert_true(cairn_server_room_statistics_read(s.server, CAIRN_ROOM_MAIN, &main_room));
    assert_true(cairn_server_room_statistics_read(s.server, slow, &slow_room));
    assert_in_range(main_room.tick, 90, 91);
    assert_in_range(slow_room.tick, 20, 21);
    assert_int_equal(slow_room.ticks_skipped, 0);
    cairn_server_room_info info;
    assert_true(cairn_server_room_read(s.server, slow, &info));
    assert_int_equal(info.snapshot_rate_hz, 20);
    assert_true(info.recording);
}

static bool exists(const char *name) {
    return cairn_server_room_find(s.server, name) != 0;
}

// The first room, too, has an id from which the next one is looked for.
TEST("rooms that are empty for long enough close, the first one, too") {
    cairn_server_config config = story_config();
    config.first_room.idle_s = 2;
    story_start(&s, &config);
    cairn_server_room_config side = named("side");
    side.idle_s = 4;
    uint32_t room;
    assert_int_equal(
        cairn_server_room_create(s.server, s.now_ns, &side, &room, NULL), CAIRN_ROOM_CREATED);
    create("kept");
    story_run_ms(&s, 1900);
    assert_true(exists(CAIRN_ROOM_NAME_DEFAULT));
    story_run_ms(&s, 1000);
    assert_false(exists(CAIRN_ROOM_NAME_DEFAULT));
    assert_true(exists("side"));
    const uint32_t client = story_join_room(&s, "side", CAIRN_MODE_INTERPOLATE);
    story_run_ms(&s, 6000);
    assert_true(exists("side")); // a client is in it
    story_leave(&s, client);
    story_run_ms(&s, 3800);
    assert_true(exists("side"));
    story_run_ms(&s, 1000);
    assert_false(exists("side"));
    assert_true(exists("kept"));
    assert_int_equal(story_statistics(&s).rooms_idle, 2);
}

TEST("clients of a closing room are disconnected and others stay") {
    start(2);
    create("other");
    uint32_t shown = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    uint32_t exact = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 300);
    assert_true(s.clients[shown].welcomed && s.clients[exact].welcomed);
    const cairn_server_statistics before = story_statistics(&s);
    assert_int_equal(before.total.players, 2);
    assert_true(cairn_server_room_destroy(s.server, s.now_ns, CAIRN_ROOM_MAIN, "test"));
    story_run_ms(&s, 300);
    const cairn_server_statistics after = story_statistics(&s);
    assert_int_equal(after.clients, 0);
    assert_int_equal(after.total.players, 0);
    assert_int_equal(after.rooms, 1);
    assert_int_equal(after.total.leaves, 2);
    assert_true(
        after.total.inputs_taken >= before.total.inputs_taken && before.total.inputs_taken > 0);
    assert_true(story_has_event(&s, "room_closed"));
    assert_int_equal(s.clients[shown].notices[CAIRN_EVENT_ROOM_CLOSES], 1);
    assert_int_equal(s.clients[exact].notices[CAIRN_EVENT_ROOM_CLOSES], 1);
    uint32_t next = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 300);
    assert_string_equal(s.clients[next].scene_name, kit_scene_stack_and_row()->name);
}

TEST("HELLO names the room to join") {
    start(3);
    uint32_t side = create("side");
    uint32_t one = story_join_room(&s, "side", CAIRN_MODE_LOCKSTEP);
    uint32_t other = story_join_room(&s, "main", CAIRN_MODE_INTERPOLATE);
    uint32_t any = story_join_room(&s, "", CAIRN_MODE_INTERPOLATE);
    uint32_t refused = story_join_room(&s, "nowhere", CAIRN_MODE_INTERPOLATE);
    story_run_ms(&s, 500);
    const uint32_t expected[] = {side, CAIRN_ROOM_MAIN, CAIRN_ROOM_MAIN, 0};
    const uint32_t clients[] = {one, other, any, refused};
    for (uint32_t i = 0; i < 4; ++i) {
        cairn_server_client_info info = {0};
        cairn_server_client_read(s.server, clients[i], &info);
        assert_int_equal(info.room, expected[i]);
    }
    assert_int_equal(s.clients[refused].refusal, CAIRN_REFUSAL_ROOM_UNKNOWN);
    assert_string_equal(s.clients[one].scene_name, kit_scene_stack_and_row()->name);
    assert_int_equal(s.clients[one].roots_wrong, 0);
    assert_true(s.clients[one].ticks_stepped > 10);
    cairn_server_room_statistics read;
    cairn_server_room_statistics_read(s.server, side, &read);
    assert_int_equal(read.players, 1);
    assert_int_equal(read.clients, 1);
}

// What a link carries was settled when the client connected. The hello is on its way meanwhile.
TEST("a room larger than all before admits only clients that connected after it") {
    start(3);
    const uint32_t early = story_join_room(&s, "large", CAIRN_MODE_INTERPOLATE);
    while (s.server->sessions[early].state != CAIRN_SESSION_CONNECTED) {
        story_run_ms(&s, 4);
    }
    cairn_scene large = *kit_scene_stack_and_row();
    large.world.body_capacity = 4000;
    cairn_server_room_config config = named("large");
    config.scene = &large;
    uint32_t room;
    assert_int_equal(
        cairn_server_room_create(s.server, s.now_ns, &config, &room, NULL), CAIRN_ROOM_CREATED);
    story_run_ms(&s, 200);
    const uint32_t late = story_join_room(&s, "large", CAIRN_MODE_INTERPOLATE);
    story_run_ms(&s, 500);
    assert_int_equal(s.clients[early].refusal, CAIRN_REFUSAL_ROOM_CLOSED);
    assert_int_equal(s.clients[late].refusal, 0);
    assert_true(s.clients[late].welcomed);
}

static cairn_server_room_refusal fork_at(
    uint32_t from, uint64_t tick, const char *name, uint32_t *room) {
    cairn_server_room_config config = cairn_server_room_config_default();
    config.name = name;
    return cairn_server_room_fork(s.server, s.now_ns, from, tick, &config, room, NULL);
}

static cairn_hash128 root_of(uint32_t room) {
    return cairn_world_hash_read(cairn_server_world(s.server, room)).full;
}

TEST("a fork continues from its room's state") {
    start(4);
    uint32_t side = create("side");
    cairn_state_history_require(cairn_room_table_at(&s.server->rooms, side)->state_history,
        CAIRN_STATE_HISTORY_FOR_CONTROL, 60);
    uint32_t player = story_join_room(&s, "side", CAIRN_MODE_LOCKSTEP);
    s.clients[player].buttons = CAIRN_SANDBOX_JUMP;
    story_run_ms(&s, 1000);
    uint64_t tick = cairn_world_tick(cairn_server_world(s.server, side));
    uint32_t now_room;
    uint32_t past_room;
    uint32_t none;
    assert_int_equal(fork_at(side, CAIRN_TICK_NOW, "now", &now_room), CAIRN_ROOM_CREATED);
    assert_true(cairn_hash_equal(root_of(now_room), root_of(side)));
    assert_int_equal(fork_at(side, tick - 30, "past", &past_room), CAIRN_ROOM_CREATED);
    cairn_hash128 then;
    assert_true(cairn_command_log_root(
        cairn_room_table_at(&s.server->rooms, side)->command_log, tick - 31, &then));
    assert_true(cairn_hash_equal(root_of(past_room), then));
    assert_int_equal(fork_at(side, tick + 1, "more", &none), CAIRN_ROOM_REFUSED_TABLE_FULL);
    cairn_server_room_destroy(s.server, s.now_ns, now_room, "test");
    assert_int_equal(fork_at(side, tick + 1, "more", &none), CAIRN_ROOM_REFUSED_TICK);
    assert_int_equal(fork_at(side, tick - 61, "more", &none), CAIRN_ROOM_REFUSED_TICK);
    assert_int_equal(fork_at(now_room, tick, "more", &none), CAIRN_ROOM_REFUSED_UNKNOWN);
    assert_int_equal(fork_at(side, tick, "past", &none), CAIRN_ROOM_REFUSED_NAME_TAKEN);
    story_run_ms(&s, 200);
    cairn_server_room_statistics read;
    assert_true(cairn_server_room_statistics_read(s.server, past_room, &read));
    assert_in_range(read.tick, tick - 30 + 12, tick - 30 + 14);
    assert_int_equal(read.players, 0);
    uint32_t late = story_join_room(&s, "past", CAIRN_MODE_LOCKSTEP);
    story_run_ms(&s, 300);
    assert_true(s.clients[late].ticks_stepped > 5);
    assert_int_equal(s.clients[late].roots_wrong, 0);
}

TEST("a server without a room refuses clients with that reason") {
    start(1);
    assert_true(cairn_server_room_destroy(s.server, s.now_ns, CAIRN_ROOM_MAIN, "test"));
    uint32_t refused = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 300);
    assert_int_equal(s.clients[refused].refusal, CAIRN_REFUSAL_ROOM_UNKNOWN);
}

// A match that is over from tick 120 on, until a host takes it up again.
typedef struct short_match {
    uint32_t ticks;
} short_match;

static void step_match(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t count) {
    short_match *match = state;
    (void)world;
    (void)commands;
    (void)count;
    match->ticks += 1;
}

static void begin_again(cairn_world *world, void *state, const cairn_command *command) {
    short_match *match = state;
    (void)world;
    (void)command;
    match->ticks = 0;
}

static bool match_over(const cairn_world *world, const void *state) {
    const short_match *match = state;
    (void)world;
    return match->ticks >= 120;
}

static const cairn_rules match_rules = {.name = "match",
    .version = 1,
    .state_size = sizeof(short_match),
    .step = step_match,
    .host = begin_again,
    .over = match_over};

static void start_matches(void) {
    cairn_server_config config = story_config();
    config.rooms_max = 2;
    config.first_room.rules = &match_rules;
    story_start(&s, &config);
    (void)create("endless"); // without rules that could end it
}

TEST("a match that is over ends its room only when the server is to end, a second later") {
    start_matches();
    const uint32_t plays = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 3500);
    assert_int_equal(story_statistics(&s).rooms, 2);
    cairn_server_announce_end(s.server, s.now_ns, "maintenance");
    story_run_ms(&s, 800);
    assert_int_equal(s.clients[plays].notices[CAIRN_EVENT_ROOM_CLOSES], 1);
    assert_int_equal(story_statistics(&s).clients, 1);
    story_run_ms(&s, 1500);
    assert_int_equal(s.clients[plays].notices[CAIRN_EVENT_ROOM_CLOSES], 2); // the match is over
    assert_int_equal(story_statistics(&s).clients, 0);
    assert_int_equal(story_statistics(&s).rooms, 1);
    assert_int_equal(story_statistics(&s).rooms_over, 1);
    assert_int_equal(story_statistics(&s).rooms_idle, 0);
}

TEST("a match that has not ended is played to its end, also one that begins again") {
    start_matches();
    (void)story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 500);
    cairn_server_announce_end(s.server, s.now_ns, "maintenance");
    story_run_ms(&s, 1800); // over since .3 s
    uint64_t tick;
    assert_int_equal(
        cairn_server_room_command(s.server, CAIRN_ROOM_MAIN, &(cairn_command){0}, &tick), CAIRN_OK);
    story_run_ms(&s, 1900);
    assert_int_equal(story_statistics(&s).rooms_over, 0);
    assert_int_equal(story_statistics(&s).clients, 1);
    story_run_ms(&s, 2500);
    assert_int_equal(story_statistics(&s).rooms_over, 1);
    assert_int_equal(story_statistics(&s).clients, 0);
}

TEST("a room that is paused when its match is over ends as others do") {
    start_matches();
    (void)story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 2500);
    s.server->rooms.rooms[0]->time_control.paused = true;
    story_run_ms(&s, 100);
    cairn_server_announce_end(s.server, s.now_ns, "maintenance");
    story_run_ms(&s, 1500);
    assert_int_equal(story_statistics(&s).rooms_over, 1);
}

static const cairn_scene *find_test(void *user, const char *name) {
    (void)user;
    return strcmp(name, "test") == 0 ? story_scene() : NULL;
}

static bool find_pit(void *user, const char *name, cairn_server_room_config *out) {
    (void)user;
    const bool found = strcmp(name, "pit") == 0;
    out->scene = found ? story_scene() : out->scene;
    return found;
}

TEST("a new room has the seed of the request, or else of its scene, as rooms of templates always") {
    static const struct {
        const char *scene;
        bool has_seed;
        uint64_t seed;
    } rows[] = {{"test", false, 1}, {"test", true, 5}, {"pit", false, 1}, {"pit", true, 1}};
    static story_answer answer;
    cairn_server_config config = story_config();
    config.control = true;
    config.find_scene = find_test;
    config.find_template = find_pit;
    kit_start_with(&s, &answer, &config);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        kit_do(&s, .verb = CAIRN_CONTROL_ROOM_CREATE,
            .room_create = {.name = "pit-1",
                .scene = rows[i].scene,
                .has_seed = rows[i].has_seed,
                .seed = rows[i].has_seed ? 5 : 0});
        kit_do(&s, .verb = CAIRN_CONTROL_STATE, .room = "pit-1");
        assert_int_equal(answer.answer.state.seed, rows[i].seed);
        kit_do(&s, .verb = CAIRN_CONTROL_ROOM_DESTROY, .room = "pit-1");
    }
}
