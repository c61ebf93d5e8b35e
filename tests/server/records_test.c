// SPDX-License-Identifier: MIT
// A server that records to files while the system refuses some of the calls: nothing is replaced,
// every file with a name of its own verifies, and no tick is lost without being counted.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "recording/player.h"
#include "server/daemon/records.h"
#include "tests/kit/scenes.h"
#include <cairn/server.h>
#include <cairn/sim.h>

#define TICK_NS (CAIRN_NS_PER_S / 60)
#define TICKS 700

typedef enum fault {
    FAULT_NONE,
    FAULT_ERROR,   // the call fails with `code`
    FAULT_SHORT,   // a write takes a few bytes; other calls work
    FAULT_FULL,    // from this call on, writes take what fits and then fail, until some calls later
    FAULT_DYING,   // from this call on, all calls fail
    FAULT_NOTHING, // this call, a write, takes nothing
} fault;

static struct {
    fault kind;
    int code;
    uint32_t at; // the number of the call, from 0
    uint32_t calls;
    uint32_t hits;
} faulty;

static char folder[64];
static cairn_records *records;
static cairn_server *server;
static uint64_t now_ns;
static uint32_t opened, errors;
static char last_error[256];

// Whether this call, which is counted, fails.
static bool call_fails(bool is_write) {
    const uint32_t call = faulty.calls++;
    bool fails = false;
    switch (faulty.kind) {
    case FAULT_ERROR:
        fails = call == faulty.at;
        break;
    case FAULT_FULL:
        fails = is_write && call >= faulty.at && call < faulty.at + 6;
        break;
    case FAULT_DYING:
        fails = call >= faulty.at;
        break;
    case FAULT_NOTHING:
        fails = is_write && call == faulty.at;
        break;
    case FAULT_NONE:
    case FAULT_SHORT:
        break;
    }
    faulty.hits += fails ? 1 : 0;
    errno = fails ? faulty.code : errno;
    return fails;
}

static int faulty_create(void *user, const char *path) {
    return call_fails(false) ? -1 : cairn_file_calls_system.create(user, path);
}

static int64_t faulty_write(void *user, int file, const void *bytes, size_t size) {
    const bool fails = call_fails(true);
    if (fails && faulty.kind == FAULT_FULL && faulty.hits == 1 && size > 100) {
        // What fits is taken first.
        return cairn_file_calls_system.write(user, file, bytes, 100);
    }
    if (fails && faulty.kind == FAULT_NOTHING) {
        errno = EINTR; // of an earlier call: it says nothing of this one
        return 0;
    }
    if (faulty.kind == FAULT_SHORT && size > 7) {
        size = 1 + size / 2;
        faulty.hits += 1;
    }
    return fails ? -1 : cairn_file_calls_system.write(user, file, bytes, size);
}

static int faulty_sync(void *user, int file) {
    return call_fails(false) ? -1 : cairn_file_calls_system.sync(user, file);
}

static int faulty_truncate(void *user, int file, int64_t size) {
    return call_fails(false) ? -1 : cairn_file_calls_system.truncate(user, file, size);
}

static int faulty_rename(void *user, const char *from, const char *to) {
    return call_fails(false) ? -1 : cairn_file_calls_system.rename(user, from, to);
}

static int faulty_sync_folder(void *user, const char *path) {
    return call_fails(false) ? -1 : cairn_file_calls_system.sync_folder(user, path);
}

static int faulty_close(void *user, int file) {
    const int closed = cairn_file_calls_system.close(user, file);
    return call_fails(false) ? -1 : closed;
}

static int faulty_remove(void *user, const char *path) {
    return call_fails(false) ? -1 : cairn_file_calls_system.remove(user, path);
}

static const cairn_file_calls faulty_calls = {faulty_create, faulty_write, faulty_sync,
    faulty_truncate, faulty_rename, faulty_sync_folder, faulty_close, faulty_remove, NULL};

static void on_open(void *user, const char *room, const char *path) {
    (void)user;
    (void)room;
    (void)path;
    opened += 1;
}

static void on_error(void *user, const char *room, const char *path, const char *why) {
    (void)user;
    (void)room;
    errors += 1;
    snprintf(last_error, sizeof last_error, "%.100s: %.100s", path, why);
}

static bool on_record(void *user, const char *room, const uint8_t *bytes, size_t size) {
    (void)user;
    return cairn_records_write(records, room, bytes, size);
}

static void path_in_folder(char path[300], const char *name) {
    snprintf(path, 300, "%s/%.200s", folder, name);
}

static void open_records(cairn_record_sync sync) {
    char path[300];
    const cairn_records_config files = {
        .calls = &faulty_calls, .sync = sync, .on_open = on_open, .on_error = on_error};
    assert_int_equal(cairn_records_create(&files, &records), CAIRN_OK);
    path_in_folder(path, "world.cairn");
    assert_null(cairn_records_add(records, CAIRN_ROOM_NAME_DEFAULT, path));
}

static void start(cairn_record_sync sync) {
    static const uint8_t secret[CAIRN_KEY_SIZE] = {1};
    open_records(sync);
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
    config.first_room.scene = kit_scene_stack_and_row();
    assert_int_equal(cairn_server_create(&config, &server), CAIRN_OK);
}

static void run_ticks(uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        now_ns += TICK_NS;
        cairn_server_advance(server, now_ns);
    }
}

// Ends the server; returns its statistics.
static cairn_server_statistics end(void) {
    cairn_server_statistics now;
    cairn_server_drain(server, now_ns);
    cairn_server_statistics_read(server, &now);
    assert_int_equal(now.total.tick, TICKS);
    cairn_server_destroy(server);
    server = NULL;
    (void)cairn_records_close(records);
    records = NULL;
    return now;
}

// The caller frees; aligned to 8.
static uint8_t *read_file(const char *name, size_t *size) {
    char path[300];
    struct stat status;
    path_in_folder(path, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0 && fstat(file, &status) == 0);
    uint8_t *bytes = malloc((size_t)status.st_size + 1);
    *size = (size_t)status.st_size;
    assert_int_equal(read(file, bytes, *size), status.st_size);
    close(file);
    return bytes;
}

// Ticks of a recording, all of which replay.
static uint64_t replay(const uint8_t *bytes, size_t size) {
    cairn_player *player;
    char text[CAIRN_PLAYER_TEXT_SIZE];
    uint64_t ticks = 0;
    assert_int_equal(cairn_player_create(bytes, size, &player, text), CAIRN_OK);
    cairn_player_event event;
    while ((event = cairn_player_next(player)) != CAIRN_PLAYER_END) {
        assert_int_not_equal(event, CAIRN_PLAYER_REFUSED);
        const cairn_hash128 root = cairn_world_hash_read(cairn_player_world(player)).full;
        assert_true(event != CAIRN_PLAYER_TICK ||
                    cairn_hash_equal(root, cairn_player_recorded_hash(player)));
        ticks += event == CAIRN_PLAYER_TICK ? 1 : 0;
    }
    cairn_player_destroy(player);
    return ticks;
}

// Replays every file that has its own name; returns the ticks. The files are removed.
static uint64_t replay_folder(uint32_t *files, uint32_t *parts) {
    uint64_t ticks = 0;
    *files = *parts = 0;
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry; (entry = readdir(open_folder)) != NULL;) {
        char path[300];
        if (entry->d_name[0] == '.') {
            continue;
        }
        if (strstr(entry->d_name, ".part") != NULL) {
            *parts += 1;
        } else {
            size_t size;
            uint8_t *bytes = read_file(entry->d_name, &size);
            ticks += replay(bytes, size);
            free(bytes);
            *files += 1;
        }
        path_in_folder(path, entry->d_name);
        assert_int_equal(unlink(path), 0);
    }
    closedir(open_folder);
    return ticks;
}

BEFORE_EACH {
    faulty.kind = FAULT_NONE;
    faulty.calls = faulty.hits = 0;
    opened = errors = 0;
    snprintf(folder, sizeof folder, "/tmp/cairn_records_XXXXXX");
    assert_non_null(mkdtemp(folder));
}

AFTER_EACH {
    cairn_server_destroy(server);
    server = NULL;
    (void)cairn_records_close(records);
    records = NULL;
    uint32_t files, parts;
    (void)replay_folder(&files, &parts);
    rmdir(folder);
}

TEST("every setting of sync records every tick, with as many calls as it says") {
    static const uint32_t syncs[] = {0, 1 + 1 + 14 + 1, 1 + 1 + 1};
    for (cairn_record_sync sync = CAIRN_RECORD_SYNC_NONE; sync <= CAIRN_RECORD_SYNC_CLOSE; ++sync) {
        uint32_t files, parts;
        faulty.calls = 0;
        start(sync);
        run_ticks(TICKS);
        const cairn_server_statistics now = end();
        assert_int_equal(replay_folder(&files, &parts), TICKS);
        assert_int_equal(files, 1);
        assert_int_equal(parts, 0);
        assert_int_equal(now.total.recording_failures + now.total.recording_ticks_lost, 0);
        // The start, 11 chunks of ticks (one cut by each of two keyframes), 2 keyframes, the end.
        const uint32_t other_calls = 1 + 1 + 1;
        assert_in_range(faulty.calls - other_calls - syncs[sync], 14, 17);
    }
}

TEST("whatever call fails, every file verifies and every lost tick is counted") {
    static const int codes[] = {ENOSPC, EIO, EDQUOT, EFBIG, EMFILE};
    static const fault kinds[] = {FAULT_ERROR, FAULT_FULL};
    uint32_t runs = 0;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
        for (uint32_t call = 0;; ++call) {
            uint32_t files, parts;
            faulty.kind = kinds[kind];
            faulty.code = codes[call % (sizeof codes / sizeof *codes)];
            faulty.at = call;
            faulty.calls = faulty.hits = opened = errors = 0;
            start(call % 2 == 0 ? CAIRN_RECORD_SYNC_CHUNK : CAIRN_RECORD_SYNC_NONE);
            run_ticks(TICKS);
            const cairn_server_statistics now = end();
            const uint64_t ticks = replay_folder(&files, &parts);
            if (faulty.hits == 0) {
                assert_int_equal(ticks, TICKS);
                if (call % 2 == 0) {
                    break; // more calls are not made
                }
                continue;
            }
            runs += 1;
            // A sync that fails leaves its chunk in the file, but it is counted as lost.
            assert_true(ticks + now.total.recording_ticks_lost >= TICKS);
            assert_true(ticks + now.total.recording_ticks_lost <= TICKS + 64);
            assert_true(now.total.recording_failures > 0);
            assert_true(errors >= 1 && strstr(last_error, strerror(faulty.code)) != NULL);
            assert_in_range(files, 1, 3);
            assert_int_equal(parts, 0);
            assert_int_equal(opened, files);
        }
    }
    assert_true(runs > 40);
}

TEST("short writes lose nothing") {
    uint32_t files, parts;
    faulty.kind = FAULT_SHORT;
    start(CAIRN_RECORD_SYNC_NONE);
    run_ticks(TICKS);
    const cairn_server_statistics now = end();
    assert_true(faulty.hits > 50);
    assert_int_equal(replay_folder(&files, &parts), TICKS);
    assert_int_equal(files, 1);
    assert_int_equal(now.total.recording_failures, 0);
}

TEST("a write that takes nothing is an error of the disk") {
    uint32_t files, parts;
    faulty.kind = FAULT_NOTHING;
    faulty.code = 0;
    faulty.at = 8;
    start(CAIRN_RECORD_SYNC_NONE);
    run_ticks(TICKS);
    const cairn_server_statistics now = end();
    assert_int_equal(faulty.hits, 1);
    assert_int_equal(errors, 1);
    assert_non_null(strstr(last_error, strerror(EIO)));
    assert_int_equal(replay_folder(&files, &parts) + now.total.recording_ticks_lost, TICKS);
}

static bool close_with_a_file_open(fault kind) {
    const uint8_t bytes[8] = {0};
    char path[300];
    faulty.kind = FAULT_NONE;
    open_records(CAIRN_RECORD_SYNC_NONE);
    assert_true(cairn_records_write(records, CAIRN_ROOM_NAME_DEFAULT, bytes, sizeof bytes));
    faulty.kind = kind;
    faulty.code = EIO;
    faulty.at = 0;
    const bool good = cairn_records_close(records);
    records = NULL;
    path_in_folder(path, "world.cairn");
    assert_int_equal(unlink(path), 0); // it is no recording
    return good;
}

TEST("a file that cannot be closed at the end is told") {
    assert_true(close_with_a_file_open(FAULT_NONE));
    assert_false(close_with_a_file_open(FAULT_DYING));
    assert_int_equal(errors, 1);
}

TEST("a disk that dies is reported once and costs no tick of the room") {
    for (uint32_t call = 0; call < 20; ++call) {
        uint32_t files, parts;
        faulty.kind = FAULT_DYING;
        faulty.code = EIO;
        faulty.at = call;
        faulty.calls = errors = 0;
        start(CAIRN_RECORD_SYNC_CLOSE);
        run_ticks(TICKS);
        const cairn_server_statistics now = end();
        assert_true(now.total.recording_failures > 0);
        assert_in_range(errors, 1, 2);
        faulty.kind = FAULT_NONE;
        const uint64_t ticks = replay_folder(&files, &parts);
        assert_true(ticks + now.total.recording_ticks_lost >= TICKS);
    }
}

TEST("what exists is never replaced") {
    char path[300], taken[300];
    uint32_t files, parts;
    path_in_folder(taken, "world.cairn");
    path_in_folder(path, "world.cairn.1");
    for (int i = 0; i < 2; ++i) {
        FILE *file = fopen(i == 0 ? taken : path, "wb");
        assert_true(file != NULL && fputs("mine", file) >= 0 && fclose(file) == 0);
    }
    start(CAIRN_RECORD_SYNC_NONE);
    run_ticks(TICKS);
    (void)end();
    for (int i = 0; i < 2; ++i) {
        size_t size;
        uint8_t *bytes = read_file(i == 0 ? "world.cairn" : "world.cairn.1", &size);
        assert_int_equal(size, 4);
        assert_memory_equal(bytes, "mine", 4);
        free(bytes);
        assert_int_equal(unlink(i == 0 ? taken : path), 0);
    }
    assert_int_equal(replay_folder(&files, &parts), TICKS);
    assert_int_equal(files, 1);
}

TEST("two rooms cannot have one file, however it is written") {
    char path[300];
    start(CAIRN_RECORD_SYNC_NONE);
    path_in_folder(path, "./world.cairn");
    assert_non_null(cairn_records_add(records, "other", path));
    path_in_folder(path, "../x/world.cairn");
    assert_null(cairn_records_add(records, "third", path));
    path_in_folder(path, "world2.cairn");
    assert_null(cairn_records_add(records, "fourth", path));
    run_ticks(TICKS);
    (void)end();
}

TEST("a file cut at a random byte verifies to its last whole chunk") {
    start(CAIRN_RECORD_SYNC_NONE);
    run_ticks(TICKS);
    (void)end();
    size_t size;
    uint8_t *bytes = read_file("world.cairn", &size);
    cairn_recording_index index;
    assert_int_equal(cairn_recording_index_of(bytes, size, &index), CAIRN_OK);
    const char *const cuts = getenv("CAIRN_CUTS"); // 10000 for a night
    const uint64_t count = cuts == NULL ? 300 : strtoull(cuts, NULL, 10);
    assert_true(count > 0);
    for (uint64_t i = 0; i < count; ++i) {
        const size_t cut = (size_t)(cairn_random_at(7, i, 0, 0) % size);
        uint64_t whole = 0;
        for (uint32_t k = 0; k + 1 < index.count && index.entries[k + 1].offset <= cut; ++k) {
            whole += index.entries[k].tick_count;
        }
        if (index.entries[1].offset <= cut) {
            uint8_t *copy = malloc(cut);
            memcpy(copy, bytes, cut);
            assert_int_equal(replay(copy, cut), whole);
            free(copy);
        }
    }
    cairn_recording_index_end(&index);
    free(bytes);
}

TEST("a room's file gives its world of any tick in it, and of no other") {
    uint32_t files, parts;
    start(CAIRN_RECORD_SYNC_NONE);
    assert_null(cairn_records_seek(records, "other", 1));
    run_ticks(TICKS);
    const cairn_hash128 last =
        cairn_world_hash_read(cairn_server_world(server, CAIRN_ROOM_MAIN)).full;
    cairn_server_drain(server, now_ns);
    for (uint64_t tick = 0; tick <= TICKS; tick += TICKS / 4) {
        cairn_world *world = cairn_records_seek(records, CAIRN_ROOM_NAME_DEFAULT, tick);
        assert_non_null(world);
        assert_int_equal(cairn_world_tick(world), tick);
        assert_int_equal(cairn_hash_equal(cairn_world_hash_read(world).full, last), tick == TICKS);
        cairn_world_destroy(world);
    }
    assert_null(cairn_records_seek(records, CAIRN_ROOM_NAME_DEFAULT, TICKS + 1));
    assert_null(cairn_records_seek(records, "other", 1));
    (void)end();
    open_records(CAIRN_RECORD_SYNC_NONE); // another run, which has written nothing
    assert_null(cairn_records_seek(records, CAIRN_ROOM_NAME_DEFAULT, 1));
    (void)cairn_records_close(records);
    records = NULL;
    assert_int_equal(replay_folder(&files, &parts), TICKS);
}
