// SPDX-License-Identifier: MIT
// The web as a whole, with its thread: the clients are on the thread of the server's loop, which
// has a turn each time one of them waits. web_threads_test.c has clients beside it.
#define _DEFAULT_SOURCE
#include "tests/kit/test.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uv.h>

#include "program/sockaddr.h"
#include "server/web/web.h"
#include "tests/kit/scenes.h"
#include "tests/server/uv_kit.h"
#include "tests/server/web_kit.h"

#define MESSAGES 160 // more than in a turn, fewer than a socket's queue holds
#define SIZE 200

static cairn_uv_driver *driver;
static cairn_server *server;
static cairn_web *web;
static cairn_address address; // of the web
static cairn_address from;    // of the last datagram
static uint32_t took;
static bool in_order;

// Replaces that of the server (CMakeLists.txt).
void __wrap_cairn_server_receive(cairn_server *to, uint64_t now_ns, const cairn_address *sender,
    const uint8_t *bytes, size_t size);
void __wrap_cairn_server_receive(cairn_server *to, uint64_t now_ns, const cairn_address *sender,
    const uint8_t *bytes, size_t size) {
    uint32_t number;
    assert_ptr_equal(to, server);
    assert_true(now_ns > 0 && size == SIZE);
    memcpy(&number, bytes, sizeof number);
    in_order = in_order && number == took;
    from = *sender;
    took += 1;
}

static uint64_t nothing(void *user) {
    (void)user;
    return 0;
}

static void turn(void) {
    uv_run(cairn_uv_driver_loop(driver), UV_RUN_NOWAIT);
    cairn_server_advance(server, cairn_uv_now_ns());
    cairn_web_turn(web);
}

static void set_web(uint32_t tokens) {
    cairn_key key = {.given = true};
    memset(key.bytes, 1, sizeof key.bytes);
    const cairn_web_settings_values values = {
        .sockets_per_network_max = 2, .tokens = &key, .token_count = tokens};
    cairn_web_set(web, &values);
}

static void create_web(void) {
    char error[CAIRN_HTTP_ERROR_SIZE];
    const cairn_web_config with = {.server = server,
        .driver = driver,
        .root = "/nonexistent",
        .peers_max = 2,
        .control = true,
        .log_lines_lost = nothing,
        .log_bytes_waiting = nothing};
    assert_true(cairn_web_create(&with, &web, error));
    set_web(1);
}

BEFORE_EACH {
    char error[CAIRN_HTTP_ERROR_SIZE];
    cairn_address any;
    assert_true(cairn_address_parse("127.0.0.1:0", &any));
    assert_int_equal(cairn_uv_driver_open(&any, &driver, error), CAIRN_OK);
    const cairn_address bound = cairn_uv_driver_address(driver);
    server = kit_uv_server(&bound);
    create_web();
    assert_true(cairn_web_listen(web, &any, error));
    address = cairn_web_address(web);
    kit_turn = turn;
    took = 0;
    in_order = true;
}

AFTER_EACH {
    cairn_web_close(web);
    cairn_server_destroy(server);
    cairn_uv_driver_close(driver);
}

static int post(const char *verb) {
    char text[512];
    snprintf(text, sizeof text,
        "POST /control/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
        "0101010101010101010101010101010101010101010101010101010101010101\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
        verb);
    return kit_ask_once(&address, text);
}

TEST("what the thread knows and what the loop knows is answered, and there is no page") {
    assert_int_not_equal(address.port, 0);
    assert_false(cairn_web_has_page(web));
    assert_int_equal(kit_ask_once(&address, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    assert_int_equal(kit_ask_once(&address, "GET /rooms HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    assert_non_null(strstr(kit_answered.body, "main"));
    assert_int_equal(kit_ask_once(&address, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    assert_int_equal(kit_ask_once(&address, "GET /token HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), 404);
    assert_int_equal(post("state"), 200);
    set_web(0);
    assert_int_not_equal(post("state"), 200);
    set_web(1);
    assert_int_equal(post("state"), 200);
}

// As many turns as that takes.
static void wait_for(uint32_t count) {
    const uint64_t end_ns = cairn_uv_now_ns() + KIT_PATIENCE_NS;
    while (took < count) {
        assert_true(cairn_uv_now_ns() < end_ns);
        turn();
    }
}

TEST("any number of datagrams comes and goes in order, whatever a turn takes") {
    static uint8_t bytes[SIZE], heard[SIZE + 4];
    const int fd = kit_open_socket(&address);
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        memcpy(bytes, &i, sizeof i);
        kit_say_piece(fd, true, true, bytes, SIZE);
    }
    wait_for(MESSAGES);
    assert_true(in_order);
    assert_int_equal(from.family, CAIRN_ADDRESS_STREAM);
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        memcpy(bytes, &i, sizeof i);
        cairn_web_send(web, &from, bytes, SIZE);
    }
    cairn_web_turn(web);
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        uint32_t number;
        assert_int_equal(kit_hear(fd, heard, sizeof heard), sizeof heard);
        memcpy(&number, heard + 4, sizeof number);
        assert_int_equal(number, i);
    }
    assert_int_equal(took, MESSAGES);
    close(fd);
}

// More than the ring between the threads takes, before the thread is woken.
TEST("what finds no room on its way to a WebSocket is dropped and counted") {
    static uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    const cairn_address nobody = {.family = CAIRN_ADDRESS_STREAM, .ip = {9}, .port = 9};
    for (uint32_t i = 0; i < 4000; ++i) {
        cairn_web_send(web, &nobody, bytes, sizeof bytes);
    }
    cairn_web_turn(web);
    assert_int_equal(kit_ask_once(&address, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    const char *line = strstr(kit_answered.body, "\ncairn_web_frames_sent_dropped_total ");
    assert_non_null(line);
    assert_in_range(strtoul(strchr(line, ' '), NULL, 10), 1000, 3999);
}

static void count_closing(uv_handle_t *handle, void *count) {
    *(uint32_t *)count += uv_is_closing(handle) ? 1 : 0;
}

// A handle that closes calls back, and its memory would be gone.
static void close_and_expect_none_left(cairn_web *closed) {
    uint32_t count = 0;
    cairn_web_close(closed);
    uv_walk(cairn_uv_driver_loop(driver), count_closing, &count);
    assert_int_equal(count, 0);
}

TEST("a web that cannot listen says so, and one that never did ends as well") {
    char error[CAIRN_HTTP_ERROR_SIZE];
    cairn_web *listens = web;
    const cairn_address taken = address;
    create_web();
    assert_false(cairn_web_listen(web, &taken, error));
    assert_string_equal(error, "cannot listen: Address already in use");
    close_and_expect_none_left(web);
    create_web();
    close_and_expect_none_left(web);
    cairn_web_close(NULL);
    cairn_web_turn(NULL);
    web = listens;
    assert_int_equal(kit_ask_once(&address, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
}
