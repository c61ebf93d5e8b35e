// SPDX-License-Identifier: MIT
// What a process says to its service manager and to the process that takes its place.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/daemon/hand_over_record.h"
#include "server/daemon/notify.h"
#include "server/daemon/take_over.h"
#include <cairn/server_uv.h>

static int ends[2];

BEFORE_EACH {
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

AFTER_EACH {
    close(ends[0]);
    close(ends[1]);
}

static uint64_t soon_ns(void) {
    return cairn_uv_now_ns() + 20000000;
}

static uint64_t later_ns(void) {
    return cairn_uv_now_ns() + 10 * CAIRN_NS_PER_S;
}

TEST("a record arrives whole, with its descriptor") {
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_hand_over_record record;
        assert_true(cairn_hand_over_send(
            ends[0], CAIRN_HAND_OVER_OFFER, "offer", 5, i == 0 ? -1 : ends[0], later_ns()));
        assert_true(cairn_hand_over_receive(ends[1], later_ns(), &record));
        assert_int_equal(record.kind, CAIRN_HAND_OVER_OFFER);
        assert_int_equal(record.size, 5);
        assert_string_equal((const char *)record.bytes, "offer");
        assert_int_equal(record.passed_fd >= 0, i == 1);
        if (record.passed_fd >= 0) {
            assert_int_equal(send(record.passed_fd, "x", 1, 0), 1); // to the same socket
            char byte;
            assert_int_equal(recv(ends[1], &byte, 1, 0), 1);
            close(record.passed_fd);
        }
        cairn_hand_over_record_free(&record);
        assert_null(record.bytes);
    }
}

TEST("a record that is malformed, changed or cut is refused") {
    const char text[] = "agreed";
    for (uint32_t i = 0; i < 6; ++i) {
        int pair[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        cairn_hand_over_head head =
            cairn_hand_over_head_of(CAIRN_HAND_OVER_AGREED, text, sizeof text);
        head.magic ^= i == 1 ? 1 : 0;
        head.kind = i == 2 ? 0 : i == 3 ? CAIRN_HAND_OVER_LAST + 1 : head.kind;
        head.checksum ^= i == 4 ? 1 : 0;
        assert_true(
            cairn_hand_over_send_bytes(pair[0], (const uint8_t *)&head, sizeof head, later_ns()));
        assert_true(cairn_hand_over_send_bytes(
            pair[0], (const uint8_t *)text, sizeof text - (i == 5 ? 1 : 0), later_ns()));
        close(pair[0]);
        cairn_hand_over_record record;
        assert_int_equal(cairn_hand_over_receive(pair[1], later_ns(), &record), i == 0);
        cairn_hand_over_record_free(&record);
        close(pair[1]);
    }
}

TEST("records have the sizes of their kinds") {
    const struct {
        uint32_t kind;
        uint64_t size;
        bool valid;
    } rows[] = {{CAIRN_HAND_OVER_ASKS, CAIRN_HAND_OVER_SMALL, true},
        {CAIRN_HAND_OVER_ASKS, CAIRN_HAND_OVER_SMALL + 1, false}, {CAIRN_HAND_OVER_SOCKET, 0, true},
        {CAIRN_HAND_OVER_SOCKET, 513, false}, {CAIRN_HAND_OVER_ROOM, 1 << 30, true},
        {CAIRN_HAND_OVER_ROOM, (1 << 30) + 1, false}, {CAIRN_HAND_OVER_TICKS, 1 << 30, true},
        {CAIRN_HAND_OVER_CLIENTS, 1 << 30, true}, {CAIRN_HAND_OVER_REFUSED, 1 << 30, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_hand_over_head head = cairn_hand_over_head_of(CAIRN_HAND_OVER_ASKS, "", 0);
        head.kind = rows[i].kind;
        head.size = rows[i].size;
        assert_int_equal(cairn_hand_over_head_is_valid(&head), rows[i].valid);
    }
}

static uint8_t much[1 << 20]; // more than the system keeps for a reader

static void *send_much(void *user) {
    *(bool *)user =
        cairn_hand_over_send(ends[0], CAIRN_HAND_OVER_CLIENTS, much, sizeof much, -1, later_ns());
    return NULL;
}

TEST("a record that is larger than what the system keeps waits for its reader") {
    cairn_hand_over_record record;
    bool sent = false;
    pthread_t thread;
    for (size_t i = 0; i < sizeof much; ++i) {
        much[i] = (uint8_t)(i * 2654435761u >> 11);
    }
    assert_int_equal(pthread_create(&thread, NULL, send_much, &sent), 0);
    usleep(20000); // until it is full
    assert_true(cairn_hand_over_receive(ends[1], later_ns(), &record));
    pthread_join(thread, NULL);
    assert_true(sent);
    assert_int_equal(record.size, sizeof much);
    assert_memory_equal(record.bytes, much, sizeof much);
    cairn_hand_over_record_free(&record);
}

TEST("neither side waits for ever") {
    cairn_hand_over_record record;
    assert_false(cairn_hand_over_receive(ends[1], soon_ns(), &record));
    assert_false(
        cairn_hand_over_send(ends[0], CAIRN_HAND_OVER_CLIENTS, much, sizeof much, -1, soon_ns()));
    close(ends[1]);
    assert_false(cairn_hand_over_send(ends[0], CAIRN_HAND_OVER_GO, "", 0, -1, later_ns()));
    assert_false(cairn_hand_over_send(ends[0], CAIRN_HAND_OVER_GO, "", 0, ends[0], later_ns()));
    ends[1] = dup(ends[0]);
    assert_true(cairn_hand_over_peer_is_own(ends[0]));
    assert_false(cairn_hand_over_peer_is_own(-1));
}

// What an old process offers, and how.
typedef struct offer {
    int listen_fd;
    cairn_hand_over_kind kind;
    size_t size; // of the offer
    cairn_hand_over_offer says;
    uint32_t sockets; // that are sent
    bool asked;
} offer;

static void *play_old_process(void *user) {
    offer *own = user;
    cairn_hand_over_record record;
    const int fd = accept(own->listen_fd, NULL, NULL);
    own->asked = cairn_hand_over_receive(fd, later_ns(), &record) &&
                 record.kind == CAIRN_HAND_OVER_ASKS &&
                 record.size == sizeof(cairn_hand_over_build);
    cairn_hand_over_record_free(&record);
    if (own->kind == CAIRN_HAND_OVER_REFUSED) {
        cairn_hand_over_send(fd, own->kind, "it is busy", 10, -1, later_ns());
    }
    for (uint32_t i = 0; own->kind != CAIRN_HAND_OVER_REFUSED && i < own->sockets; ++i) {
        cairn_hand_over_send(fd, i == 0 ? own->kind : CAIRN_HAND_OVER_SOCKET, &own->says,
            i == 0 ? own->size : 0, own->listen_fd, later_ns());
    }
    close(fd);
    return NULL;
}

TEST("a process that takes over is offered sockets, and refuses what is malformed") {
    const cairn_address bound = {.family = CAIRN_ADDRESS_IPV4, .ip = {127, 0, 0, 1}, .port = 9};
    const size_t size = sizeof(cairn_hand_over_offer);
    const struct {
        cairn_hand_over_kind kind;
        size_t size;
        uint16_t says, sockets;
        cairn_address bound;
        const char *why; // NULL: it is taken
        uint16_t apart;
    } rows[] = {{CAIRN_HAND_OVER_OFFER, size, 1, 1, bound, NULL, 0},
        {CAIRN_HAND_OVER_OFFER, size, 3, 3, bound, NULL, 0},
        {CAIRN_HAND_OVER_OFFER, size, CAIRN_UV_SOCKETS_MAX, CAIRN_UV_SOCKETS_MAX, bound, NULL, 0},
        {CAIRN_HAND_OVER_OFFER, size, 2, 2, bound, NULL, 1},
        {CAIRN_HAND_OVER_OFFER, size, 2, 2, bound, "malformed", 2},
        {CAIRN_HAND_OVER_OFFER, size, 1, 1, bound, "malformed", 1},
        {CAIRN_HAND_OVER_OFFER, size, 3, 3, bound, "malformed", 1},
        {CAIRN_HAND_OVER_OFFER, size, 0, 1, bound, "malformed", 0},
        {CAIRN_HAND_OVER_OFFER, size, CAIRN_UV_SOCKETS_MAX + 1, 1, bound, "malformed", 0},
        {CAIRN_HAND_OVER_OFFER, size, 1, 1, {.family = 77}, "malformed", 0},
        {CAIRN_HAND_OVER_OFFER, size - 1, 1, 1, bound, "malformed", 0},
        {CAIRN_HAND_OVER_SOCKET, size, 1, 1, bound, "malformed", 0},
        {CAIRN_HAND_OVER_OFFER, size, 3, 2, bound, "nothing more", 0},
        {CAIRN_HAND_OVER_REFUSED, 0, 0, 0, bound, "goes on: it is busy", 0}};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/cairn-take-over-%ld", (long)getpid());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        offer old = {.listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
            .kind = rows[i].kind,
            .size = rows[i].size,
            .says = {.bound = rows[i].bound, .sockets = rows[i].says, .apart = rows[i].apart},
            .sockets = rows[i].sockets};
        assert_int_equal(bind(old.listen_fd, (const struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(listen(old.listen_fd, 1), 0);
        cairn_take_over take;
        char why[CAIRN_TAKE_OVER_WHY_SIZE] = "";
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, play_old_process, &old), 0);
        const bool taken = cairn_take_over_begin(&take, address.sun_path, why);
        pthread_join(thread, NULL);
        assert_true(old.asked);
        if (taken != (rows[i].why == NULL) || (!taken && strstr(why, rows[i].why) == NULL)) {
            fail_msg("row %zu: %s", i, why);
        }
        if (taken) {
            assert_int_equal(take.sockets.count, rows[i].sockets);
            assert_int_equal(take.sockets.apart, rows[i].apart);
            assert_memory_equal(&take.bound, &bound, sizeof bound);
        }
        for (uint32_t k = 0; k < take.sockets.count; ++k) {
            close(take.sockets.fds[k]);
        }
        close(take.fd);
        close(old.listen_fd);
        unlink(address.sun_path);
    }
}

TEST("the name of a socket may be as long as the system takes") {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[sizeof address.sun_path + 1] = {0};
    char why[CAIRN_TAKE_OVER_WHY_SIZE];
    cairn_take_over take;
    memset(path, 'a', sizeof path - 1);
    assert_false(cairn_take_over_begin(&take, path, why));
    assert_non_null(strstr(why, "the name is too long"));
    path[sizeof path - 2] = '\0';
    assert_false(cairn_take_over_begin(&take, path, why));
    assert_non_null(strstr(why, "No such file"));
    close(take.fd);
}

static void set_watchdog(const char *us, long pid) {
    char text[32];
    snprintf(text, sizeof text, "%ld", pid);
    (void)(us == NULL ? unsetenv("WATCHDOG_USEC") : setenv("WATCHDOG_USEC", us, 1));
    (void)(pid == 0 ? unsetenv("WATCHDOG_PID") : setenv("WATCHDOG_PID", text, 1));
}

TEST("a manager hears of this process after half of its patience") {
    const struct {
        const char *us;
        bool of_another;
        bool follows;
        uint32_t ms;
    } rows[] = {{NULL, false, false, 0}, {NULL, false, true, 0}, {"0", false, false, 0},
        {"30000000", false, false, 15000}, {"30000000", true, false, 0},
        {"30000000", true, true, 15000}, {"4000", false, false, 2}, {"1", false, false, 1},
        {"2000", false, false, 1}, {"7200000000", false, false, 3600000},
        {"9999999999999", false, false, 3600000}, {"x", false, false, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        set_watchdog(rows[i].us, (long)getpid() + (rows[i].of_another ? 1 : 0));
        assert_int_equal(cairn_notify_watchdog_ms(rows[i].follows), rows[i].ms);
    }
    set_watchdog("10000", 0); // of every process
    assert_int_equal(cairn_notify_watchdog_ms(false), 5);
    set_watchdog(NULL, 0);
}

static void expect_told(int fd, const char *text) {
    char told[64] = {0};
    assert_int_equal(recv(fd, told, sizeof told - 1, MSG_DONTWAIT), strlen(text));
    assert_string_equal(told, text);
}

TEST("a manager is told by a socket of a path or of an abstract name") {
    char name[64];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(name, sizeof name, "@cairn-notify-%ld", (long)getpid());
    memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
    const size_t size = offsetof(struct sockaddr_un, sun_path) + strlen(name);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, (socklen_t)size), 0);
    setenv("NOTIFY_SOCKET", name, 1);
    cairn_notify("STATUS=here");
    expect_told(fd, "STATUS=here");
    cairn_notify_ready(false);
    expect_told(fd, "READY=1");
    char main_pid[64];
    snprintf(main_pid, sizeof main_pid, "MAINPID=%ld", (long)getpid());
    cairn_notify_ready(true);
    expect_told(fd, main_pid);
    expect_told(fd, "READY=1");
    setenv("NOTIFY_SOCKET", name + 1, 1); // neither
    cairn_notify("STATUS=nowhere");
    unsetenv("NOTIFY_SOCKET");
    cairn_notify("STATUS=nowhere");
    assert_int_equal(recv(fd, main_pid, sizeof main_pid, MSG_DONTWAIT), -1);
    close(fd);
}

TEST("a descriptor is the journal's if the manager says so") {
    struct stat status;
    char stream[64];
    assert_int_equal(fstat(ends[0], &status), 0);
    unsetenv("JOURNAL_STREAM");
    assert_false(cairn_notify_is_journal(ends[0]));
    snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)status.st_dev,
        (unsigned long long)status.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    assert_true(cairn_notify_is_journal(ends[0]));
    assert_false(cairn_notify_is_journal(ends[1]));
    assert_false(cairn_notify_is_journal(-1));
    unsetenv("JOURNAL_STREAM");
}
