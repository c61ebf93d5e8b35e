// SPDX-License-Identifier: MIT
// What a client of HTTP asks, and what it makes of an answer, with a server of another process that
// answers as it is told.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <uv.h>

#include "server/agones/http_client.h"

#define ANSWERS_MAX 8
#define PARTS_MAX 4
#define CLOSE "Connection: close\r\n\r\n"
#define REQUEST_SIZE 4096
// Of what is to come; a test that fails waits so long.
#define PATIENCE_MS 10000

typedef struct answer {
    const char *parts[PARTS_MAX]; // each leaves alone; the connection is closed behind the last
    size_t filler;                // so many bytes behind the parts
    bool silent;                  // the connection stays open
} answer;

static uv_loop_t loop;
static cairn_http_client *client;
static pid_t child;
static uint16_t port;
static int requests; // of the server: its end of a pipe
static char url[64];

// What was done with the last answers, in order.
static struct {
    uint32_t status;
    size_t size;
    char text[256]; // its begin
} done[ANSWERS_MAX];
static uint32_t done_count;
static char lines[1024]; // each with a bar
static uint32_t line_count;

static void wait_ms(uint32_t ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

static void write_all(int fd, const char *bytes, size_t size) {
    while (size > 0) {
        const ssize_t wrote = send(fd, bytes, size, MSG_NOSIGNAL);
        if (wrote <= 0) {
            return;
        }
        bytes += wrote;
        size -= (size_t)wrote;
    }
}

// Up to the end of the head, and the body that it announces.
static void read_request(int fd, char request[REQUEST_SIZE]) {
    size_t size = 0;
    memset(request, 0, REQUEST_SIZE);
    for (;;) {
        const char *end = strstr(request, "\r\n\r\n");
        const char *length = strstr(request, "Content-Length: ");
        if (end != NULL &&
            strlen(end + 4) >= (length == NULL ? 0 : (size_t)atoi(strchr(length, ' ')))) {
            return;
        }
        const ssize_t more = read(fd, request + size, REQUEST_SIZE - 1 - size);
        if (more <= 0) {
            return;
        }
        size += (size_t)more;
    }
}

static void serve_in_child(int listener, int told, const answer *answers, uint32_t count) {
    alarm(60);
    for (uint32_t i = 0; i < count; ++i) {
        char request[REQUEST_SIZE];
        const int fd = accept(listener, NULL, NULL);
        read_request(fd, request);
        if (write(told, request, sizeof request) != sizeof request) {
            _exit(1);
        }
        for (uint32_t k = 0; k < PARTS_MAX && answers[i].parts[k] != NULL; ++k) {
            write_all(fd, answers[i].parts[k], strlen(answers[i].parts[k]));
            wait_ms(20);
        }
        for (size_t left = answers[i].filler; left > 0; --left) {
            write_all(fd, "x", 1);
        }
        if (!answers[i].silent) {
            close(fd);
        }
    }
    pause();
    _exit(0);
}

// Connections are answered in order, one after the other.
static void serve(const answer *answers, uint32_t count) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int told[2];
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 8), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    port = ntohs(address.sin_port);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/path?q=1", port);
    assert_int_equal(pipe(told), 0);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        serve_in_child(listener, told[1], answers, count);
    }
    close(listener);
    close(told[1]);
    requests = told[0];
}

static const char *next_request(void) {
    static char request[REQUEST_SIZE];
    size_t size = 0;
    while (size < sizeof request) {
        const ssize_t more = read(requests, request + size, sizeof request - size);
        assert_true(more > 0);
        size += (size_t)more;
    }
    return request;
}

BEFORE_EACH {
    if (cairn_http_client_load() != CAIRN_OK) {
        skip(); // the package of libcurl is optional
    }
    child = 0;
    done_count = line_count = 0;
    lines[0] = '\0';
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(cairn_http_client_open(&loop, &client), CAIRN_OK);
}

AFTER_EACH {
    cairn_http_client_close(client);
    assert_int_equal(uv_loop_close(&loop), 0);
    if (child > 0) {
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        close(requests);
    }
}

static void on_done(void *user, uint32_t status, const char *text) {
    assert_ptr_equal(user, &done);
    assert_true(done_count < ANSWERS_MAX);
    done[done_count].status = status;
    done[done_count].size = strlen(text);
    snprintf(done[done_count].text, sizeof done->text, "%s", text);
    done_count += 1;
}

static void on_line(void *user, const char *text, size_t size) {
    assert_ptr_equal(user, &done);
    const size_t at = strlen(lines);
    line_count += 1;
    if (at + size + 2 < sizeof lines) {
        snprintf(lines + at, sizeof lines - at, "%.*s|", (int)size, text);
    }
}

static cairn_http_ask ask_of(const char *method, const char *body) {
    return (cairn_http_ask){.url = url,
        .method = method,
        .body = body,
        .timeout_ms = 5000,
        .done = on_done,
        .user = &done};
}

static void run_until(uint32_t count) {
    const uint64_t end_ns = uv_hrtime() + PATIENCE_MS * UINT64_C(1000000);
    while (done_count < count) {
        assert_true(uv_hrtime() < end_ns);
        uv_run(&loop, UV_RUN_NOWAIT);
        wait_ms(1);
    }
}

static void ask(const cairn_http_ask *asked) {
    const uint32_t before = done_count;
    assert_true(cairn_http_client_ask(client, asked));
    run_until(before + 1);
}

static void expect(const char *text, const char *part) {
    if (strstr(text, part) == NULL) {
        fail_msg("not \"%s\": %s", part, text);
    }
}

TEST("a request says what it is, and neither waits for leave nor goes by another machine") {
    static const answer answers[] = {
        {.parts = {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" CLOSE "text"}},
        {.parts = {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n" CLOSE}},
        {.parts = {"HTTP/1.1 500 Oh\r\n\r\nwhy\nso"}}};
    serve(answers, 3);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    cairn_http_ask asked = ask_of("GET", NULL);
    ask(&asked);
    const char *request = next_request();
    expect(request, "GET /path?q=1 HTTP/1.1\r\n");
    assert_null(strstr(request, "Content-Type"));
    assert_null(strstr(request, "Content-Length"));
    char body[2048];
    memset(body, ' ', sizeof body); // libcurl asks for leave from a kilobyte on
    body[0] = '{';
    body[sizeof body - 2] = '}';
    body[sizeof body - 1] = '\0';
    asked = ask_of("PATCH", body);
    ask(&asked);
    request = next_request();
    expect(request, "PATCH /path?q=1 HTTP/1.1\r\n");
    expect(request, "Content-Type: application/json\r\n");
    expect(request, "Content-Length: 2047\r\n");
    assert_null(strstr(request, "Expect"));
    assert_string_equal(strstr(request, "\r\n\r\n") + 4, body);
    asked = ask_of("POST", "{}");
    ask(&asked);
    unsetenv("http_proxy");
    static const struct {
        uint32_t status;
        const char *text;
    } wanted[] = {{200, "text"}, {404, ""}, {500, "why\nso"}};
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(done[i].status, wanted[i].status);
        assert_string_equal(done[i].text, wanted[i].text);
    }
}

TEST("lines of a success come as they are whole, and of nothing else") {
    static const answer answers[] = {
        {.parts = {"HTTP/1.1 200 OK\r\n\r\none\ntw", "o\n\nthr", "ee\nrest"}},
        {.parts = {"HTTP/1.1 299 OK\r\n\r\nfour\n"}},
        {.parts = {"HTTP/1.1 300 No\r\n\r\nfive\n", "six"}},
        {.parts = {"HTTP/1.1 500 No\r\n\r\nseven\n"}}};
    static const char *const lefts[] = {"rest", "", "five\nsix", "seven\n"};
    serve(answers, 4);
    cairn_http_ask asked = ask_of("GET", NULL);
    asked.line = on_line;
    asked.timeout_ms = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        ask(&asked);
        assert_string_equal(done[i].text, lefts[i]);
        assert_string_equal(lines, i == 0 ? "one|two||three|" : "one|two||three|four|");
    }
    assert_int_equal(done[3].status, 500);
}

TEST("a line is handed over before the answer has ended") {
    static const answer answers[] = {
        {.parts = {"HTTP/1.1 200 OK\r\n\r\none\ntwo"}, .silent = true}};
    serve(answers, 1);
    cairn_http_ask asked = ask_of("GET", NULL);
    asked.line = on_line;
    asked.timeout_ms = 0;
    assert_true(cairn_http_client_ask(client, &asked));
    for (uint32_t ms = 0; line_count == 0; ++ms) {
        assert_true(ms < PATIENCE_MS);
        uv_run(&loop, UV_RUN_NOWAIT);
        wait_ms(1);
    }
    assert_string_equal(lines, "one|");
    assert_int_equal(done_count, 0);
}

TEST("an answer, and a line of one, is at most so long") {
    static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
    static const answer answers[] = {{.parts = {head}, .filler = CAIRN_HTTP_ANSWER_MAX},
        {.parts = {head}, .filler = CAIRN_HTTP_ANSWER_MAX + 1},
        {.parts = {head, "\n"}, .filler = CAIRN_HTTP_ANSWER_MAX},
        {.parts = {head, "\n"}, .filler = CAIRN_HTTP_ANSWER_MAX + 1}};
    serve(answers, 4);
    cairn_http_ask asked = ask_of("GET", NULL);
    for (uint32_t i = 0; i < 4; ++i) {
        asked.line = i < 2 ? NULL : on_line;
        ask(&asked);
        assert_int_equal(done[i].status, i % 2 == 0 ? 200 : 0);
        assert_true(i % 2 == 1 || done[i].size == CAIRN_HTTP_ANSWER_MAX);
        assert_true(done[i].size > 0);
    }
}

TEST("what brings no whole answer has no status, and says why") {
    static const answer answers[] = {
        {.parts = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour"}}, {.parts = {NULL}},
        {.parts = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour"}, .silent = true}};
    serve(answers, 3);
    cairn_http_ask asked = ask_of("GET", NULL);
    ask(&asked);
    ask(&asked);
    const uint64_t began_ns = uv_hrtime();
    asked.timeout_ms = 150;
    ask(&asked);
    assert_in_range((uv_hrtime() - began_ns) / 1000000, 140, PATIENCE_MS);
    static const char *const nowhere[] = {
        "http://127.0.0.1:1/", "https://127.0.0.1:1/", "file:///etc/hostname"};
    for (uint32_t i = 0; i < 3; ++i) {
        asked.url = nowhere[i];
        ask(&asked);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        assert_int_equal(done[i].status, 0);
        assert_true(done[i].size > 0 && strcmp(done[i].text, "four") != 0);
    }
}

static void ask_again(void *user, uint32_t status, const char *text) {
    on_done(user, status, text);
    const cairn_http_ask asked = ask_of("GET", NULL);
    assert_true(cairn_http_client_ask(client, &asked));
}

TEST("several requests are under way at once, and an answer may ask again") {
    static const answer answers[] = {{.parts = {"HTTP/1.1 201 OK\r\n\r\n"}},
        {.parts = {"HTTP/1.1 202 OK\r\n\r\n"}}, {.parts = {"HTTP/1.1 203 OK\r\n\r\n"}},
        {.parts = {"HTTP/1.1 204 OK\r\n\r\n"}}};
    serve(answers, 4);
    cairn_http_ask asked = ask_of("GET", NULL);
    for (uint32_t i = 0; i < 3; ++i) {
        asked.done = i == 0 ? ask_again : on_done;
        assert_true(cairn_http_client_ask(client, &asked));
    }
    run_until(4);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        sum += done[i].status;
    }
    assert_int_equal(sum, 201 + 202 + 203 + 204);
}

TEST("what is under way when the client closes is not answered") {
    static const answer answers[] = {{.parts = {"HTTP/1.1 200 OK\r\n\r\none\n"}, .silent = true},
        {.parts = {"HTTP/1.1 200 OK\r\n\r\n"}, .silent = true}};
    serve(answers, 2);
    cairn_http_ask asked = ask_of("GET", NULL);
    asked.line = on_line;
    asked.timeout_ms = 0;
    assert_true(cairn_http_client_ask(client, &asked));
    assert_true(cairn_http_client_ask(client, &asked));
    for (uint32_t ms = 0; line_count == 0; ++ms) {
        assert_true(ms < PATIENCE_MS);
        uv_run(&loop, UV_RUN_NOWAIT);
        wait_ms(1);
    }
    cairn_http_client_close(client);
    client = NULL;
    assert_int_equal(done_count, 0);
    assert_int_equal(uv_loop_alive(&loop), 0);
}

TEST("a request that blocks has its answer when it returns") {
    static const answer answers[] = {
        {.parts = {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" CLOSE, "text"}},
        {.parts = {NULL}, .silent = true}};
    serve(answers, 2);
    cairn_http_ask asked = ask_of("GET", NULL);
    cairn_http_ask_now(&asked);
    assert_int_equal(done_count, 1);
    assert_int_equal(done[0].status, 200);
    assert_string_equal(done[0].text, "text");
    asked.timeout_ms = 100;
    cairn_http_ask_now(&asked);
    assert_int_equal(done_count, 2);
    assert_int_equal(done[1].status, 0);
}
