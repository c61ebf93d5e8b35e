// SPDX-License-Identifier: MIT
// What the server does while rooms' jobs run on threads, and that a stuck room does not delay the
// others. The jobs wait in a list until the test runs them.
#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/server_state.h"
#include "sim/serialize/sketch.h"
#include "tests/kit/scenes.h"
#include "tests/server/story.h"
#include <cairn/server_lag.h>

static story s;
static cairn_server_job *waiting[8];
static uint32_t waiting_count;
static bool refuses;

static bool take_job(void *user, cairn_server_job *job) {
    (void)user;
    assert_in_range(waiting_count, 0, 7);
    if (!refuses) {
        waiting[waiting_count++] = job;
    }
    return !refuses;
}

// Runs all jobs except those of one room.
static void run_jobs_except(uint32_t stuck) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < waiting_count; ++i) {
        if (waiting[i]->room->id == stuck) {
            waiting[left++] = waiting[i];
            continue;
        }
        cairn_server_job_run(waiting[i]);
        cairn_server_job_done(s.server, s.now_ns, waiting[i]);
    }
    waiting_count = left;
}

static void run_ms(uint32_t ms, uint32_t stuck) {
    for (uint32_t i = 0; i < ms; i += 4) {
        story_run_ms(&s, 4);
        run_jobs_except(stuck);
    }
}

static uint32_t start_with(const char *second, bool control) {
    waiting_count = 0;
    refuses = false;
    cairn_server_config config = story_config();
    config.run_job = take_job;
    config.control = control;
    story_start(&s, &config);
    cairn_server_room_config room = cairn_server_room_config_default();
    room.name = second;
    room.scene = kit_scene_stack_and_row();
    uint32_t id = 0;
    assert_int_equal(
        cairn_server_room_create(s.server, s.now_ns, &room, &id, NULL), CAIRN_ROOM_CREATED);
    return id;
}

static uint32_t start(const char *second) {
    return start_with(second, false);
}

AFTER_EACH {
    run_jobs_except(0);
    story_end(&s);
}

static uint64_t tick_of(uint32_t room) {
    cairn_server_room_statistics read;
    assert_true(cairn_server_room_statistics_read(s.server, room, &read));
    return read.tick;
}

TEST("clients see no difference between ticks stepped on a thread and at once") {
    start("side");
    uint32_t exact = story_join_room(&s, "side", CAIRN_MODE_LOCKSTEP);
    uint32_t shown = story_join_room(&s, "main", CAIRN_MODE_INTERPOLATE);
    s.clients[shown].buttons = CAIRN_SANDBOX_JUMP;
    run_ms(1500, 0);
    assert_true(s.clients[exact].ticks_stepped > 60);
    assert_int_equal(s.clients[exact].roots_wrong, 0);
    assert_true(s.clients[shown].deltas > 20);
    assert_int_equal(s.clients[shown].deltas_failed, 0);
    const cairn_server_statistics all = story_statistics(&s);
    assert_int_equal(all.total.roots_differed, 0);
    assert_int_equal(all.total.ticks_skipped, 0);
}

TEST("a stuck room does not stall the others") {
    uint32_t stuck = start("stuck");
    uint32_t shown = story_join_room(&s, "main", CAIRN_MODE_INTERPOLATE);
    run_ms(500, 0);
    uint64_t main_tick = tick_of(CAIRN_ROOM_MAIN);
    uint64_t stuck_tick = tick_of(stuck);
    uint32_t late = story_join_room(&s, "stuck", CAIRN_MODE_LOCKSTEP);
    run_ms(900, stuck);
    assert_false(story_has_event(&s, "room_stuck"));
    run_ms(600, stuck);
    assert_true(story_has_event(&s, "room_stuck"));
    assert_in_range(tick_of(CAIRN_ROOM_MAIN), main_tick + 88, main_tick + 92);
    assert_in_range(tick_of(stuck), stuck_tick, stuck_tick + 1);
    assert_true(s.clients[shown].deltas > 30);
    assert_true(s.clients[late].welcomed);
    assert_null(cairn_server_world(s.server, stuck));
    const cairn_view_time view_time = {.tick = stuck_tick, .span = 1};
    const cairn_world *past;
    assert_int_equal(cairn_server_lag_world(s.server, stuck, &view_time, &past), CAIRN_LAG_BUSY);
    assert_int_equal(cairn_server_lag_enable(s.server, stuck, 100), CAIRN_LAG_BUSY);
    cairn_server_room_config copy = cairn_server_room_config_default();
    copy.name = "copy";
    uint32_t none;
    assert_int_equal(
        cairn_server_room_fork(s.server, s.now_ns, stuck, CAIRN_TICK_NOW, &copy, &none, NULL),
        CAIRN_ROOM_REFUSED_BUSY);
    run_ms(500, 0);
    assert_true(story_has_event(&s, "room_unstuck"));
    cairn_server_room_statistics read;
    cairn_server_room_statistics_read(s.server, stuck, &read);
    assert_int_equal(read.jobs_stuck, 1);
    assert_in_range(read.ticks_skipped, 80, 92);
    assert_true(s.clients[late].ticks_stepped > 10);
    assert_int_equal(s.clients[late].roots_wrong, 0);
}

static void request_resync(uint32_t client) {
    static uint8_t sketch[40 * CAIRN_SKETCH_CELL_SIZE];
    const cairn_world *world = s.clients[client].world;
    cairn_sketch_build(world, 40, sketch);
    const cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST,
        .resync_request = {.tick = cairn_world_tick(world),
            .want = CAIRN_RESYNC_WANT_ELEMENTS,
            .difference_sketch = sketch,
            .difference_sketch_size = sizeof sketch}};
    story_send(&s, client, &message, true);
}

// So many clients ask so often each, while a job is out. Returns how often the server refused.
static uint32_t ask_while_a_job_is_out(uint32_t clients, uint32_t times) {
    uint32_t numbers[3];
    uint32_t refused = 0;
    start("side");
    for (uint32_t i = 0; i < clients; ++i) {
        numbers[i] = story_join_room(&s, "side", CAIRN_MODE_HEAL);
    }
    run_ms(600, 0);
    story_run_ms(&s, 40); // the room's next job is taken and not done
    assert_true(waiting_count > 0);
    for (uint32_t i = 0; i < times * clients; ++i) {
        request_resync(numbers[i % clients]);
        story_run_ms(&s, 40);
    }
    assert_int_equal(story_statistics(&s).total.resync_requests, times * clients);
    for (uint32_t i = 0; i < clients; ++i) {
        assert_int_equal(s.clients[numbers[i]].responses[CAIRN_RESYNC_DONE], 0);
        refused += s.clients[numbers[i]].responses[CAIRN_RESYNC_TOO_OFTEN];
    }
    run_ms(200, 0);
    uint32_t done = 0;
    for (uint32_t i = 0; i < clients; ++i) {
        done += s.clients[numbers[i]].responses[CAIRN_RESYNC_DONE];
    }
    assert_int_equal(done + refused, times * clients);
    story_end(&s);
    return refused;
}

TEST("resync requests wait for their room's job, up to a limit for each client and for all") {
    assert_int_equal(ask_while_a_job_is_out(1, 3), 0);
    assert_int_equal(ask_while_a_job_is_out(1, 4), 1);
    assert_int_equal(ask_while_a_job_is_out(2, 3), 0);
    assert_int_equal(ask_while_a_job_is_out(3, 3), 1);
}

TEST("a stuck room can be closed and the server drained") {
    uint32_t stuck = start("stuck");
    uint32_t inside = story_join_room(&s, "stuck", CAIRN_MODE_INTERPOLATE);
    run_ms(500, 0);
    run_ms(100, stuck);
    assert_int_equal(cairn_server_jobs_out(s.server), 1);
    assert_true(cairn_server_room_destroy(s.server, s.now_ns, stuck, "it is stuck"));
    assert_int_equal(cairn_server_room_find(s.server, "stuck"), 0);
    run_ms(200, stuck);
    assert_int_equal(s.clients[inside].notices[CAIRN_EVENT_ROOM_CLOSES], 1);
    cairn_server_drain(s.server, s.now_ns);
    run_ms(1100, stuck);
    assert_true(cairn_server_drained(s.server));
    assert_int_equal(cairn_server_jobs_out(s.server), 1);
    run_jobs_except(0);
    assert_int_equal(cairn_server_jobs_out(s.server), 0);
    assert_int_equal(story_statistics(&s).rooms, 1);
}

TEST("a job that no thread takes runs on the server's thread") {
    uint32_t side = start("side");
    refuses = true;
    uint64_t before = tick_of(side);
    run_ms(500, 0);
    assert_int_equal(waiting_count, 0);
    assert_in_range(tick_of(side), before + 29, before + 31);
}

TEST("a server's only room is stepped on the server's thread") {
    uint32_t side = start("side");
    run_ms(100, 0);
    assert_true(cairn_server_room_destroy(s.server, s.now_ns, side, "test"));
    run_jobs_except(0);
    uint64_t before = tick_of(CAIRN_ROOM_MAIN);
    story_run_ms(&s, 500);
    assert_int_equal(waiting_count, 0);
    assert_in_range(tick_of(CAIRN_ROOM_MAIN), before + 29, before + 31);
}

TEST("a resync request of a client that left is forgotten") {
    const uint32_t side = start("side");
    const uint32_t leaves = story_join_room(&s, "side", CAIRN_MODE_HEAL);
    const uint32_t stays = story_join_room(&s, "side", CAIRN_MODE_HEAL);
    run_ms(600, 0);
    run_ms(40, side);
    request_resync(leaves);
    request_resync(stays);
    run_ms(40, side);
    story_leave(&s, leaves);
    run_ms(100, side);
    assert_true(story_has_event(&s, "client_left"));
    run_ms(200, 0);
    assert_int_equal(s.clients[stays].responses[CAIRN_RESYNC_DONE], 1);
    assert_int_equal(story_statistics(&s).total.resync_responses[CAIRN_RESYNC_DONE], 1);
}

static story_answer answer;

static uint32_t join_operator(void) {
    s.operators = true;
    const uint32_t client = story_join_room(&s, "main", CAIRN_MODE_INTERPOLATE);
    s.operators = false;
    memset(&answer, 0, sizeof answer);
    s.clients[client].answer = &answer;
    run_ms(400, 0);
    return client;
}

static void ask(uint32_t client, uint32_t number, cairn_control_verb verb, const char *room) {
    kit_send(&s, client, .number = number, .verb = verb, .room = room);
}

TEST("a request that waits for a room's job holds up the later ones of its client") {
    const uint32_t side = start_with("side", true);
    const uint32_t client = join_operator();
    run_ms(40, side);
    ask(client, 1, CAIRN_CONTROL_STATE, "side");
    ask(client, 2, CAIRN_CONTROL_ROOMS, "");
    run_ms(200, side);
    assert_int_equal(answer.count, 0);
    run_ms(200, 0);
    assert_int_equal(answer.count, 2);
    assert_int_equal(answer.answer.number, 2);
}

// A queued request is dropped with its client; one that the room has begun outlives it.
TEST("a client is not answered requests of the client that had its index before") {
    start_with("side", true);
    const uint32_t leaves = join_operator();
    kit_send(&s, leaves, .number = 1, .verb = CAIRN_CONTROL_RUN_UNTIL,
        .run_until = {.tick = tick_of(CAIRN_ROOM_MAIN) + 60});
    run_ms(40, 0);
    story_leave(&s, leaves);
    run_ms(100, 0);
    const uint32_t follows = join_operator();
    assert_int_equal(s.server->sessions[0].client_id, s.clients[follows].client_id);
    assert_int_equal(answer.count, 0);
    run_ms(1000, 0);
    assert_int_equal(s.clients[follows].notices[CAIRN_EVENT_PAUSED], 1);
    assert_int_equal(answer.count, 0);
}

// What each step takes, by the clock of the server below.
static uint64_t step_cost_ns;
static uint64_t clock_read_ns;

static uint64_t read_clock(void *user) {
    (void)user;
    clock_read_ns += step_cost_ns;
    return clock_read_ns;
}

// A room of so many boxes, none of which moves for long, beside the main one.
static uint32_t start_measured(uint32_t boxes) {
    char text[512];
    snprintf(text, sizeof text,
        "{'name': 'boxes', 'rules': 'sandbox', 'body_capacity': 2000, 'shape_capacity': 2000,"
        " 'joint_capacity': 4, 'contact_capacity': 8192, 'seed': 1, 'bodies': ["
        "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
        "{'kind': 'dynamic', 'position': [0, 0.5, 0], 'grid_count': [%u, 1, 1],"
        " 'grid_spacing': [2, 1, 2],"
        " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}",
        boxes);
    waiting_count = 0;
    refuses = false;
    cairn_server_config config = story_config();
    config.run_job = take_job;
    config.clock_ns = read_clock;
    config.control = true;
    story_start(&s, &config);
    cairn_server_room_config room = cairn_server_room_config_default();
    room.name = "boxes";
    room.scene = kit_scene(text);
    uint32_t id = 0;
    step_cost_ns = 50000;
    assert_int_equal(
        cairn_server_room_create(s.server, s.now_ns, &room, &id, NULL), CAIRN_ROOM_CREATED);
    run_ms(200, 0); // measured
    return id;
}

// How many of the room's batches went to a thread within the time, in which each is run at once.
static uint32_t handed_over(uint32_t room, uint32_t ms) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < ms; i += 4) {
        story_run_ms(&s, 4);
        for (uint32_t k = 0; k < waiting_count; ++k) {
            count += waiting[k]->room->id == room ? 1 : 0;
        }
        run_jobs_except(0);
    }
    return count;
}

TEST("a cheap room is stepped at once, and one whose last step was long is not") {
    const uint32_t room = start_measured(10);
    assert_int_equal(handed_over(room, 500), 0);
    step_cost_ns = 5000000;
    assert_int_equal(handed_over(room, 20), 0); // nobody could know
    step_cost_ns = 50000;
    assert_int_equal(handed_over(room, 100), 1);
}

TEST("what batches and ticks take on average is what each of them takes, if that is the same") {
    const uint32_t room = start_measured(10);
    step_cost_ns = 250000; // beyond inline_step_us_max, which is 200
    (void)handed_over(room, 3000);
    assert_in_range(handed_over(room, 2000), 119, 121);
    const uint64_t load = story_statistics(&s).load_permille; // of two rooms
    assert_in_range(load, 2 * 14, 2 * 15);
}

TEST("a room with many bodies is not stepped at once, for they may wake") {
    const uint32_t room = start_measured(CAIRN_JOB_BODIES_MAX + 1);
    assert_in_range(handed_over(room, 500), 29, 31);
}

static cairn_room *room_of(uint32_t id) {
    return cairn_room_table_at(&s.server->rooms, id);
}

TEST("a batch with an explosion or a fracture, or with many edits, is not stepped at once") {
    const uint32_t room = start_measured(10);
    const cairn_command bang = {
        .kind = CAIRN_COMMAND_EXPLODE, .buttons = UINT32_MAX, .move = {0, 1, 0}, .aim = {5, 1, 1}};
    assert_true(cairn_inbox_edit(room_of(room)->inbox, &bang, 1));
    assert_int_equal(handed_over(room, 100), 1);
    const cairn_command shatter = {.kind = CAIRN_COMMAND_FRACTURE, .aim = {8, 0, 0}};
    assert_true(cairn_inbox_edit(room_of(room)->inbox, &shatter, 1));
    assert_int_equal(handed_over(room, 100), 1);
    const cairn_command push = {.kind = CAIRN_COMMAND_SET_GRAVITY, .move = {0, -9, 0}};
    for (uint32_t i = 0; i < CAIRN_JOB_EDITS_MAX; ++i) {
        assert_true(cairn_inbox_edit(room_of(room)->inbox, &push, 1));
    }
    assert_int_equal(handed_over(room, 100), 0);
    for (uint32_t i = 0; i <= CAIRN_JOB_EDITS_MAX; ++i) {
        assert_true(cairn_inbox_edit(room_of(room)->inbox, &push, 1));
    }
    assert_int_equal(handed_over(room, 100), 1);
}

TEST("the first batch of a world that replaced another is not stepped at once") {
    const uint32_t room = start_measured(10);
    cairn_world *fork;
    assert_int_equal(cairn_world_fork(room_of(room)->world, &fork), CAIRN_OK);
    const cairn_world_population population = cairn_world_population_read(fork);
    cairn_world_destroy(cairn_room_set_world(room_of(room), fork, &population));
    assert_int_equal(handed_over(room, 100), 1);
}
