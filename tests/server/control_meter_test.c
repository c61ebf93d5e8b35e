// SPDX-License-Identifier: MIT
// What requests of operators take of the thread that all rooms share is bounded in each turn and,
// where there are several rooms, over time. What is counted are requests, not time.
#include "tests/kit/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/control/meter.h"
#include "server/core/server_state.h"
#include "tests/kit/scenes.h"
#include "tests/server/story.h"

static story s; // too large for a stack
static story_answer answer;

// A copy of this world is most of a turn's work.
static const cairn_scene *large_scene(void) {
    static const cairn_scene *large;
    if (large == NULL) {
        large = kit_scene("{'name': 'large', 'rules': 'sandbox', 'body_capacity': 2048,"
                          " 'shape_capacity': 2048, 'joint_capacity': 8, 'contact_capacity': 8192,"
                          " 'seed': 1, 'bodies': ["
                          "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                          "{'kind': 'dynamic', 'position': [0, 0.5, 0], 'grid_count': [40, 1, 40],"
                          " 'grid_spacing': [2, 1, 2],"
                          " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}");
    }
    return large;
}

static const cairn_scene *find_scene(void *user, const char *name) {
    (void)user;
    return strcmp(name, "large") == 0  ? large_scene()
           : strcmp(name, "test") == 0 ? story_scene()
                                       : NULL;
}

static void start(void) {
    cairn_server_config config = story_config();
    config.control = true;
    config.first_room.scene = large_scene();
    config.find_scene = find_scene;
    kit_start_with(&s, &answer, &config);
    kit_do(&s, .verb = CAIRN_CONTROL_PAUSE);
}

AFTER_EACH {
    story_end(&s);
}

// An edit that is refused, after which the copy in which it was tried is made again.
static const cairn_control_request refused = {
    .number = 9, .verb = CAIRN_CONTROL_DELETE, .room = "main", .delete_body = {999999}};

static uint64_t refused_count(void) {
    return s.server->statistics.controls_refused[CAIRN_CONTROL_BODY_UNKNOWN];
}

static cairn_room *room_of(const char *name) {
    return cairn_room_table_at(&s.server->rooms, cairn_room_table_find(&s.server->rooms, name));
}

// Keeps so many requests waiting for so long; returns how many were carried out, and the most in
// one turn.
#define WAITING 20
static uint64_t flood(uint32_t ms, uint64_t *most) {
    const uint64_t from = refused_count();
    uint32_t asked = answer.count;
    *most = 0;
    for (uint32_t i = 0; i < ms; i += STORY_STEP_NS / 1000000) {
        for (; asked < answer.count + WAITING; ++asked) {
            kit_send_request(&s, 0, refused);
        }
        const uint64_t before = refused_count();
        story_run_ms(&s, STORY_STEP_NS / 1000000);
        const uint64_t now = refused_count() - before;
        *most = now > *most ? now : *most;
    }
    return refused_count() - from;
}

TEST("a turn copies few worlds, whatever an operator asks for") {
    start();
    const uint64_t cost_ns = cairn_control_cost_ns(room_of("main"), &refused);
    assert_in_range(cost_ns, CAIRN_CONTROL_TURN_NS / 5, CAIRN_CONTROL_TURN_NS);
    uint64_t most;
    flood(400, &most);
    assert_in_range(most, 1, CAIRN_CONTROL_TURN_NS / cost_ns);
}

TEST("an operator has a share of the thread, if there are rooms beside its own") {
    start();
    const uint64_t cost_ns = cairn_control_cost_ns(room_of("main"), &refused);
    uint64_t most;
    const uint64_t alone = flood(2000, &most);
    story_run_ms(&s, 500); // what waits is carried out
    kit_do(&s, .verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "x", .scene = "test"});
    story_run_ms(&s, 1000);
    const uint64_t beside = flood(2000, &most);
    const uint64_t share_ns =
        (2000000000 + CAIRN_CONTROL_BURST_NS + 300000000) / CAIRN_CONTROL_SHARE;
    assert_in_range(beside, 1, share_ns / cost_ns);
    assert_true(alone > beside + beside / 2);
}

TEST("an operator who asks for too much holds up no other one") {
    start();
    kit_do(&s, .verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "x", .scene = "test"});
    const uint32_t other = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    story_run_ms(&s, 300);
    uint64_t most;
    flood(1000, &most);
    for (uint32_t i = 0; i < 5; ++i) {
        const uint64_t before = s.server->statistics.controls_done;
        kit_send(&s, other, .number = 3, .verb = CAIRN_CONTROL_SAVE, .room = "main", .save = {"a"});
        flood(60, &most);
        assert_int_equal(s.server->statistics.controls_done, before + 1);
    }
}

TEST(
    "a body that an operator breaks costs the time of its pieces, and again if it is tried again") {
    start();
    const cairn_room *room = room_of("main");
    const cairn_control_request push = {
        .verb = CAIRN_CONTROL_IMPULSE, .room = "main", .impulse = {2, {0.0f, 1.0f, 0.0f}}};
    cairn_control_request fracture = {.verb = CAIRN_CONTROL_FRACTURE,
        .room = "main",
        .fracture = {.body = 2, .point = {0.0f, 0.5f, 0.0f}, .pieces = 10}};
    const uint64_t copy_ns = cairn_control_cost_ns(room, &push);
    assert_int_equal(cairn_control_cost_ns(room, &fracture), copy_ns + 10 * CAIRN_CONTROL_PIECE_NS);
    fracture.fracture.pieces = UINT32_MAX; // will be refused
    const uint64_t most_ns = CAIRN_FRACTURE_PIECES_MAX * CAIRN_CONTROL_PIECE_NS;
    assert_int_equal(cairn_control_cost_ns(room, &fracture), copy_ns + most_ns);
    const cairn_control_edit edits[2] = {
        {.kind = CAIRN_COMMAND_FRACTURE}, {.kind = CAIRN_COMMAND_FRACTURE}};
    const cairn_control_request act = {
        .verb = CAIRN_CONTROL_ACT, .room = "main", .act = {.edits = edits, .edit_count = 2}};
    assert_int_equal(cairn_control_cost_ns(room, &act), copy_ns + 2 * most_ns);
    // One waits for the next step. As long as the copy is fresh, it is not tried again.
    fracture.fracture.pieces = 4;
    assert_int_equal(kit_ask_request(&s, fracture), CAIRN_CONTROL_DONE);
    assert_int_equal(cairn_control_cost_ns(room, &push), 0);
    assert_int_equal(kit_ask_request(&s, refused), CAIRN_CONTROL_BODY_UNKNOWN);
    assert_int_equal(cairn_control_cost_ns(room, &push), copy_ns + most_ns);
}

TEST("cheap requests are not metered") {
    start();
    kit_do(&s, .verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "x", .scene = "test"});
    const cairn_control_request cheap = {
        .number = 5, .verb = CAIRN_CONTROL_DELETE, .room = "x", .delete_body = {999999}};
    assert_in_range(cairn_control_cost_ns(room_of("x"), &cheap), 1, CAIRN_CONTROL_FREE_NS);
    const uint64_t before = refused_count();
    for (uint32_t i = 0; i < 50; ++i) {
        for (uint32_t k = 0; k < WAITING; ++k) {
            kit_send_request(&s, 0, cheap);
        }
        story_run_ms(&s, 20);
    }
    assert_int_equal(refused_count(), before + 50 * WAITING);
}

TEST("the rooms go on while the world of a new one is built") {
    start();
    kit_do(&s, .verb = CAIRN_CONTROL_RESUME);
    const uint32_t answers = answer.count;
    const uint64_t before = story_tick(&s);
    s.holds_tasks = true;
    kit_send(&s, 0, .number = 7, .verb = CAIRN_CONTROL_ROOM_CREATE,
        .room_create = {.name = "new", .scene = "large", .has_seed = true, .seed = 8});
    story_run_ms(&s, 500);
    assert_int_equal(answer.count, answers);
    assert_in_range(story_tick(&s), before + 25, before + 35);
    assert_true(room_of("new") == NULL);
    story_run_tasks(&s);
    story_run_ms(&s, 100);
    assert_int_equal(answer.count, answers + 1);
    assert_int_equal(answer.answer.refusal, CAIRN_CONTROL_DONE);
    assert_string_equal(answer.answer.room, "new");
    assert_int_equal(cairn_world_settings(room_of("new")->world)->seed, 8);
}

TEST("the name of a new room may be taken while its world is built") {
    start();
    s.operators = true;
    const uint32_t other = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    story_run_ms(&s, 300);
    s.holds_tasks = true;
    kit_send(&s, 0, .number = 7, .verb = CAIRN_CONTROL_ROOM_CREATE,
        .room_create = {.name = "new", .scene = "large"});
    story_run_ms(&s, 100);
    cairn_server_room_config config = cairn_server_room_config_default();
    config.name = "new";
    config.scene = story_scene();
    uint32_t id;
    assert_int_equal(
        cairn_server_room_create(s.server, s.now_ns, &config, &id, NULL), CAIRN_ROOM_CREATED);
    story_run_tasks(&s);
    story_run_ms(&s, 100);
    assert_int_equal(answer.answer.number, 7);
    assert_int_equal(answer.answer.refusal, CAIRN_CONTROL_NAME_TAKEN);
    // The operator may ask for another at once.
    kit_send(&s, other, .number = 8, .verb = CAIRN_CONTROL_ROOM_CREATE,
        .room_create = {.name = "newer", .scene = "test"});
    story_run_ms(&s, 300);
    assert_true(room_of("newer") != NULL);
}

TEST("a task frees the world of a room that an operator closes") {
    start();
    kit_do(&s, .verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "x", .scene = "large"});
    s.holds_tasks = true;
    const uint32_t tasks = s.task_count;
    kit_send(&s, 0, .number = 4, .verb = CAIRN_CONTROL_ROOM_DESTROY, .room = "x");
    story_run_ms(&s, 100);
    assert_true(room_of("x") == NULL);
    assert_true(s.task_count > tasks);
    story_run_tasks(&s);
}

TEST("one operator cannot keep the task thread busy by replacing worlds") {
    enum { ROOMS = 12 };
    start();
    char names[ROOMS][16];
    for (uint32_t i = 0; i < ROOMS; ++i) {
        snprintf(names[i], sizeof names[i], "x%" PRIu32, i);
        kit_do(&s, .verb = CAIRN_CONTROL_ROOM_CREATE,
            .room_create = {.name = names[i], .scene = "large"});
        kit_do(&s, .verb = CAIRN_CONTROL_PAUSE, .room = names[i]);
    }
    story_run_ms(&s, 1000);
    const cairn_control_request reset = {.number = 6, .verb = CAIRN_CONTROL_RESET, .room = "x0"};
    const uint64_t cost_ns = cairn_control_task_cost_ns(room_of("x0"), &reset);
    const uint64_t before = story_statistics(&s).total.worlds_replaced;
    for (uint32_t i = 0; i < 4 * ROOMS; ++i) { // a room lets its world be replaced four times
        kit_send(&s, 0, .number = 6, .verb = CAIRN_CONTROL_RESET, .room = names[i % ROOMS]);
        story_run_ms(&s, STORY_STEP_NS / 1000000);
    }
    const uint64_t share_ns =
        (4 * ROOMS * STORY_STEP_NS + CAIRN_CONTROL_BURST_NS) / CAIRN_CONTROL_TASK_SHARE;
    const uint64_t replaced = story_statistics(&s).total.worlds_replaced - before;
    assert_in_range(replaced, share_ns / cost_ns, share_ns / cost_ns + 2);
    assert_true(replaced < 2 * ROOMS);
}

static uint32_t done[CAIRN_SERVER_OPERATORS_MAX]; // requests of operators that are not clients

static void count_done(void *user, const cairn_control_answer *received) {
    *(uint32_t *)user += received->refusal == CAIRN_CONTROL_DONE ? 1 : 0;
}

static cairn_status ask(uint32_t asker, const cairn_control_request *request) {
    uint64_t asked;
    return cairn_server_ask(s.server, asker, request, count_done, &done[asker], &asked);
}

TEST("operators that are not clients have a budget each") {
    start();
    memset(done, 0, sizeof done);
    const cairn_control_request cheap = {.verb = CAIRN_CONTROL_STATE, .room = "main"};
    for (uint32_t i = 0; i < CAIRN_SERVER_ASKED_MAX; ++i) {
        assert_int_equal(ask(0, &cheap), CAIRN_OK);
    }
    assert_int_equal(ask(0, &cheap), CAIRN_CAPACITY);
    assert_int_equal(ask(CAIRN_SERVER_OPERATORS_MAX - 1, &cheap), CAIRN_OK);
    uint64_t asked;
    assert_int_equal(
        cairn_server_ask(s.server, CAIRN_SERVER_OPERATORS_MAX, &cheap, count_done, NULL, &asked),
        CAIRN_INVALID_ARGUMENT);
    story_run_ms(&s, 20);
    assert_int_equal(done[0], CAIRN_SERVER_ASKED_MAX);
    assert_int_equal(done[CAIRN_SERVER_OPERATORS_MAX - 1], 1);
    // One uses up its share of the thread, and another's request is carried out at once.
    kit_do(&s, .verb = CAIRN_CONTROL_ROOM_CREATE, .room_create = {.name = "x", .scene = "test"});
    const cairn_control_request save = {.verb = CAIRN_CONTROL_SAVE, .room = "main", .save = {"a"}};
    for (uint32_t i = 0; i < 100; ++i) {
        while (ask(0, &save) == CAIRN_OK) {}
        story_run_ms(&s, STORY_STEP_NS / 1000000);
    }
    const uint32_t before = done[0];
    assert_int_equal(ask(1, &save), CAIRN_OK);
    story_run_ms(&s, 12);
    assert_int_equal(done[1], 1);
    story_run_ms(&s, 100);
    assert_in_range(done[0], before + 1, before + 40);
}

TEST("of operators that wait for rooms to run, those with few requests are not refused") {
    start();
    uint32_t taken = 0;
    const cairn_control_request save = {.verb = CAIRN_CONTROL_SAVE, .room = "main", .save = {"a"}};
    s.holds_tasks = true;
    for (uint32_t asker = 0; asker < 4; ++asker) {
        for (uint32_t i = 0; i < CAIRN_SERVER_ASKED_MAX; ++i) {
            taken += ask(asker, &save) == CAIRN_OK ? 1 : 0;
        }
    }
    assert_in_range(taken, 1, 3 * CAIRN_SERVER_ASKED_MAX + 2);
    assert_int_equal(ask(5, &save), CAIRN_OK);
    story_run_ms(&s, 20);
    story_run_tasks(&s);
}
