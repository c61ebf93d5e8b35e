// SPDX-License-Identifier: MIT
// Records between the processes of a hand-over: whole or refused, on sockets that are slow, full,
// or closed at the other end.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/daemon/hand_over_record.h"
#include <cairn/server_uv.h>

#define MS UINT64_C(1000000)
#define LARGE_SIZE 3000000 // more than a socket holds

static int ends[2];

BEFORE_EACH {
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
}

AFTER_EACH {
    close(ends[0]);
    close(ends[1]);
}

static uint64_t in_ms(uint64_t ms) {
    return cairn_uv_now_ns() + ms * MS;
}

static void fill_socket(void) {
    static const uint8_t bytes[4096];
    while (send(ends[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
    while (send(ends[0], bytes, 1, MSG_DONTWAIT) > 0) {}
}

// A process that reads all from ends[1] after some time, in small pieces.
static pid_t read_slowly(void) {
    const pid_t child = fork();
    if (child == 0) {
        uint8_t bytes[65536];
        close(ends[0]);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        while (read(ends[1], bytes, sizeof bytes) > 0) {}
        _exit(0);
    }
    return child;
}

static bool is_same_file(int a, int b) {
    struct stat first, second;
    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

TEST("a record comes as it was sent, with its descriptor") {
    for (uint32_t with = 0; with < 2; ++with) {
        cairn_hand_over_record record;
        assert_true(cairn_hand_over_send(
            ends[0], CAIRN_HAND_OVER_OFFER, "an offer", 8, with == 1 ? ends[1] : -1, in_ms(5000)));
        assert_true(cairn_hand_over_receive(ends[1], in_ms(5000), &record));
        assert_int_equal(record.kind, CAIRN_HAND_OVER_OFFER);
        assert_int_equal(record.size, 8);
        assert_string_equal((const char *)record.bytes, "an offer"); // a zero is behind it
        assert_int_equal(record.passed_fd >= 0, with);
        if (with == 1) {
            assert_true(is_same_file(record.passed_fd, ends[1]));
            close(record.passed_fd);
        }
        cairn_hand_over_record_free(&record);
    }
}

TEST("who sends waits for a reader that is slow, and not beyond the end") {
    uint8_t *large = calloc(1, LARGE_SIZE);
    for (uint32_t with = 0; with < 2; ++with) {
        const int passed = with == 1 ? ends[0] : -1;
        fill_socket();
        uint64_t begin_ns = cairn_uv_now_ns();
        assert_false(cairn_hand_over_send(
            ends[0], CAIRN_HAND_OVER_CLIENTS, "", 0, passed, begin_ns + 30 * MS));
        assert_true(cairn_uv_now_ns() - begin_ns >= 30 * MS);
        const pid_t reader = read_slowly();
        int status;
        assert_true(cairn_hand_over_send(
            ends[0], CAIRN_HAND_OVER_CLIENTS, large, LARGE_SIZE, passed, in_ms(20000)));
        shutdown(ends[0], SHUT_WR);
        assert_int_equal(waitpid(reader, &status, 0), reader);
        close(ends[0]);
        close(ends[1]);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    }
    free(large);
}

TEST("nothing is sent to an end that is closed, nor received from it") {
    cairn_hand_over_record record;
    close(ends[1]);
    for (uint32_t with = 0; with < 2; ++with) {
        const uint64_t begin_ns = cairn_uv_now_ns();
        assert_false(cairn_hand_over_send(
            ends[0], CAIRN_HAND_OVER_GO, "x", 1, with == 1 ? ends[0] : -1, begin_ns + 3000 * MS));
        assert_false(cairn_hand_over_receive(ends[0], begin_ns + 3000 * MS, &record));
        assert_true(cairn_uv_now_ns() - begin_ns < 2000 * MS);
    }
    ends[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST("a record that is cut, changed, too large or of no kind is refused") {
    static const struct {
        uint32_t kind, magic_bit;
        uint64_t size, sent;
        uint64_t checksum_bit;
        bool good;
    } rows[] = {{CAIRN_HAND_OVER_ASKS, 0, 8, 8, 0, true}, {CAIRN_HAND_OVER_LAST, 0, 8, 8, 0, true},
        {CAIRN_HAND_OVER_ASKS, 0, 512, 512, 0, true}, {CAIRN_HAND_OVER_ASKS, 0, 513, 513, 0, false},
        {CAIRN_HAND_OVER_ROOM, 0, 513, 513, 0, true},
        {CAIRN_HAND_OVER_ROOM, 0, (UINT64_C(1) << 30) + 1, 8, 0, false}, {0, 0, 8, 8, 0, false},
        {CAIRN_HAND_OVER_LAST + 1, 0, 8, 8, 0, false}, {CAIRN_HAND_OVER_ASKS, 1, 8, 8, 0, false},
        {CAIRN_HAND_OVER_ASKS, 0, 8, 7, 0, false}, {CAIRN_HAND_OVER_ASKS, 0, 8, 8, 1, false}};
    static const uint8_t bytes[600] = {1, 2, 3};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_hand_over_head head = cairn_hand_over_head_of(
            (cairn_hand_over_kind)rows[i].kind, bytes, (size_t)rows[i].sent);
        cairn_hand_over_record record;
        head.size = rows[i].size;
        head.magic ^= rows[i].magic_bit;
        head.checksum ^= rows[i].checksum_bit;
        assert_true(
            cairn_hand_over_send_bytes(ends[0], (const uint8_t *)&head, sizeof head, in_ms(5000)));
        assert_true(cairn_hand_over_send_bytes(ends[0], bytes, rows[i].sent, in_ms(5000)));
        assert_int_equal(cairn_hand_over_receive(ends[1], in_ms(rows[i].good ? 5000 : 50), &record),
            rows[i].good);
        if (rows[i].good) {
            assert_int_equal(record.kind, rows[i].kind);
            assert_int_equal(record.size, rows[i].size);
            assert_memory_equal(record.bytes, bytes, record.size);
            cairn_hand_over_record_free(&record);
        }
        uint8_t rest[1024];
        while (recv(ends[1], rest, sizeof rest, MSG_DONTWAIT) > 0) {}
    }
}

// Root alone can be another user, and not in every container.
TEST("the other end is a process of the same user or of root, and of no other") {
    assert_true(cairn_hand_over_peer_is_own(ends[0]));
    const uid_t nobody = 65534;
    if (geteuid() == 0 && seteuid(nobody) == 0) {
        int others[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, others), 0);
        assert_true(cairn_hand_over_peer_is_own(ends[0])); // of root
        assert_true(cairn_hand_over_peer_is_own(others[0]));
        assert_int_equal(seteuid(0), 0);
        assert_false(cairn_hand_over_peer_is_own(others[0]));
        close(others[0]);
        close(others[1]);
    }
}
