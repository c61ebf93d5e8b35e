// SPDX-License-Identifier: MIT
// The thread of the web beside the loop of a server, over real sockets. The thread sanitizer runs
// this test.
#define _DEFAULT_SOURCE
#include "tests/kit/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "program/sockaddr.h"
#include "server/web/web.h"
#include "tests/kit/scenes.h"
#include "tests/server/uv_kit.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>

#define SOCKETS 6
#define MESSAGES 200
#define MESSAGE_SIZE 90
#define ASKERS 4
#define REQUESTS 25 // of each: an address may ask 400 times at once
#define STILL_MS 400

static const char token_text[] = "0101010101010101010101010101010101010101010101010101010101010101";

static cairn_uv_driver *driver;
static cairn_server *server;
static cairn_web *web;
static cairn_address address; // of the web
static pthread_t loop_thread;
static atomic_bool finished;       // the clients have what they wanted
static atomic_bool stands_still;   // the loop is to, once
static atomic_bool is_still;       // it does
static atomic_bool revokes;        // the loop takes the token away
static atomic_bool revoked;        // it has
static atomic_uint strange_thread; // datagrams that the server was not given by its thread
static atomic_uint took;
static bool echoes;
static uint32_t turns;

// Replaces that of the server (CMakeLists.txt): what comes from a WebSocket goes back to it.
void __wrap_cairn_server_receive(cairn_server *to, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size);
void __wrap_cairn_server_receive(cairn_server *to, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size) {
    (void)to;
    (void)now_ns;
    atomic_fetch_add(&strange_thread, pthread_equal(pthread_self(), loop_thread) ? 0 : 1);
    atomic_fetch_add(&took, 1);
    if (echoes) {
        cairn_web_send(web, from, bytes, size);
    }
}

static uint64_t nothing(void *user) {
    (void)user;
    return 0;
}

static void set_web(bool has_token) {
    cairn_key key = {.given = true};
    static const char *const origins[] = {"https://play.example"};
    memset(key.bytes, 1, sizeof key.bytes);
    const cairn_web_settings_values values = {.origins = origins,
        .origin_count = 1,
        .sockets_per_network_max = SOCKETS,
        .tokens = &key,
        .token_count = has_token ? 1 : 0};
    cairn_web_set(web, &values);
}

static void on_turn(void *user) {
    (void)user;
    cairn_web_turn(web);
    if (++turns % 7 == 0) {
        const bool without = atomic_load(&revokes);
        set_web(!without); // while others compare
        atomic_store(&revoked, without);
    }
    if (atomic_exchange(&stands_still, false)) {
        atomic_store(&is_still, true);
        nanosleep(&(struct timespec){.tv_nsec = STILL_MS * 1000000L}, NULL);
        atomic_store(&is_still, false);
    }
    if (atomic_load(&finished)) {
        cairn_server_drain(server, cairn_uv_now_ns());
    }
}

static void on_beat(void *user) {
    (void)user;
}

BEFORE_EACH {
    char error[CAIRN_HTTP_ERROR_SIZE];
    cairn_address any;
    assert_true(cairn_address_parse("127.0.0.1:0", &any));
    assert_int_equal(cairn_uv_driver_open(&any, &driver, error), CAIRN_OK);
    const cairn_address bound = cairn_uv_driver_address(driver);
    server = kit_uv_server(&bound);
    const cairn_web_config with = {.server = server,
        .driver = driver,
        .root = "/nonexistent",
        .peers_max = SOCKETS,
        .log_lines_lost = nothing,
        .log_bytes_waiting = nothing};
    assert_true(cairn_web_create(&with, &web, error));
    set_web(true);
    assert_true(cairn_web_listen(web, &any, error));
    address = cairn_web_address(web);
    loop_thread = pthread_self();
    atomic_store(&finished, false);
    atomic_store(&revokes, false);
    atomic_store(&took, 0);
    atomic_store(&strange_thread, 0);
    echoes = true;
}

AFTER_EACH {
    cairn_web_close(web);
    cairn_server_destroy(server);
    cairn_uv_driver_close(driver);
}

// Runs the loop until `work` has returned on another thread.
static void run_beside(void *(*work)(void *)) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
    const cairn_uv_run run = {
        .server = server, .beat_ms = 2, .on_beat = on_beat, .on_turn = on_turn};
    cairn_uv_driver_run(driver, &run);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&strange_thread), 0);
}

// ------------------------------------------------------------------------------------- clients
// What fails here ends the process: CMocka belongs to the first thread.

static void require(bool good, const char *what) {
    if (!good) {
        fprintf(stderr, "a client: %s\n", what);
        abort();
    }
}

static int dial(void) {
    struct sockaddr_storage to;
    const struct timeval patience = {.tv_sec = 20};
    const socklen_t size = cairn_address_to_sockaddr(&address, &to);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(connect(fd, (const struct sockaddr *)&to, size) == 0, "connect");
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static void say(int fd, const void *bytes, size_t size) {
    require(send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size, "send");
}

static void hear(int fd, void *out, size_t size) {
    require(recv(fd, out, size, MSG_WAITALL) == (ssize_t)size, "recv");
}

// Reads the head of an answer; returns its status. *length: of the body.
static int hear_head(int fd, size_t *length) {
    char head[4096];
    size_t size = 0;
    while (size < 4 || memcmp(head + size - 4, "\r\n\r\n", 4) != 0) {
        require(size < sizeof head - 1, "a long head");
        hear(fd, head + size++, 1);
    }
    head[size] = '\0';
    const char *found = strstr(head, "content-length: ");
    *length = found == NULL ? 0 : strtoul(found + 16, NULL, 10);
    return atoi(head + 9);
}

// Returns the body, with a zero after it; the caller frees it.
static char *ask(int fd, const char *text, int wanted) {
    size_t length;
    say(fd, text, strlen(text));
    require(hear_head(fd, &length) == wanted, text);
    char *body = malloc(length + 1);
    hear(fd, body, length);
    body[length] = '\0';
    return body;
}

static void get(int fd, const char *path, int wanted) {
    char text[128];
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
    free(ask(fd, text, wanted));
}

static uint64_t counter(const char *name) {
    char line[96];
    const int fd = dial();
    char *text = ask(fd, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", 200);
    snprintf(line, sizeof line, "\n%s_total ", name);
    const char *found = strstr(text, line);
    require(found != NULL, name);
    const uint64_t value = strtoull(found + strlen(line), NULL, 10);
    free(text);
    close(fd);
    return value;
}

static void post(int fd, const char *verb, const char *body, int wanted) {
    char text[512];
    snprintf(text, sizeof text,
        "POST /control/%s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        verb, token_text, strlen(body), body);
    if (wanted == 0) {
        say(fd, text, strlen(text));
        return;
    }
    free(ask(fd, text, wanted));
}

static int open_socket(void) {
    static const char text[] = "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
                               "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                               "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                               "Sec-WebSocket-Protocol: cairn\r\n\r\n";
    size_t length;
    const int fd = dial();
    say(fd, text, strlen(text));
    require(hear_head(fd, &length) == 101, "a WebSocket");
    return fd;
}

// A message of that size with its number in it. The mask of zeros changes nothing.
static void say_message(int fd, uint32_t number, size_t size) {
    uint8_t frame[8 + CAIRN_DATAGRAM_SIZE_MAX] = {0x82};
    size_t head = 2;
    frame[1] = (uint8_t)(0x80 | (size < 126 ? size : 126));
    if (size >= 126) {
        frame[2] = (uint8_t)(size >> 8);
        frame[3] = (uint8_t)size;
        head = 4;
    }
    memcpy(frame + head + 4, &number, sizeof number);
    say(fd, frame, head + 4 + size);
}

static uint32_t hear_message(int fd) {
    uint8_t frame[2 + MESSAGE_SIZE];
    uint32_t number;
    hear(fd, frame, sizeof frame);
    require(frame[0] == 0x82 && frame[1] == MESSAGE_SIZE, "a message");
    memcpy(&number, frame + 2, sizeof number);
    return number;
}

static void *talk(void *argument) {
    int fds[SOCKETS];
    (void)argument;
    for (uint32_t i = 0; i < SOCKETS; ++i) {
        fds[i] = open_socket();
    }
    for (uint32_t k = 0; k < MESSAGES; ++k) {
        for (uint32_t i = 0; i < SOCKETS; ++i) {
            say_message(fds[i], k * SOCKETS + i, MESSAGE_SIZE);
        }
        for (uint32_t i = 0; i < SOCKETS && k % 4 == 3; ++i) {
            for (uint32_t past = 4; past-- > 0;) {
                require(hear_message(fds[i]) == (k - past) * SOCKETS + i, "the next message");
            }
        }
    }
    for (uint32_t i = 0; i < SOCKETS; ++i) {
        close(fds[i]);
    }
    atomic_store(&finished, true);
    return NULL;
}

TEST("each message goes to the server and back, in order, and by the loop's thread") {
    run_beside(talk);
    assert_int_equal(atomic_load(&took), SOCKETS * MESSAGES);
}

// Some leave before they are answered.
static void *ask_all(void *argument) {
    static const char *const paths[] = {"/metrics", "/healthz", "/rooms", "/readyz", "/nothing"};
    (void)argument;
    for (uint32_t i = 0; i < REQUESTS; ++i) {
        const int fd = dial();
        get(fd, paths[i % 5], i % 5 == 4 ? 404 : 200);
        post(fd, "state", "{}", 200);
        if (i % 3 == 0) {
            post(fd, i % 2 == 0 ? "state" : "features", "{}", 0);
        } else {
            get(fd, "/metrics", 200);
        }
        close(fd);
    }
    return NULL;
}

static void *ask_from_many(void *argument) {
    pthread_t threads[ASKERS];
    for (uint32_t i = 0; i < ASKERS; ++i) {
        require(pthread_create(&threads[i], NULL, ask_all, argument) == 0, "a thread");
    }
    for (uint32_t i = 0; i < ASKERS; ++i) {
        pthread_join(threads[i], NULL);
    }
    atomic_store(&finished, true);
    return NULL;
}

TEST("requests from many connections are answered, and those who leave disturb nobody") {
    run_beside(ask_from_many);
}

static void *ask_with_old_token(void *argument) {
    const int fd = dial();
    (void)argument;
    post(fd, "state", "{}", 200);
    atomic_store(&revokes, true);
    while (!atomic_load(&revoked)) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    post(fd, "state", "{}", 401);
    close(fd);
    atomic_store(&finished, true);
    return NULL;
}

TEST("a token that was taken away counts no more, from the next request on") {
    run_beside(ask_with_old_token);
}

static double ms_since(const struct timespec *begin) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)(now.tv_sec - begin->tv_sec) +
           1e-6 * (double)(now.tv_nsec - begin->tv_nsec);
}

// Makes the loop stand still, and returns while it does.
static struct timespec make_still(void) {
    struct timespec begin;
    atomic_store(&stands_still, true);
    while (!atomic_load(&is_still)) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    return begin;
}

static void *ask_while_still(void *argument) {
    const int fd = dial();
    (void)argument;
    get(fd, "/healthz", 200);
    const struct timespec begin = make_still();
    get(fd, "/nothing", 404);
    require(atomic_load(&is_still), "the thread waited for the loop");
    get(fd, "/healthz", 200);
    require(ms_since(&begin) > STILL_MS / 2.0, "a loop that stands still was called healthy");
    close(fd);
    atomic_store(&finished, true);
    return NULL;
}

TEST("the thread serves while the loop stands still, but does not call it healthy") {
    run_beside(ask_while_still);
}

static void *flood_while_still(void *argument) {
    const int fd = open_socket();
    const uint32_t count = 950; // of the 1000 at once
    (void)argument;
    (void)make_still();
    for (uint32_t i = 0; i < count; ++i) {
        say_message(fd, i, CAIRN_DATAGRAM_SIZE_MAX);
    }
    while (counter("cairn_web_frames_received") < count) {
        nanosleep(&(struct timespec){.tv_nsec = 110000000}, NULL);
    }
    const uint64_t dropped = counter("cairn_web_frames_received_dropped");
    for (uint32_t ms = 0; ms < 5000 && atomic_load(&took) + dropped < count; ++ms) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    require(atomic_load(&took) + dropped == count, "each datagram is taken, or counted");
    require(dropped > 0 && dropped < count / 2, "a ring of 1 MiB has room for most");
    close(fd);
    atomic_store(&finished, true);
    return NULL;
}

TEST("what a loop that stands still cannot take is dropped and counted") {
    echoes = false;
    run_beside(flood_while_still);
}

static int left_open[2];

static void *leave_open(void *argument) {
    (void)argument;
    left_open[0] = dial();
    post(left_open[0], "pause", "{}", 200);
    post(left_open[0], "rate", "{\"speed_thousandths\": 1000}", 200);
    post(left_open[0], "step", "{\"tick_count\": 1000000}", 0);
    left_open[1] = open_socket();
    say_message(left_open[1], 1, MESSAGE_SIZE);
    require(hear_message(left_open[1]) == 1, "an echo");
    atomic_store(&finished, true);
    return NULL;
}

TEST("the end finds a WebSocket and a request that still waits") {
    run_beside(leave_open);
    cairn_web_close(web);
    web = NULL;
    char byte;
    assert_true(recv(left_open[0], &byte, 1, 0) <= 0);
    close(left_open[0]);
    close(left_open[1]);
}
