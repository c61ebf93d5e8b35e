// SPDX-License-Identifier: MIT
// HTTP and WebSockets of a host that keeps what it was given.
#define _DEFAULT_SOURCE
#include "tests/kit/test.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "program/sockaddr.h"
#include "server/web/http.h"
#include "server/web/origin.h"
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
static char header_value[16];
static bool allowed[3]; // the origin, with so many others
static bool has_header[6], read_header[6];
static cairn_http_exchange *later; // an exchange that waits for its answer
static unsigned gone, opens, closes;
static uint32_t mark;
static char posted[32]; // the path of the last body
static size_t posted_size;
static uint32_t refusal; // of begin_post, and of a WebSocket; 0: none
static bool answers_later, opens_nothing, receives_nothing;
static uint32_t to_send, sent; // messages
static int no_descriptor;      // so many calls find that the process may open no more
static void *socket_peer;

// Replaces that of the system (CMakeLists.txt).
int __real_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags) {
    if (no_descriptor > 0) {
        no_descriptor -= 1;
        errno = EMFILE;
        return -1;
    }
    const int taken = __real_accept4(fd, from, size, flags);
    const int buffer = BUFFER;
    if (taken >= 0) {
        assert_int_equal(setsockopt(taken, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer), 0);
    }
    return taken;
}

// Replaces that of the system, likewise.
static int unsent = -1; // bytes that a path has not taken; -1: as the system says; -2: it does not
int __real_ioctl(int fd, unsigned long request, void *out);
int __wrap_ioctl(int fd, unsigned long request, void *out);
int __wrap_ioctl(int fd, unsigned long request, void *out) {
    if (request != SIOCOUTQNSD || unsent == -1) {
        return __real_ioctl(fd, request, out);
    }
    *(int *)out = unsent > 0 ? unsent : 0;
    return unsent == -2 ? -1 : 0;
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
    has_argument = cairn_http_argument_read(request, "name=", argument, sizeof argument);
    for (uint32_t i = 0; i < 6; ++i) {
        has_header[i] = cairn_http_has_header(request, (cairn_http_header)i);
        read_header[i] = cairn_http_header_read(
            request, (cairn_http_header)i, header_value, sizeof header_value);
    }
    for (uint32_t i = 0; i < 3; ++i) {
        static const char *const origins[] = {"https://one.example", "https://two.example:8000"};
        allowed[i] = cairn_origin_allowed(request, origins, i);
    }
    (void)cairn_http_header_read(request, CAIRN_HTTP_ACCEPT, header_value, sizeof header_value);
    if (strcmp(request->path, "/later") == 0) {
        later = exchange;
        return (cairn_http_answer){.status = 0};
    }
    if (strcmp(request->path, "/kept") == 0) {
        return (cairn_http_answer){
            .status = 304, .cache = "max-age=3", .etag = "\"e\"", .release = release};
    }
    if (strcmp(request->path, "/secret") == 0) {
        return cairn_http_words(401, "who?");
    }
    return strcmp(request->path, "/large") == 0 ? (cairn_http_answer){.status = 200,
                                                      .type = "application/octet-stream",
                                                      .bytes = large,
                                                      .size = sizeof large,
                                                      .release = release}
                                                : cairn_http_words(200, "here");
}

static cairn_http_answer begin_post(void *user, const cairn_http_request *request, uint32_t *out) {
    (void)user;
    (void)request;
    *out = 7;
    return refusal == 0 ? (cairn_http_answer){.status = 0} : cairn_http_words(refusal, "no");
}

static cairn_http_answer post(void *user, const char *path, uint32_t given, const uint8_t *body,
    size_t size, cairn_http_exchange *exchange) {
    (void)user;
    mark = given;
    posted_size = size;
    snprintf(posted, sizeof posted, "%s", path);
    for (size_t i = 0; i < size; ++i) {
        assert_int_equal(body[i], (uint8_t)('a' + i % 23));
    }
    later = exchange;
    return answers_later ? (cairn_http_answer){.status = 0} : cairn_http_words(202, "taken");
}

static void note_gone(void *user, cairn_http_exchange *exchange) {
    (void)user;
    assert_ptr_equal(exchange, later);
    ++gone;
}

static uint32_t ask_to_open(void *user, const cairn_http_request *request) {
    (void)user;
    (void)request;
    return refusal;
}

static void *opened(void *user, cairn_http_socket *socket, const cairn_address *from) {
    (void)user;
    assert_int_equal(from->ip[0], 127);
    ++opens;
    socket_peer = socket;
    return opens_nothing ? NULL : socket;
}

static bool receive(void *user, void *peer, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)peer;
    ++received;
    message_size = size;
    memcpy(message, bytes, size < sizeof message ? size : sizeof message);
    return !receives_nothing;
}

static void note_malformed(void *user, void *peer) {
    (void)user;
    (void)peer;
    ++malformed;
}

// Messages of 1000 bytes, of which the first is their number.
static size_t next(void *user, void *peer, uint8_t **bytes) {
    static uint8_t text[CAIRN_HTTP_ROOM + 1000];
    (void)user;
    (void)peer;
    *bytes = text + CAIRN_HTTP_ROOM;
    if (sent == to_send) {
        return 0;
    }
    text[CAIRN_HTTP_ROOM] = (uint8_t)sent++;
    return 1000;
}

static void closed(void *user, void *peer) {
    (void)user;
    assert_non_null(peer);
    ++closes;
}

BEFORE_EACH {
    const cairn_http_config config = {.host = {.get = get,
                                          .begin_post = begin_post,
                                          .post = post,
                                          .gone = note_gone,
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
    released = received = malformed = gone = opens = closes = 0;
    refusal = to_send = sent = 0;
    answers_later = opens_nothing = receives_nothing = false;
    no_descriptor = 0;
    unsent = -1;
    later = NULL;
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

static void expect_head(const char *part) {
    if (strstr(kit_answered.head, part) == NULL) {
        fail_msg("not \"%s\": %s", part, kit_answered.head);
    }
}

static void expect_statistics(uint64_t requests, uint64_t refused) {
    const cairn_http_statistics statistics = cairn_http_statistics_read(http);
    assert_int_equal(statistics.requests, requests);
    assert_int_equal(statistics.requests_refused, refused);
}

TEST("an answer has the head that protects a page, and what its host says") {
    static const char *const always[] = {"content-security-policy: default-src 'none'; ",
        "x-content-type-options: nosniff\r\n", "referrer-policy: no-referrer\r\n",
        "cross-origin-opener-policy: same-origin\r\n",
        "cross-origin-embedder-policy: require-corp\r\n",
        "cross-origin-resource-policy: same-origin\r\n"};
    const int fd = kit_dial(&address, 0);
    assert_int_equal(kit_ask(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    for (size_t i = 0; i < sizeof always / sizeof *always; ++i) {
        expect_head(always[i]);
    }
    expect_head("cache-control: no-store\r\n");
    assert_null(strstr(kit_answered.head, "etag"));
    assert_null(strstr(kit_answered.head, "www-authenticate"));
    assert_null(strstr(kit_answered.head, "connection: close"));
    assert_string_equal(kit_answered.body, "here");
    assert_int_equal(kit_ask(fd, "GET /kept HTTP/1.1\r\nHost: a\r\n\r\n"), 304);
    expect_head("cache-control: max-age=3\r\n");
    expect_head("etag: \"e\"\r\n");
    assert_int_equal(released, 1);
    assert_int_equal(kit_ask(fd, "GET /secret HTTP/1.1\r\nHost: a\r\n\r\n"), 401);
    expect_head("www-authenticate: Bearer\r\n");
    assert_string_equal(kit_answered.body, "who?");
    kit_say(fd, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", 28);
    assert_int_equal(kit_hear_head(fd), 200); // what follows is the next answer, not a body
    expect_head("content-length: 4\r\n");
    assert_int_equal(kit_ask(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    assert_int_equal(kit_ask(fd, "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n"), 405);
    expect_statistics(6, 2);
    close(fd);
}

TEST("a header is there with one letter or more, and read as far as it fits") {
    static const char *const names[] = {
        "Accept", "Authorization", "Content-Type", "Host", "If-None-Match", "Origin"};
    static const struct {
        const char *value;
        bool there, fits;
    } rows[] = {
        {"*", true, true}, {"fifteen-letters", true, true}, {"sixteen--letters", true, false}};
    for (uint32_t i = 0; i < 6; ++i) {
        for (uint32_t k = 0; k < 3; ++k) {
            char text[256];
            snprintf(text, sizeof text, "GET / HTTP/1.1\r\n%s%s: %s\r\n\r\n",
                i == CAIRN_HTTP_HOST ? "" : "Host: a\r\n", names[i], rows[k].value);
            assert_int_equal(kit_ask_once(&address, text), 200);
            for (uint32_t m = 0; m < 6; ++m) {
                const bool given = m == i;
                assert_int_equal(has_header[m], given ? rows[k].there : m == CAIRN_HTTP_HOST);
                assert_int_equal(read_header[m], given ? rows[k].fits : m == CAIRN_HTTP_HOST);
            }
            if (i == CAIRN_HTTP_ACCEPT) {
                assert_string_equal(header_value, rows[k].fits ? rows[k].value : "");
            }
        }
    }
}

// Returns the status; `length`: NULL: none is given.
static int say_post(int fd, const char *length, size_t size) {
    static char text[CAIRN_HTTP_BODY_MAX + 512];
    int head = snprintf(text, 512, "POST /deed HTTP/1.1\r\nHost: a\r\n%s%s%s\r\n",
        length == NULL ? "" : "Content-Length: ", length == NULL ? "" : length,
        length == NULL ? "" : "\r\n");
    for (size_t i = 0; i < size; ++i) {
        text[head + (int)i] = (char)('a' + i % 23);
    }
    kit_say(fd, text, (size_t)head);
    for (size_t at = 0; at < size;) { // as the system takes it
        const size_t more = size - at < 8192 ? size - at : 8192;
        kit_say(fd, text + head + at, more);
        turn();
        at += more;
    }
    if (kit_hear_head(fd) != 0) {
        assert_int_equal(kit_hear(fd, kit_answered.body, kit_answered.size), kit_answered.size);
        kit_answered.body[kit_answered.size] = '\0';
    }
    return kit_answered.status;
}

static bool is_closed(int fd) {
    char byte;
    return kit_hear(fd, &byte, 1) == 0;
}

TEST("a body is read that has a length and is not too long, and its host gets it whole") {
    static const struct {
        size_t size;
        uint32_t refused;
        int status;
    } rows[] = {{1, 0, 202}, {30000, 0, 202}, {CAIRN_HTTP_BODY_MAX, 0, 202}, {1, 403, 403},
        {CAIRN_HTTP_BODY_MAX, 403, 403}};
    const int fd = kit_dial(&address, 0);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char length[16];
        refusal = rows[i].refused;
        posted_size = 0;
        snprintf(length, sizeof length, "%zu", rows[i].size);
        assert_int_equal(say_post(fd, length, rows[i].size), rows[i].status); // and goes on
        assert_null(strstr(kit_answered.head, "connection: close"));
        assert_string_equal(kit_answered.body, rows[i].refused == 0 ? "taken" : "no");
        assert_int_equal(posted_size, rows[i].refused == 0 ? rows[i].size : 0);
    }
    assert_string_equal(posted, "/deed");
    assert_int_equal(mark, 7);
    close(fd);
    expect_statistics(5, 2);
}

TEST("a body without a length or of too many bytes is refused at once, and its connection ends") {
    static const struct {
        const char *length;
        uint32_t refused;
        int status;
        bool ends;
    } rows[] = {{NULL, 0, 411, true}, {"65537", 0, 413, true}, {"0", 0, 411, false},
        {NULL, 403, 403, true}, {"65537", 403, 403, true}, {"0", 403, 403, false}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const int fd = kit_dial(&address, 0);
        refusal = rows[i].refused;
        assert_int_equal(say_post(fd, rows[i].length, 0), rows[i].status);
        assert_int_equal(strstr(kit_answered.head, "connection: close") != NULL, rows[i].ends);
        if (rows[i].ends) {
            assert_true(is_closed(fd));
        } else {
            assert_int_equal(kit_ask(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
        }
        close(fd);
    }
}

static void wait_for_exchange(void) {
    const uint64_t end_ns = cairn_uv_now_ns() + KIT_PATIENCE_NS;
    while (later == NULL) {
        assert_true(cairn_uv_now_ns() < end_ns);
        turn();
    }
}

TEST("an answer may come later, and one whose connection ends before is told of once") {
    const int fd = kit_dial(&address, 0);
    for (uint32_t i = 0; i < 2; ++i) {
        static const char get_text[] = "GET /later HTTP/1.1\r\nHost: a\r\n\r\n";
        static const char post_text[] =
            "POST /deed HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab";
        const char *text = i == 0 ? get_text : post_text;
        answers_later = true;
        later = NULL;
        kit_say(fd, text, strlen(text));
        wait_for_exchange();
        cairn_http_answer answer = cairn_http_words(200, "at last");
        answer.release = release;
        cairn_http_answer_later(later, answer);
        assert_int_equal(kit_hear_head(fd), 200);
        assert_int_equal(kit_hear(fd, kit_answered.body, 7), 7);
        assert_memory_equal(kit_answered.body, "at last", 7);
        assert_int_equal(released, i + 1);
        assert_int_equal(gone, 0);
    }
    later = NULL;
    kit_say(fd, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n", 33);
    wait_for_exchange();
    cairn_http_close(http);
    http = NULL;
    assert_int_equal(gone, 1);
    close(fd);
}

TEST("an answer without a body may come later, too") {
    static const char *const requests[] = {
        "HEAD /later HTTP/1.1\r\nHost: a\r\n\r\n", "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"};
    const int fd = kit_dial(&address, 0);
    for (uint32_t i = 0; i < 2; ++i) {
        later = NULL;
        kit_say(fd, requests[i], strlen(requests[i]));
        wait_for_exchange();
        cairn_http_answer_later(
            later, i == 0 ? cairn_http_words(200, "at last") : (cairn_http_answer){.status = 404});
        assert_int_equal(kit_hear_head(fd), i == 0 ? 200 : 404);
        assert_int_equal(kit_ask(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    }
    static const char last[] = "GET /later HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    later = NULL;
    kit_say(fd, last, strlen(last));
    wait_for_exchange();
    cairn_http_answer_later(later, (cairn_http_answer){.status = 404});
    assert_int_equal(kit_hear_head(fd), 404);
    const uint64_t end_ns = cairn_uv_now_ns() + 2 * CAIRN_NS_PER_S;
    assert_true(is_closed(fd));
    assert_true(cairn_uv_now_ns() < end_ns); // not by a time-out
    close(fd);
}

TEST("a network that asks too fast is refused whatever it asks") {
    const int fd = kit_dial(&address, 0);
    uint32_t taken = 0;
    while (kit_ask(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") == 200) {
        assert_true(++taken < 4000);
    }
    assert_int_equal(kit_answered.status, 429);
    assert_in_range(taken, 400, 3999);
    for (uint32_t i = 0; i < 300; ++i) { // what time gives back is used up
        (void)kit_ask(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    close(fd);
}

#define UPGRADE(PATH, TO, MORE)                                                                    \
    "GET " PATH " HTTP/1.1\r\nHost: a\r\nUpgrade: " TO "\r\nConnection: Upgrade\r\n"               \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" MORE "\r\n"

TEST("a WebSocket is refused for its kind, path, host or number, and each refusal is counted") {
    static const char good[] = UPGRADE("/ws", "websocket", "Sec-WebSocket-Protocol: cairn\r\n");
    assert_int_equal(
        kit_ask_once(&address, UPGRADE("/wsx", "websocket", "Sec-WebSocket-Protocol: cairn\r\n")),
        404);
    assert_int_equal(
        kit_ask_once(&address, UPGRADE("/", "websocket", "Sec-WebSocket-Protocol: cairn\r\n")),
        404);
    refusal = 403;
    assert_int_equal(kit_ask_once(&address, good), 403);
    refusal = 0;
    assert_int_equal(cairn_http_statistics_read(http).sockets_refused, 3);
    assert_int_not_equal(kit_ask_once(&address, UPGRADE("/ws", "websocket", "")), 101);
    assert_int_equal(cairn_http_statistics_read(http).sockets_refused, 4);
    assert_int_equal(opens, 0);
    const int sockets[] = {kit_open_socket(&address), kit_open_socket(&address)};
    assert_int_equal(kit_ask_once(&address, good), 503); // two are the most
    const cairn_http_statistics statistics = cairn_http_statistics_read(http);
    assert_int_equal(statistics.sockets_refused, 5);
    assert_int_equal(statistics.sockets_opened, 2);
    assert_int_equal(statistics.sockets, 2);
    assert_int_equal(opens, 2);
    close(sockets[0]);
    wait_for(&closes, 1);
    const int again = kit_open_socket(&address);
    assert_int_equal(cairn_http_statistics_read(http).sockets, 2);
    close(again);
    close(sockets[1]);
    wait_for(&closes, 3);
    assert_int_equal(cairn_http_statistics_read(http).sockets, 0);
}

static void expect_end(int fd, uint16_t why) {
    const uint8_t wanted[] = {0x88, 2, (uint8_t)(why >> 8), (uint8_t)why};
    uint8_t end[4];
    assert_int_equal(kit_hear(fd, end, sizeof end), sizeof end);
    assert_memory_equal(end, wanted, sizeof end);
    close(fd);
}

TEST("a WebSocket that breaks a rule, or has no place, is closed with the reason") {
    opens_nothing = true;
    expect_end(kit_open_socket(&address), 1011);
    opens_nothing = false;
    int fd = kit_open_socket(&address);
    receives_nothing = true;
    kit_say_piece(fd, true, true, (const uint8_t *)"a", 1);
    expect_end(fd, 1008);
    assert_int_equal(received, 1);
    wait_for(&closes, 1);
    fd = kit_open_socket(&address);
    const uint8_t text[] = {0x81, 0x81, 0, 0, 0, 0, 'a'};
    kit_say(fd, text, sizeof text);
    expect_end(fd, 1003);
    assert_int_equal(malformed, 1);
    wait_for(&closes, 2);
    assert_int_equal(received, 1);
}

static void hear_messages(int fd, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; ++i) {
        static uint8_t heard[1004];
        assert_int_equal(kit_hear(fd, heard, sizeof heard), sizeof heard);
        const uint8_t head[] = {0x82, 126, 1000 >> 8, 1000 & 255, (uint8_t)i};
        assert_memory_equal(heard, head, sizeof head);
    }
}

TEST("messages leave at once while their path takes them, and else as it takes them, in order") {
    const int fd = kit_open_socket(&address);
    wait_for(&opens, 1);
    to_send = 3;
    cairn_http_socket_wake(socket_peer);
    assert_int_equal(sent, 3); // at once
    hear_messages(fd, 0, 3);
    to_send = 200;
    for (uint32_t i = 0; i < 30; ++i) {
        cairn_http_socket_wake(socket_peer);
        turn();
    }
    assert_in_range(sent, 16, 199); // its reader has taken nothing
    hear_messages(fd, 3, 200);
    assert_int_equal(sent, 200);
    to_send = 201;
    for (uint32_t i = 0; i < 20; ++i) {
        turn();
    }
    assert_int_equal(sent, 200); // nobody has said that there is more
    cairn_http_socket_wake(socket_peer);
    hear_messages(fd, 200, 201);
    close(fd);
}

TEST("a path that has not taken what was sent gets no message at once, once enough was sent") {
    static const int says[] = {0, 1, 0, -2, 0};
    const int fd = kit_open_socket(&address);
    wait_for(&opens, 1);
    for (uint32_t i = 0; i < 5; ++i) {
        const uint32_t before = sent;
        unsent = says[i];
        to_send += 9; // more than after which the system is asked again
        cairn_http_socket_wake(socket_peer);
        assert_int_equal(sent - before, says[i] == 0 ? 9 : 0);
        hear_messages(fd, before, to_send);
        assert_int_equal(sent, to_send);
    }
    close(fd);
}

TEST("a connection that finds no descriptor is closed and counted, and the next one is taken") {
    no_descriptor = 1;
    assert_int_equal(kit_ask_once(&address, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
    assert_int_equal(cairn_http_statistics_read(http).connections_refused, 1);
    no_descriptor = 2; // nor does the one that was spared help
    assert_int_equal(kit_ask_once(&address, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    assert_int_equal(cairn_http_statistics_read(http).connections_refused, 1);
}

TEST("one network has so many connections at once, and one more is closed and counted") {
    int fds[17];
    for (uint32_t i = 0; i < 17; ++i) {
        fds[i] = kit_dial(&address, 0);
        turn();
    }
    assert_true(is_closed(fds[16]));
    assert_int_equal(cairn_http_statistics_read(http).connections_refused, 1);
    assert_int_equal(kit_ask(fds[15], "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    for (uint32_t i = 0; i < 17; ++i) {
        close(fds[i]);
    }
}

TEST("an address that another server has is refused with the reason") {
    const cairn_http_config config = {.sockets_max = 1, .sockets_per_network_max = 1};
    char error[CAIRN_HTTP_ERROR_SIZE];
    cairn_http_close(http);
    kit_loop_close();
    assert_true(cairn_http_create(kit_loop_open(), &config, &http, error));
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_storage at;
    cairn_address other;
    assert_true(cairn_address_parse("127.0.0.1:0", &other));
    socklen_t size = cairn_address_to_sockaddr(&other, &at);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(fd, 1), 0);
    size = sizeof at;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    other = cairn_address_of_sockaddr((const struct sockaddr *)&at);
    assert_false(cairn_http_listen(http, &other, error));
    assert_string_equal(error, "cannot listen: Address already in use");
    close(fd);
}

TEST("a page may come from its own host, by either scheme, and from origins that are named") {
    static char endless[400];
    memset(endless, 'a', sizeof endless - 1);
    static const struct {
        const char *origin;
        uint32_t from; // so many named origins allow it; 9: none does
    } rows[] = {{NULL, 0}, {"http://here:8", 0}, {"https://here:8", 0}, {"ftp://here:8", 9},
        {"https://here", 9}, {"here:8", 9}, {"https://one.example", 1},
        {"https://two.example:8000", 2}, {"https://two.example", 9}, {"http://one.example", 9},
        {"null", 9}, {endless, 9}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char text[512];
        snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: here:8\r\n%s%s%s\r\n",
            rows[i].origin == NULL ? "" : "Origin: ", rows[i].origin == NULL ? "" : rows[i].origin,
            rows[i].origin == NULL ? "" : "\r\n");
        assert_int_equal(kit_ask_once(&address, text), 200);
        for (uint32_t k = 0; k < 3; ++k) {
            assert_int_equal(allowed[k], k >= rows[i].from);
        }
    }
}
