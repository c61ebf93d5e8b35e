// SPDX-License-Identifier: MIT
// HTTP and WebSockets of a host that keeps what it was given.
#define _DEFAULT_SOURCE
#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "program/sockaddr.h"
#include "server/web/http.h"
#include "tests/server/web_kit.h"
#include <cairn/server_uv.h>

// Eight pieces as they are written.
#define LARGE_SIZE ((size_t)8 * 65536)
// What the system keeps of a connection, so that a reader who stops is noticed soon.
#define BUFFER 16384

static cairn_http *http;
static cairn_address address;
static uint8_t large[LARGE_SIZE];
static unsigned released, received, malformed;
static uint8_t message[CAIRN_DATAGRAM_SIZE_MAX]; // the newest
static size_t message_size;
static bool has_argument;
static char argument[16];

// Replaces that of the system (CMakeLists.txt).
int __real_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags) {
    const int taken = __real_accept4(fd, from, size, flags);
    const int buffer = BUFFER;
    if (taken >= 0) {
        assert_int_equal(setsockopt(taken, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer), 0);
    }
    return taken;
}

static void turn(void) {
    kit_loop_turn();
}

static void release(void *owner) {
    (void)owner;
    ++released;
}

static cairn_http_answer get(
    void *user, const cairn_http_request *request, cairn_http_exchange *exchange) {
    (void)user;
    (void)exchange;
    has_argument = cairn_http_argument_read(request, "name=", argument, sizeof argument);
    return strcmp(request->path, "/large") == 0 ? (cairn_http_answer){.status = 200,
                                                      .type = "application/octet-stream",
                                                      .bytes = large,
                                                      .size = sizeof large,
                                                      .release = release}
                                                : cairn_http_words(200, "here");
}

static uint32_t ask_to_open(void *user, const cairn_http_request *request) {
    (void)user;
    (void)request;
    return 0;
}

static void *opened(void *user, cairn_http_socket *socket, const cairn_address *from) {
    (void)user;
    (void)from;
    return socket;
}

static bool receive(void *user, void *peer, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)peer;
    ++received;
    message_size = size;
    memcpy(message, bytes, size < sizeof message ? size : sizeof message);
    return true;
}

static void note_malformed(void *user, void *peer) {
    (void)user;
    (void)peer;
    ++malformed;
}

static size_t next(void *user, void *peer, uint8_t **bytes) {
    (void)user;
    (void)peer;
    (void)bytes;
    return 0;
}

static void closed(void *user, void *peer) {
    (void)user;
    (void)peer;
}

BEFORE_EACH {
    const cairn_http_config config = {.host = {.get = get,
                                          .ask = ask_to_open,
                                          .opened = opened,
                                          .received = receive,
                                          .malformed = note_malformed,
                                          .next = next,
                                          .closed = closed},
        .sockets_max = 2,
        .sockets_per_network_max = 2};
    char error[CAIRN_HTTP_ERROR_SIZE];
    assert_true(cairn_address_parse("127.0.0.1:0", &address));
    kit_turn = turn;
    assert_true(cairn_http_create(kit_loop_open(), &config, &http, error));
    assert_true(cairn_http_listen(http, &address, error));
    address = cairn_http_address(http);
    released = received = malformed = 0;
}

AFTER_EACH {
    cairn_http_close(http);
    kit_loop_close();
}

TEST("of an answer little is kept beside what the system takes of it") {
    static uint8_t heard[LARGE_SIZE];
    for (size_t i = 0; i < sizeof large; ++i) {
        large[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    const int fd = kit_dial(&address, BUFFER);
    const char ask[] = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
    kit_say(fd, ask, strlen(ask));
    assert_int_equal(kit_hear_head(fd), 200);
    assert_int_equal(kit_answered.size, sizeof large);
    for (uint32_t i = 0; i < 100; ++i) {
        turn();
    }
    assert_int_equal(released, 0); // its reader has taken nothing: its bytes are still needed
    assert_int_equal(kit_hear(fd, heard, sizeof heard), sizeof heard);
    assert_memory_equal(heard, large, sizeof large);
    assert_int_equal(kit_ask(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    assert_int_equal(released, 1);
    close(fd);
}

TEST("an argument of a query is read if it is there and fits") {
    const struct {
        const char *query;
        const char *value; // NULL: none
    } rows[] = {{"", NULL}, {"?", NULL}, {"?other=1", NULL}, {"?name=", ""}, {"?name=a", "a"},
        {"?other=1&name=b&name=c", "b"}, {"?name=a%20b", "a b"},
        {"?name=fifteen-letters", "fifteen-letters"}, {"?name=sixteen--letters", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char text[128];
        snprintf(text, sizeof text, "GET /%s HTTP/1.1\r\nHost: a\r\n\r\n", rows[i].query);
        assert_int_equal(kit_ask_once(&address, text), 200);
        assert_int_equal(has_argument, rows[i].value != NULL);
        assert_string_equal(argument, rows[i].value == NULL ? "" : rows[i].value);
    }
}

static void wait_for(const unsigned *count, unsigned wanted) {
    const uint64_t end_ns = cairn_uv_now_ns() + KIT_PATIENCE_NS;
    while (*count < wanted) {
        assert_true(cairn_uv_now_ns() < end_ns);
        turn();
    }
}

TEST("a message is as long as a datagram at most, in however many pieces it comes") {
    static uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX + 1];
    const uint16_t half = CAIRN_DATAGRAM_SIZE_MAX / 2, most = CAIRN_DATAGRAM_SIZE_MAX;
    for (size_t i = 0; i < sizeof bytes; ++i) {
        bytes[i] = (uint8_t)(i * 31);
    }
    const int fd = kit_open_socket(&address);
    kit_say_piece(fd, true, true, bytes, most);
    wait_for(&received, 1);
    assert_int_equal(message_size, most);
    memset(message, 0, sizeof message);
    kit_say_piece(fd, true, false, bytes, half);
    kit_say_piece(fd, false, true, bytes + half, (uint16_t)(most - half));
    wait_for(&received, 2);
    assert_int_equal(message_size, most);
    assert_memory_equal(message, bytes, most);
    kit_say_piece(fd, true, false, bytes, half);
    kit_say_piece(fd, false, true, bytes + half, (uint16_t)(most - half + 1));
    uint8_t end[4];
    assert_int_equal(kit_hear(fd, end, sizeof end), sizeof end);
    const uint8_t too_large[] = {0x88, 2, 1009 >> 8, 1009 & 255};
    assert_memory_equal(end, too_large, sizeof end);
    assert_int_equal(malformed, 1);
    assert_int_equal(received, 2);
    close(fd);
    const int other = kit_open_socket(&address);
    kit_say_piece(other, true, true, bytes, (uint16_t)(most + 1));
    wait_for(&malformed, 2);
    assert_int_equal(received, 2);
    close(other);
}
