// SPDX-License-Identifier: MIT
// The driver of cairnd over real sockets: the server sees each datagram once, also those that the
// system joined, with and without threads for sockets. The thread sanitizer runs this test.
// For UDP_SEGMENT.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "program/sockaddr.h"
#include "tests/kit/scenes.h"
#include "tests/server/uv_kit.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>

#define SENDERS 8
#define ROUNDS 100
#define SEGMENTS 6
#define SEGMENT_SIZE 200
#define LAST_SIZE 40

// What senders of unknown datagrams do while the driver runs.
typedef struct senders {
    cairn_address to;
    cairn_uv_driver *driver;
    bool cuts; // the system took UDP_SEGMENT
} senders;

static void *send_all(void *argument) {
    senders *own = argument;
    const int segment = SEGMENT_SIZE;
    static const uint8_t bytes[(SEGMENTS - 1) * SEGMENT_SIZE + LAST_SIZE] = {0xff};
    struct sockaddr_storage to;
    const socklen_t size = cairn_address_to_sockaddr(&own->to, &to);
    int fds[SENDERS];
    own->cuts = true;
    for (int i = 0; i < SENDERS; ++i) {
        fds[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        own->cuts = own->cuts &&
                    setsockopt(fds[i], IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment) == 0;
    }
    for (int round = 0; round < ROUNDS; ++round) {
        for (int i = 0; i < SENDERS; ++i) {
            (void)!sendto(fds[i], bytes, sizeof bytes, 0, (const struct sockaddr *)&to, size);
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    for (int i = 0; i < SENDERS; ++i) {
        close(fds[i]);
    }
    return NULL;
}

// Without rooms.
static cairn_server *create_server(const cairn_address *address) {
    static const uint8_t secret[CAIRN_KEY_SIZE] = {1};
    cairn_server *server;
    cairn_server_config config = cairn_server_config_default();
    config.private_key = secret;
    config.entropy = secret;
    config.public_addresses = address;
    config.public_address_count = 1;
    config.start_ns = cairn_uv_now_ns();
    assert_int_equal(cairn_server_create(&config, &server), CAIRN_OK);
    return server;
}

static cairn_uv_driver *open_driver(uint32_t sockets) {
    char error[CAIRN_UV_ERROR_SIZE];
    cairn_uv_driver *driver;
    cairn_address listen;
    assert_true(cairn_address_parse("127.0.0.1:0", &listen));
    assert_int_equal(cairn_uv_driver_open_wide(&listen, sockets, &driver, error), CAIRN_OK);
    return driver;
}

static void run_with(uint32_t sockets) {
    senders own = {.driver = open_driver(sockets)};
    pthread_t thread;
    own.to = cairn_uv_driver_address(own.driver);
    cairn_server *server = create_server(&own.to);
    assert_int_equal(pthread_create(&thread, NULL, send_all, &own), 0);
    const cairn_uv_run run = {.server = server, .seconds = 2};
    cairn_uv_driver_run(own.driver, &run);
    pthread_join(thread, NULL);
    cairn_server_statistics seen;
    cairn_server_statistics_read(server, &seen);
    const cairn_uv_statistics io = cairn_uv_driver_statistics(own.driver);
    assert_true(own.cuts);
    assert_int_equal(seen.datagrams_received, SENDERS * ROUNDS * SEGMENTS);
    assert_int_equal(
        seen.bytes_received, SENDERS * ROUNDS * ((SEGMENTS - 1) * SEGMENT_SIZE + LAST_SIZE));
    assert_int_equal(io.datagrams_joined, SENDERS * ROUNDS * SEGMENTS);
    assert_int_equal(io.received_dropped + io.receive_errors, 0);
    assert_int_equal(io.io_threads, sockets == 1 ? 0 : sockets);
    cairn_server_destroy(server);
    cairn_uv_driver_close(own.driver);
}

TEST("the loop's own socket gives the server each datagram once") {
    run_with(1);
}

TEST("several sockets with threads give the server each datagram once") {
    run_with(3);
}

// A peer that keeps the socket from becoming empty: it sends as many datagrams as a turn takes.
typedef struct backlog {
    int fd;
    cairn_address to;
    cairn_uv_driver *driver;
    uint32_t sent;
    uint32_t turns;
    long sleeps; // of the loop's thread before the turns that count
} backlog;

#define BACKLOG_BEFORE 2000
#define BACKLOG_TURN 128
#define BACKLOG_TURNS_BEFORE 500 // the loop has counted the rate
#define BACKLOG_TURNS 800

static long count_sleeps(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
}

static void send_backlog(backlog *own, uint32_t count) {
    struct sockaddr_storage to;
    const uint8_t byte = 0xff;
    const socklen_t size = cairn_address_to_sockaddr(&own->to, &to);
    for (uint32_t i = 0; i < count; ++i) {
        own->sent += sendto(own->fd, &byte, 1, 0, (const struct sockaddr *)&to, size) == 1 ? 1 : 0;
    }
}

static void on_backlog_turn(void *user) {
    backlog *own = user;
    own->turns += 1;
    if (own->turns == BACKLOG_TURNS_BEFORE) {
        own->sleeps = count_sleeps();
    } else if (own->turns == BACKLOG_TURNS) {
        own->sleeps = count_sleeps() - own->sleeps;
        cairn_uv_driver_drain(own->driver);
    }
    if (own->turns < BACKLOG_TURNS) {
        send_backlog(own, BACKLOG_TURN);
    }
}

TEST("the loop does not sleep while its socket has more, at any rate") {
    backlog own = {.driver = open_driver(1)};
    own.to = cairn_uv_driver_address(own.driver);
    own.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    cairn_server *server = create_server(&own.to);
    send_backlog(&own, BACKLOG_BEFORE);
    const cairn_uv_run run = {.server = server, .on_turn = on_backlog_turn, .user = &own};
    cairn_uv_driver_run(own.driver, &run);
    cairn_server_statistics seen;
    cairn_server_statistics_read(server, &seen);
    assert_true(own.turns >= BACKLOG_TURNS);
    assert_int_equal(own.sent, BACKLOG_BEFORE + (BACKLOG_TURNS - 1) * BACKLOG_TURN);
    assert_int_equal(seen.datagrams_received, own.sent);
    assert_in_range(own.sleeps, 0, (BACKLOG_TURNS - BACKLOG_TURNS_BEFORE) / 10);
    cairn_server_destroy(server);
    cairn_uv_driver_close(own.driver);
    close(own.fd);
}

static uint32_t jobs_given;
static int task_priority; // of the thread that wrote last

static bool give_job(void *user, cairn_server_job *job) {
    jobs_given += 1;
    return cairn_uv_driver_run_job(*(cairn_uv_driver **)user, job);
}

static bool give_task(void *user, cairn_server_task *task) {
    return cairn_uv_driver_run_task(*(cairn_uv_driver **)user, task);
}

static bool write_record(void *user, const char *room, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)room;
    (void)bytes;
    task_priority = size > 0 ? getpriority(PRIO_PROCESS, 0) : task_priority;
    return true;
}

TEST("rooms are stepped by a thread of the driver, and written by one that yields to others") {
    char error[CAIRN_UV_ERROR_SIZE];
    cairn_uv_driver *driver;
    cairn_server *server;
    cairn_address listen;
    uint32_t rooms[2];
    jobs_given = 0;
    task_priority = -100;
    assert_true(cairn_address_parse("127.0.0.1:0", &listen));
    assert_int_equal(cairn_uv_driver_open(&listen, &driver, error), CAIRN_OK);
    const cairn_address bound = cairn_uv_driver_address(driver);
    cairn_server_config config = kit_uv_config(&bound);
    config.run_job = give_job;
    config.run_task = give_task;
    config.on_record = write_record;
    config.inline_step_us_max = 0; // each room
    config.user = &driver;
    assert_int_equal(cairn_server_create(&config, &server), CAIRN_OK);
    cairn_server_room_config hosted = cairn_server_room_config_default();
    hosted.scene = kit_scene_stack_and_row();
    for (uint32_t i = 0; i < 2; ++i) { // one alone is stepped by the loop
        hosted.name = i == 0 ? "main" : "other";
        assert_int_equal(
            cairn_server_room_create(server, cairn_uv_now_ns(), &hosted, &rooms[i], NULL),
            CAIRN_ROOM_CREATED);
    }
    const cairn_uv_run run = {.server = server, .seconds = 1};
    cairn_uv_driver_run(driver, &run);
    const cairn_uv_statistics io = cairn_uv_driver_statistics(driver);
    assert_true(jobs_given > 10);
    const int own_priority = getpriority(PRIO_PROCESS, 0);
    assert_true(task_priority > own_priority || own_priority == 19);
    assert_int_equal(io.threads_failed, 0);
    assert_int_equal(io.handovers_failed, 0);
    assert_int_equal(cairn_server_jobs_out(server), 0);
    assert_true(cairn_world_tick(cairn_server_world(server, rooms[1])) > 10);
    cairn_server_destroy(server);
    cairn_uv_driver_close(driver);
}

static void ask_to_drain(void *user) {
    cairn_uv_driver_drain(user);
}

TEST("a server that is asked to drain, once or again and again, ends soon") {
    cairn_uv_driver *driver = open_driver(1);
    const cairn_address bound = cairn_uv_driver_address(driver);
    cairn_server *server = create_server(&bound);
    const uint64_t begin_ns = cairn_uv_now_ns();
    const cairn_uv_run run = {
        .server = server, .seconds = 10, .beat_ms = 10, .on_beat = ask_to_drain, .user = driver};
    cairn_uv_driver_run(driver, &run);
    assert_true(cairn_uv_now_ns() - begin_ns < 8 * UINT64_C(1000000000));
    assert_true(cairn_server_drained(server));
    cairn_server_destroy(server);
    cairn_uv_driver_close(driver);
}

TEST("a driver that is held leaves what arrives to the next process") {
    for (uint32_t count = 1; count <= 3; ++count) {
        cairn_uv_driver *driver = open_driver(count);
        const cairn_address bound = cairn_uv_driver_address(driver);
        const cairn_uv_sockets sockets = cairn_uv_driver_sockets(driver);
        struct sockaddr_storage to;
        const socklen_t size = cairn_address_to_sockaddr(&bound, &to);
        uint32_t left = 0;
        uint8_t byte = 1;
        assert_int_equal(sockets.count, count == 1 ? 2 : count);
        assert_int_equal(sockets.apart, count == 1);
        uint32_t tries = 0; // a busy machine may take longer than one of them waits
        for (; tries < 200 && !cairn_uv_driver_hold(driver); ++tries) {
            cairn_uv_driver_go_on(driver);
        }
        assert_true(tries < 200);
        for (uint32_t i = 0; i < SENDERS; ++i) {
            const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            assert_int_equal(sendto(fd, &byte, 1, 0, (const struct sockaddr *)&to, size), 1);
            close(fd);
        }
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        for (uint32_t i = 0; i < sockets.count; ++i) {
            while (recv(sockets.fds[i], &byte, 1, MSG_DONTWAIT) == 1) {
                left += 1;
            }
        }
        assert_int_equal(left, SENDERS);
        cairn_uv_driver_go_on(driver);
        cairn_uv_driver_close(driver);
    }
}
