// SPDX-License-Identifier: MIT
// Broadcasts as files while the system refuses one call after the other: what the index lists is
// there and whole, and nothing else is left behind.
#define _POSIX_C_SOURCE 200809L
#include "tests/kit/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/daemon/broadcast.h"

#define PIECES 3
#define SEGMENTS 6

static uint32_t calls, fails_at, errors;
static char folder[64];

static bool call_fails(void) {
    errno = ENOSPC;
    return calls++ == fails_at;
}

static int create(void *user, const char *path) {
    return call_fails() ? -1 : cairn_file_calls_system.create(user, path);
}

static int64_t write_some(void *user, int file, const void *bytes, size_t size) {
    return call_fails() ? -1 : cairn_file_calls_system.write(user, file, bytes, size);
}

static int rename_file(void *user, const char *from, const char *to) {
    return call_fails() ? -1 : cairn_file_calls_system.rename(user, from, to);
}

static int close_file(void *user, int file) {
    const int closed = cairn_file_calls_system.close(user, file);
    return call_fails() ? -1 : closed;
}

static int remove_file(void *user, const char *path) {
    return cairn_file_calls_system.remove(user, path);
}

static int truncate_file(void *user, int file, int64_t size) {
    return cairn_file_calls_system.truncate(user, file, size);
}

static const cairn_file_calls faulty = {.create = create,
    .write = write_some,
    .truncate = truncate_file,
    .rename = rename_file,
    .close = close_file,
    .remove = remove_file};

static void on_error(void *user, const char *room, const char *path, const char *why) {
    (void)user;
    assert_string_equal(room, "hall");
    assert_true(strncmp(path, folder, strlen(folder)) == 0 && why[0] != '\0');
    errors += 1;
}

// As a room does: a segment ends when a write fails, and the next one begins.
static bool write_segment(cairn_broadcast *broadcast, uint64_t number) {
    cairn_server_segment segment = {.room = "hall",
        .scene = "demo",
        .tick_rate_hz = 60,
        .number = number,
        .first_tick = number * PIECES};
    bool good = true;
    for (uint32_t i = 0; i < PIECES && good; ++i) {
        uint8_t bytes[64];
        memset(bytes, (int)number, sizeof bytes);
        good = cairn_broadcast_write(broadcast, &segment, bytes, sizeof bytes);
        segment.tick_count += good ? 1 : 0;
    }
    segment.last = number == SEGMENTS - 1;
    return cairn_broadcast_write(broadcast, &segment, NULL, 0) && good;
}

static void read_index(char *out, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "%s/hall/index.json", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
}

// Every file is in the index with its size, and has all pieces; returns how many. Removes the
// folder.
static uint32_t check_folder(void) {
    char index[4096], path[512], expected[128];
    uint32_t count = 0;
    read_index(index, sizeof index);
    snprintf(path, sizeof path, "%s/hall", folder);
    DIR *list = opendir(path);
    assert_non_null(list);
    for (const struct dirent *entry; (entry = readdir(list)) != NULL;) {
        snprintf(path, sizeof path, "%s/hall/%.200s", folder, entry->d_name);
        if (strstr(entry->d_name, ".cairn") != NULL) {
            FILE *file = fopen(path, "r");
            uint8_t bytes[512];
            const size_t size = fread(bytes, 1, sizeof bytes, file);
            fclose(file);
            assert_int_equal(size, PIECES * 64);
            snprintf(expected, sizeof expected,
                "{\"number\":%d,\"first_tick\":%d,\"ticks\":3,\"bytes\":192}", atoi(entry->d_name),
                bytes[0] * PIECES);
            assert_non_null(strstr(index, expected));
            assert_null(strstr(entry->d_name, ".part"));
            count += 1;
        }
        if (entry->d_name[0] != '.') {
            assert_int_equal(unlink(path), 0);
        }
    }
    closedir(list);
    snprintf(path, sizeof path, "%s/hall", folder);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
    return count;
}

// Returns how many of the segments were written.
static uint32_t run(uint32_t at) {
    snprintf(folder, sizeof folder, "/tmp/cairn_broadcast_%ld", (long)getpid());
    calls = errors = 0;
    fails_at = at;
    const cairn_broadcast_config config = {
        .folder = folder, .calls = &faulty, .on_error = on_error};
    cairn_broadcast *broadcast;
    uint32_t written = 0;
    assert_int_equal(cairn_broadcast_create(&config, &broadcast), CAIRN_OK);
    for (uint64_t number = 0; number < SEGMENTS; ++number) {
        written += write_segment(broadcast, number) ? 1 : 0;
    }
    cairn_broadcast_close(broadcast);
    return written;
}

TEST("segments are listed once they are whole") {
    assert_int_equal(run(UINT32_MAX), SEGMENTS);
    assert_int_equal(check_folder(), SEGMENTS);
    assert_int_equal(errors, 0);
}

TEST("whatever call fails, what the index lists is whole, and one segment is lost at most") {
    run(UINT32_MAX);
    const uint32_t all = calls;
    check_folder();
    for (uint32_t at = 0; at < all; ++at) {
        assert_in_range(run(at), SEGMENTS - 1, SEGMENTS);
        assert_int_equal(errors, 1);
        assert_in_range(check_folder(), SEGMENTS - 1, SEGMENTS);
    }
    assert_true(all > 20);
}

TEST("a segment that cannot be listed was not written") {
    char path[128];
    snprintf(folder, sizeof folder, "/tmp/cairn_broadcast_%ld", (long)getpid());
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/hall", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/hall/index.json", folder);
    assert_int_equal(mkdir(path, 0700), 0); // where a file is to be
    assert_int_equal(run(UINT32_MAX), 0);
    assert_true(errors > 0);
    assert_int_equal(rmdir(path), 0);
    snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}

TEST("a segment with a path that is too long is reported and not written") {
    const cairn_server_segment segment = {.room = "hall", .scene = "", .tick_rate_hz = 60};
    static const uint8_t bytes[64];
    char path[CAIRN_RECORD_PATH_SIZE];
    snprintf(folder, sizeof folder, "/tmp/cairn_broadcast_%ld", (long)getpid());
    assert_int_equal(mkdir(folder, 0700), 0);
    size_t size = strlen(folder);
    memcpy(path, folder, size + 1);
    while (size < sizeof path - sizeof "/hall/" - 3) { // its folder has room for no name
        memcpy(path + size, "/.", 3);
        size += 2;
    }
    const cairn_broadcast_config config = {.folder = path, .calls = &faulty, .on_error = on_error};
    cairn_broadcast *broadcast;
    fails_at = UINT32_MAX;
    errors = 0;
    assert_int_equal(cairn_broadcast_create(&config, &broadcast), CAIRN_OK);
    assert_false(cairn_broadcast_write(broadcast, &segment, bytes, sizeof bytes));
    assert_int_equal(errors, 1);
    cairn_broadcast_close(broadcast);
    snprintf(path, sizeof path, "%s/hall", folder);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void name_segment(char path[128], uint32_t number) {
    snprintf(path, 128, "%s/hall/%08u.cairn", folder, (unsigned)number);
}

static void touch(const char *path, time_t age_s) {
    const struct timespec times[2] = {
        {.tv_sec = time(NULL) - age_s}, {.tv_sec = time(NULL) - age_s}};
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST("another run goes on with the next number, and deletes segments when they are old enough") {
    static const char *const others[] = {
        "99999.cairn", "000000099.cairn", "00000099.cairn.part", "00000099", "a0000099.cairn"};
    char path[128];
    assert_int_equal(run(UINT32_MAX), SEGMENTS);
    for (uint32_t i = 0; i < sizeof others / sizeof *others; ++i) {
        snprintf(path, sizeof path, "%s/hall/%s", folder, others[i]);
        touch(path, 1000);
    }
    for (uint32_t i = 0; i < SEGMENTS; ++i) {
        name_segment(path, i);
        touch(path, i < 3 ? 200 : 50);
    }
    name_segment(path, 1); // somebody else has deleted it
    assert_int_equal(unlink(path), 0);
    const cairn_broadcast_config config = {
        .folder = folder, .keep_s = 100, .calls = &faulty, .on_error = on_error};
    cairn_broadcast *broadcast;
    assert_int_equal(cairn_broadcast_create(&config, &broadcast), CAIRN_OK);
    assert_true(write_segment(broadcast, 0));
    for (uint32_t i = 0; i <= SEGMENTS + 1; ++i) {
        name_segment(path, i);
        assert_int_equal(access(path, F_OK) == 0, i >= 3 && i <= SEGMENTS);
    }
    for (uint32_t i = 3; i < SEGMENTS; ++i) {
        name_segment(path, i);
        touch(path, 200);
    }
    assert_true(write_segment(broadcast, 1));
    for (uint32_t i = 0; i <= SEGMENTS + 2; ++i) {
        name_segment(path, i);
        assert_int_equal(access(path, F_OK) == 0, i >= SEGMENTS && i <= SEGMENTS + 1);
    }
    cairn_broadcast_close(broadcast);
    for (uint32_t i = 0; i < sizeof others / sizeof *others; ++i) {
        snprintf(path, sizeof path, "%s/hall/%s", folder, others[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(errors, 0);
    snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}
