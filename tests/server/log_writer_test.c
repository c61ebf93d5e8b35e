// SPDX-License-Identifier: MIT
// The thread that writes the log: order, a reader that stops, a descriptor that fails.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/system.h"
#include "server/daemon/log_writer.h"
#include <cairn/types.h>

#define RING_SIZE 8192

static int ends[2];
static cairn_log_writer *writer;

static size_t write_lost(void *user, uint64_t lines, char *out) {
    (void)user;
    return (size_t)sprintf(out, "lost %d\n", (int)lines);
}

static void start(int descriptor) {
    const cairn_log_writer_config config = {
        .descriptor = descriptor, .ring_size = RING_SIZE, .write_lost = write_lost};
    assert_int_equal(cairn_log_writer_open(&config, &writer), CAIRN_OK);
}

static void start_pipe(void) {
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 8192) >= 8192);
    start(ends[1]);
}

static void fill_pipe(void) {
    const int flags = fcntl(ends[1], F_GETFL);
    assert_int_equal(fcntl(ends[1], F_SETFL, flags | O_NONBLOCK), 0);
    while (write(ends[1], "....\n", 5) > 0) {}
    assert_int_equal(fcntl(ends[1], F_SETFL, flags), 0);
}

static bool put(int number) {
    char line[64];
    const int size = snprintf(line, sizeof line, "line %d\n", number);
    return cairn_log_writer_put(writer, line, (size_t)size);
}

// Everything until the write end is closed, which the caller does; the caller frees.
static char *read_rest(void) {
    size_t size = 0;
    char *text = malloc(1 << 20);
    for (ssize_t got = 1; got > 0; size += (size_t)got) {
        got = read(ends[0], text + size, ((size_t)1 << 20) - size - 1);
        assert_true(got >= 0);
    }
    text[size] = '\0';
    close(ends[0]);
    return text;
}

TEST("lines are written whole and in order") {
    start_pipe();
    for (int i = 0; i < 200; ++i) {
        assert_true(put(i));
    }
    assert_true(cairn_log_writer_close(writer, 1000));
    close(ends[1]);
    char *text = read_rest();
    const char *at = text;
    for (int i = 0; i < 200; ++i) {
        char line[64];
        const int size = snprintf(line, sizeof line, "line %d\n", i);
        assert_memory_equal(at, line, (size_t)size);
        at += size;
    }
    assert_int_equal(*at, '\0');
    free(text);
}

TEST("a reader that stops delays nobody, and is told what it missed when it is back") {
    start_pipe();
    fill_pipe();
    const uint64_t before_ns = cairn_monotonic_ns();
    int last = 0;
    while (put(last)) {
        ++last;
    }
    for (int i = 0; i < 1000; ++i) {
        assert_false(put(-1));
    }
    assert_true(cairn_monotonic_ns() - before_ns < CAIRN_NS_PER_S);
    assert_int_equal(cairn_log_writer_lost(writer), 1001);
    // The reader is back.
    char *text = calloc(1, 1 << 16);
    size_t size = 0;
    while (strstr(text, "lost 1001\n") == NULL) {
        const ssize_t got = read(ends[0], text + size, 512);
        assert_true(got > 0);
        size += (size_t)got;
    }
    char report[64];
    snprintf(report, sizeof report, "line %d\nlost 1001\n", last - 1);
    assert_non_null(strstr(text, report));
    free(text);
    assert_true(put(7));
    assert_true(cairn_log_writer_close(writer, 1000));
    close(ends[1]);
    text = read_rest();
    assert_string_equal(text, "line 7\n");
    free(text);
}

TEST("the end does not wait for a reader that never comes back") {
    start_pipe();
    fill_pipe();
    while (put(1)) {}
    const uint64_t before_ns = cairn_monotonic_ns();
    assert_false(cairn_log_writer_close(writer, 50));
    assert_true(cairn_monotonic_ns() - before_ns < CAIRN_NS_PER_S);
    close(ends[0]);
    close(ends[1]);
}

TEST("a descriptor that fails loses nothing if it recovers") {
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    const int descriptor = dup(full);
    assert_true(full >= 0 && descriptor >= 0);
    start(descriptor);
    assert_true(put(1));
    cairn_system_sleep_ms(100);
    assert_true(put(2));
    assert_true(dup2(ends[1], descriptor) == descriptor);
    close(ends[1]);
    close(full);
    assert_true(cairn_log_writer_close(writer, 3000));
    close(descriptor);
    char *text = read_rest();
    assert_string_equal(text, "line 1\nline 2\n");
    free(text);
}
