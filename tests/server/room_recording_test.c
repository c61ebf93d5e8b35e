// SPDX-License-Identifier: MIT
// The recording of a room while its writer is slow, stuck or fails: no tick waits, what is lost is
// counted, and every file verifies.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "recording/player.h"
#include "tests/kit/scenes.h"
#include <cairn/server.h>
#include <cairn/sim.h>

#define FILES_MAX 64
#define TICK_NS (CAIRN_NS_PER_S / 60)

static cairn_server *server;
static cairn_server_room_config room_config; // of the first room
static uint64_t now_ns;
#define TASKS_MAX 8
static cairn_server_task *tasks[TASKS_MAX]; // handed over and not run, in order
static uint32_t task_count;
static bool holds_tasks;
static bool broadcasts;
static bool segments_fail;
static uint32_t segments_ended, broadcasts_ended;
static uint32_t writes;
static uint32_t fail_from, fail_to; // writes [fail_from, fail_to) fail
static bool fails_to_close;
static char events[4096];

typedef struct record_file {
    uint8_t *bytes;
    size_t size;
    bool closed;
} record_file;
static record_file files[FILES_MAX];
static uint32_t file_count;

static bool on_record(void *user, const char *room, const uint8_t *bytes, size_t size) {
    (void)user;
    assert_string_equal(room, CAIRN_ROOM_NAME_DEFAULT);
    const bool open = file_count > 0 && !files[file_count - 1].closed;
    if (size == 0) {
        if (open) {
            files[file_count - 1].closed = true;
        }
        return !fails_to_close;
    }
    writes += 1;
    if (writes > fail_from && writes <= fail_to) {
        return false;
    }
    if (!open) {
        assert_true(file_count < FILES_MAX);
        files[file_count++] = (record_file){.size = 0};
    }
    record_file *file = &files[file_count - 1];
    file->bytes = realloc(file->bytes, file->size + size);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
    return true;
}

static bool on_segment(
    void *user, const cairn_server_segment *segment, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)bytes;
    segments_ended += size == 0 ? 1 : 0;
    broadcasts_ended += size == 0 && segment->last ? 1 : 0;
    return size == 0 || !segments_fail;
}

static bool take_task(void *user, cairn_server_task *taken) {
    (void)user;
    if (!holds_tasks) {
        return false;
    }
    assert_true(task_count < TASKS_MAX);
    tasks[task_count++] = taken;
    return true;
}

static void on_event(void *user, const cairn_server_event *event) {
    (void)user;
    assert_true(strlen(events) + strlen(event->name) + 2 < sizeof events);
    strcat(strcat(events, event->name), " ");
}

static uint32_t event_count(const char *name) {
    uint32_t count = 0;
    for (const char *at = events; (at = strstr(at, name)) != NULL; ++at) {
        ++count;
    }
    return count;
}

static void run_tasks(void) {
    while (task_count > 0) {
        cairn_server_task *done = tasks[0];
        task_count -= 1;
        memmove(tasks, tasks + 1, task_count * sizeof *tasks);
        cairn_server_task_run(done);
        cairn_server_task_done(server, now_ns, done);
    }
}

static void start(void) {
    static const uint8_t secret[CAIRN_KEY_SIZE] = {1};
    static const uint8_t seed[CAIRN_KEY_SIZE] = {2};
    cairn_server_config config = cairn_server_config_default();
    now_ns = CAIRN_NS_PER_S;
    config.private_key = secret;
    config.entropy = secret;
    cairn_address address;
    assert_true(cairn_address_parse("127.0.0.1:1", &address));
    config.public_addresses = &address;
    config.public_address_count = 1;
    config.start_ns = now_ns;
    config.on_record = on_record;
    config.on_segment = broadcasts ? on_segment : NULL;
    config.on_event = on_event;
    config.run_task = take_task;
    config.recording_waiting_bytes_max = 0;
    config.record_seed = seed;
    config.first_room.scene =
        kit_scene("{'name': 'small', 'body_capacity': 8, 'shape_capacity': 8, 'joint_capacity': 0,"
                  " 'hull_capacity': 0, 'contact_capacity': 16, 'bodies': ["
                  "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                  "{'kind': 'dynamic', 'position': [0, 0.6, 0], 'grid_count': [3, 1, 1],"
                  " 'grid_spacing': [2, 1, 1],"
                  " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}");
    room_config = config.first_room;
    assert_int_equal(cairn_server_create(&config, &server), CAIRN_OK);
}

static void run_ticks(uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        now_ns += TICK_NS;
        cairn_server_advance(server, now_ns);
    }
}

static cairn_server_statistics statistics(void) {
    cairn_server_statistics now;
    cairn_server_statistics_read(server, &now);
    return now;
}

static uint64_t tick(void) {
    return cairn_world_tick(cairn_server_world(server, CAIRN_ROOM_MAIN));
}

// Replays every file; the sum of their ticks. `sealed`: each must be complete.
static uint64_t verify_files(bool sealed) {
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < file_count; ++i) {
        cairn_player *player;
        char text[CAIRN_PLAYER_TEXT_SIZE];
        uint8_t key[CAIRN_RECORDING_KEY_SIZE];
        assert_int_equal(
            cairn_player_create(files[i].bytes, files[i].size, &player, text), CAIRN_OK);
        cairn_player_event event;
        while ((event = cairn_player_next(player)) != CAIRN_PLAYER_END) {
            assert_int_not_equal(event, CAIRN_PLAYER_REFUSED);
            const cairn_hash128 root = cairn_world_hash_read(cairn_player_world(player)).full;
            assert_true(cairn_hash_equal(root, cairn_player_recorded_hash(player)) ||
                        event != CAIRN_PLAYER_TICK);
            ticks += event == CAIRN_PLAYER_TICK ? 1 : 0;
        }
        assert_true(cairn_player_complete(player) || !sealed);
        assert_true(!sealed || cairn_recording_check_seal(files[i].bytes, files[i].size, key) ==
                                   CAIRN_SEAL_SIGNED);
        cairn_player_destroy(player);
    }
    return ticks;
}

BEFORE_EACH {
    task_count = 0;
    holds_tasks = false;
    broadcasts = segments_fail = false;
    segments_ended = broadcasts_ended = 0;
    writes = fail_from = fail_to = 0;
    fails_to_close = false;
    events[0] = '\0';
    file_count = 0;
    memset(files, 0, sizeof files);
}

AFTER_EACH {
    run_tasks();
    cairn_server_destroy(server);
    server = NULL;
    for (uint32_t i = 0; i < file_count; ++i) {
        free(files[i].bytes);
    }
}

TEST("a writer that is stuck delays no tick, and what it misses is counted") {
    start();
    holds_tasks = true;
    run_ticks(60000);
    assert_int_equal(tick(), 60000);
    assert_int_equal(statistics().total.ticks_skipped, 0);
    assert_int_equal(event_count("recording_gap"), 1);
    assert_int_equal(statistics().total.recording_gaps, 1);
    const uint64_t lost = statistics().total.recording_ticks_lost;
    assert_in_range(lost, 1000, 59000);
    holds_tasks = false;
    run_tasks();
    run_ticks(300);
    assert_int_equal(event_count("recording_resumed"), 1);
    cairn_server_drain(server, now_ns);
    assert_int_equal(file_count, 2);
    assert_int_equal(statistics().total.recording_segments, 2);
    assert_int_equal(statistics().total.recording_ticks_lost, 60300 - verify_files(true));
    assert_int_equal(statistics().total.recording_bytes, files[0].size + files[1].size);
}

TEST("a writer that is slow loses nothing") {
    start();
    for (int i = 0; i < 20; ++i) {
        holds_tasks = true;
        run_ticks(77);
        holds_tasks = false;
        run_tasks();
    }
    cairn_server_drain(server, now_ns);
    assert_int_equal(file_count, 1);
    assert_int_equal(verify_files(true), 20 * 77);
    assert_int_equal(statistics().total.recording_ticks_lost, 0);
}

TEST("whatever write fails, the recording continues in a file that verifies") {
    for (uint32_t first = 0; first < 14; ++first) {
        for (uint32_t count = 1; count < 4; ++count) {
            fail_from = first;
            fail_to = first + count;
            start();
            run_ticks(1200);
            cairn_server_drain(server, now_ns);
            const cairn_server_statistics now = statistics();
            const uint64_t ticks = verify_files(false);
            assert_int_equal(ticks + now.total.recording_ticks_lost, 1200);
            assert_int_equal(now.total.recording_failures, count);
            assert_int_equal(event_count("recording_failed"), 1);
            assert_int_equal(event_count("recording_resumed"), 1);
            assert_in_range(now.total.recording_ticks_lost, 0, 64 * (count + 1));
            assert_true(file_count == (first == 0 ? 1 : 2));
            assert_int_equal(now.total.recording_segments, file_count);
            cairn_server_destroy(server);
            server = NULL;
            for (uint32_t i = 0; i < file_count; ++i) {
                free(files[i].bytes);
            }
            before_each();
        }
    }
}

TEST("of what waits when a write fails all ticks up to the next start are lost, and counted") {
    for (uint32_t good = 0; good < 6; ++good) {
        start();
        run_ticks(100);
        holds_tasks = true;
        run_ticks(600); // some pieces
        fail_from = writes + good;
        fail_to = fail_from + 1;
        holds_tasks = false;
        run_tasks();
        const uint64_t lost = statistics().total.recording_ticks_lost;
        assert_in_range(lost, 1, 660);
        run_ticks(600);
        cairn_server_drain(server, now_ns);
        assert_int_equal(statistics().total.recording_ticks_lost, 1300 - verify_files(false));
        assert_int_equal(statistics().total.recording_failures, 1);
        cairn_server_destroy(server);
        server = NULL;
        for (uint32_t i = 0; i < file_count; ++i) {
            free(files[i].bytes);
        }
        before_each();
    }
}

TEST("an end that cannot be written is reported") {
    start();
    run_ticks(30);
    fail_from = writes;
    fail_to = UINT32_MAX;
    cairn_server_drain(server, now_ns);
    assert_int_equal(statistics().total.recording_failures, 1);
    assert_int_equal(event_count("recording_incomplete"), 1);
    assert_int_equal(statistics().total.recording_ticks_lost, 30);
}

TEST("a file that cannot be closed is reported") {
    start();
    run_ticks(30);
    fails_to_close = true;
    cairn_server_drain(server, now_ns);
    assert_int_equal(statistics().total.recording_failures, 1);
    assert_int_equal(event_count("recording_incomplete"), 1);
}

TEST("a drain waits for recordings, but not for ever") {
    start();
    holds_tasks = true;
    run_ticks(100);
    cairn_server_drain(server, now_ns);
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    assert_int_equal(cairn_server_send(server, now_ns, &to, bytes), 0);
    assert_false(cairn_server_drained(server));
    now_ns += 2 * CAIRN_NS_PER_S;
    cairn_server_advance(server, now_ns);
    assert_false(cairn_server_drained(server));
    assert_true(cairn_server_deadline_ns(server) > now_ns);
    now_ns += 8 * CAIRN_NS_PER_S;
    cairn_server_advance(server, now_ns);
    assert_true(cairn_server_drained(server));
    assert_int_equal(cairn_server_tasks_out(server), 1);
    run_tasks();
    assert_int_equal(verify_files(true), 100);
}

TEST("a room that closes while its recording is written is counted once") {
    start();
    holds_tasks = true;
    run_ticks(100);
    const uint64_t before = statistics().total.recording_segments;
    assert_true(cairn_server_room_destroy(server, now_ns, CAIRN_ROOM_MAIN, "test"));
    assert_int_equal(statistics().total.recording_segments, before);
    run_tasks();
    assert_int_equal(statistics().total.recording_segments, 1);
    assert_int_equal(statistics().total.recording_bytes, files[0].size);
    assert_int_equal(verify_files(true), 100);
}

TEST("what a recording lost is counted while its room, which closed, is still written") {
    fail_from = 2;
    fail_to = 3;
    start();
    run_ticks(1200);
    holds_tasks = true;
    run_ticks(100);
    const uint64_t lost = statistics().total.recording_ticks_lost;
    assert_in_range(lost, 1, 128);
    assert_true(cairn_server_room_destroy(server, now_ns, CAIRN_ROOM_MAIN, "test"));
    assert_int_equal(statistics().total.recording_ticks_lost, lost);
    run_tasks();
    assert_int_equal(statistics().total.recording_ticks_lost, lost);
    assert_int_equal(verify_files(false) + lost, 1300);
}

TEST("rooms that follow each other under one name are written one after the other") {
    start();
    holds_tasks = true;
    char reason[CAIRN_ROOM_REASON_SIZE];
    uint32_t room = CAIRN_ROOM_MAIN;
    for (uint32_t ticks = 100; ticks > 70; ticks -= 10) {
        run_ticks(ticks);
        assert_true(cairn_server_room_destroy(server, now_ns, room, "test"));
        room_config.name = CAIRN_ROOM_NAME_DEFAULT;
        room_config.recorded = true;
        assert_int_equal(cairn_server_room_create(server, now_ns, &room_config, &room, reason), 0);
    }
    run_tasks();
    assert_int_equal(file_count, 3);
    assert_int_equal(verify_files(true), 100 + 90 + 80);
    run_ticks(5);
    assert_true(cairn_server_room_destroy(server, now_ns, room, "test"));
    run_tasks();
    assert_int_equal(file_count, 4);
    assert_int_equal(verify_files(true), 100 + 90 + 80 + 5);
}

// Every part has a state of the same size, once all is at rest.
TEST("what waits of a broadcast grows by as many bytes with each part") {
    uint64_t waiting[4];
    broadcasts = true;
    holds_tasks = true;
    start();
    run_ticks(60);
    for (uint32_t k = 0; k < 4; ++k) {
        cairn_server_room_statistics room;
        cairn_server_room_statistics_read(server, CAIRN_ROOM_MAIN, &room);
        waiting[k] = room.broadcast_waiting;
        run_ticks(2 * 60); // a part
    }
    assert_true(waiting[1] > waiting[0]);
    assert_int_equal(waiting[2] - waiting[1], waiting[1] - waiting[0]);
    assert_int_equal(waiting[3] - waiting[2], waiting[2] - waiting[1]);
}

// A viewer waits for segments until it is told that none follows.
TEST("a broadcast whose writes fail is ended when its room closes") {
    static const uint32_t ticks[] = {0, 30, 64, 100, 250}; // since they fail
    for (size_t i = 0; i < 4 * sizeof ticks / sizeof *ticks; ++i) {
        broadcasts = true;
        start();
        run_ticks(i % 2 == 0 ? 10 : 200);
        segments_fail = true;
        holds_tasks = i / 2 % 2 != 0; // until the room is closed
        run_ticks(ticks[i / 4]);
        assert_int_equal(broadcasts_ended, 0);
        const uint64_t lost = statistics().total.broadcast_ticks_lost;
        assert_true(cairn_server_room_destroy(server, now_ns, CAIRN_ROOM_MAIN, "test"));
        run_tasks();
        assert_int_equal(broadcasts_ended, 1);
        assert_true(statistics().total.broadcast_ticks_lost >= lost);
        cairn_server_destroy(server);
        server = NULL;
        for (uint32_t k = 0; k < file_count; ++k) {
            free(files[k].bytes);
        }
        before_each();
    }
}
