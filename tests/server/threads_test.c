// SPDX-License-Identifier: MIT
// Rooms on real threads under the driver of cairnd; the thread sanitizer runs this test.
#define _POSIX_C_SOURCE 200809L
#include "tests/kit/test.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "server/core/server_state.h"
#include "tests/kit/scenes.h"
#include "tests/server/uv_kit.h"
#include <cairn/server_uv.h>

#define ROOMS 6

static cairn_uv_driver *driver;
static cairn_server *server;
static uint64_t recorded; // bytes; written by one thread at a time
static uint32_t jobs_taken;

// Rules whose step does not return before the test lets it, ten seconds at most.
static atomic_bool released;

static void stuck_step(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)memory;
    (void)commands;
    (void)command_count;
    for (int ms = 0; ms < 10000 && !atomic_load(&released); ++ms) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static const cairn_rules stuck_rules = {.name = "stuck", .version = 1, .step = stuck_step};

// When the room `free` has been stepped so often, the stuck one is released.
#define FREE_TICKS 20
static bool watched;
static uint32_t free_room;
static uint32_t stuck_room;
static uint64_t stuck_tick_at_release;

static uint64_t tick_of(uint32_t room) {
    cairn_server_room_statistics statistics;
    assert_true(cairn_server_room_statistics_read(server, room, &statistics));
    return statistics.tick;
}

// A disk that takes as long for a write as thirty ticks take, five seconds at most.
static bool disk_is_slow;
static atomic_uint jobs_seen;
static atomic_uint slow_writes;
static atomic_uint stalled_writes;

static bool take_job(void *user, cairn_server_job *job) {
    (void)user;
    jobs_taken += 1;
    atomic_fetch_add(&jobs_seen, 1);
    if (watched && !atomic_load(&released) && tick_of(free_room) >= FREE_TICKS) {
        stuck_tick_at_release = tick_of(stuck_room);
        atomic_store(&released, true);
    }
    return cairn_uv_driver_run_job(driver, job);
}

static uint64_t on_clock(void *user) {
    (void)user;
    return cairn_uv_now_ns();
}

static bool on_record(void *user, const char *room, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)room;
    (void)bytes;
    recorded += size;
    if (disk_is_slow && size > 0 && atomic_load(&slow_writes) < 3) {
        atomic_fetch_add(&slow_writes, 1);
        const uint32_t before = atomic_load(&jobs_seen);
        int ms = 0;
        while (ms < 5000 && atomic_load(&jobs_seen) < before + 30) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            ++ms;
        }
        atomic_fetch_add(&stalled_writes, ms == 5000 ? 1 : 0);
    }
    return true;
}

static bool take_task(void *user, cairn_server_task *task) {
    (void)user;
    return disk_is_slow && cairn_uv_driver_run_task(driver, task);
}

BEFORE_EACH {
    char error[CAIRN_UV_ERROR_SIZE];
    cairn_address address;
    assert_true(cairn_address_parse("127.0.0.1:0", &address));
    assert_int_equal(cairn_uv_driver_open(&address, &driver, error), CAIRN_OK);
    address = cairn_uv_driver_address(driver);
    cairn_server_config config = kit_uv_config(&address);
    config.clock_ns = on_clock;
    config.run_job = take_job;
    config.run_task = take_task;
    config.inline_step_us_max = 0; // also cheap rooms go to threads
    config.on_record = on_record;
    assert_int_equal(cairn_server_create(&config, &server), CAIRN_OK);
}

AFTER_EACH {
    assert_int_equal(cairn_server_jobs_out(server), 0);
    cairn_server_destroy(server);
    cairn_uv_driver_close(driver);
}

static void create_rooms(uint32_t rooms[ROOMS]) {
    for (uint32_t i = 0; i < ROOMS; ++i) {
        char name[CAIRN_ROOM_NAME_SIZE];
        snprintf(name, sizeof name, "room%u", (unsigned)i);
        cairn_server_room_config room = cairn_server_room_config_default();
        room.name = name;
        room.scene = kit_scene_stack_and_row();
        assert_int_equal(
            cairn_server_room_create(server, cairn_uv_now_ns(), &room, &rooms[i], NULL),
            CAIRN_ROOM_CREATED);
        cairn_state_history_require(cairn_room_table_at(&server->rooms, rooms[i])->state_history,
            CAIRN_STATE_HISTORY_FOR_LAG, 30);
    }
}

TEST("rooms of one scene have equal roots on threads") {
    uint32_t rooms[ROOMS];
    create_rooms(rooms);
    const cairn_uv_run run = {.server = server, .seconds = 1};
    cairn_uv_driver_run(driver, &run);
    assert_true(jobs_taken > 10 * ROOMS);
    assert_true(recorded > 1000);
    const cairn_room *first = cairn_room_table_at(&server->rooms, rooms[0]);
    for (uint32_t i = 1; i < ROOMS; ++i) {
        const cairn_room *other = cairn_room_table_at(&server->rooms, rooms[i]);
        uint64_t end = cairn_command_log_end(first->command_log);
        uint64_t other_end = cairn_command_log_end(other->command_log);
        end = other_end < end ? other_end : end;
        assert_true(end > 10);
        for (uint64_t tick = 0; tick < end; ++tick) {
            cairn_hash128 a;
            cairn_hash128 b;
            assert_true(cairn_command_log_root(first->command_log, tick, &a));
            assert_true(cairn_command_log_root(other->command_log, tick, &b));
            assert_true(cairn_hash_equal(a, b));
        }
    }
}

TEST("a slow disk delays no tick") {
    uint32_t rooms[ROOMS];
    create_rooms(rooms);
    const cairn_uv_run run = {.server = server, .seconds = 3};
    disk_is_slow = true;
    cairn_uv_driver_run(driver, &run);
    disk_is_slow = false;
    assert_true(atomic_load(&slow_writes) > 0);
    assert_int_equal(atomic_load(&stalled_writes), 0);
    assert_int_equal(cairn_server_tasks_out(server), 0);
}

TEST("a room that is stuck on its thread does not stall another") {
    cairn_server_room_config room = cairn_server_room_config_default();
    room.scene = kit_scene("{'name': 'still', 'bodies': []}");
    room.name = "free";
    assert_int_equal(cairn_server_room_create(server, cairn_uv_now_ns(), &room, &free_room, NULL),
        CAIRN_ROOM_CREATED);
    room.name = "stuck";
    room.rules = &stuck_rules;
    assert_int_equal(cairn_server_room_create(server, cairn_uv_now_ns(), &room, &stuck_room, NULL),
        CAIRN_ROOM_CREATED);
    watched = true;
    const cairn_uv_run run = {.server = server, .seconds = 1};
    cairn_uv_driver_run(driver, &run);
    watched = false;
    assert_true(atomic_load(&released));
    assert_int_equal(stuck_tick_at_release, 0);
    assert_true(tick_of(free_room) >= FREE_TICKS);
}
