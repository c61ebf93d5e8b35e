// SPDX-License-Identifier: MIT
// What a game server of a fleet asks of the SDK server and when, with answers and a clock of this
// file: no request leaves it.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/limits.h"
#include "server/agones/agones.h"
#include "server/agones/http_client.h"
#include <cairn/server.h>

#define CLIENTS_MAX 8
#define ROOMS 3
#define TURN_MS 10

typedef enum asked_kind { HEALTH, WATCH, OTHER, KINDS } asked_kind;

static struct {
    char url[128], method[8], body[64];
    cairn_http_ask ask; // without its texts
    bool open;          // not answered
    uint32_t count;
} asked[KINDS];
static char events[4096];  // each with a space
static char requests[512]; // that are no longer open: method, path and body, each with a newline
static uint64_t now_ms;
static uv_timer_t *timer;
static uv_timer_cb beat;
static uv_loop_t loop;
static cairn_agones *agones;
static cairn_server_client_info clients[CLIENTS_MAX];
static bool load_fails, open_fails, ask_fails;
// The answers to requests that block.
static struct {
    uint32_t status;
    const char *text;
    uint32_t from; // that many fail before
} blocking;

// They replace those of other files (CMakeLists.txt).
cairn_status __wrap_cairn_http_client_load(void);
cairn_status __wrap_cairn_http_client_open(uv_loop_t *with, cairn_http_client **out);
void __wrap_cairn_http_client_close(cairn_http_client *client);
bool __wrap_cairn_http_client_ask(cairn_http_client *client, const cairn_http_ask *ask);
void __wrap_cairn_http_ask_now(const cairn_http_ask *ask);
bool __wrap_cairn_server_client_read(
    const cairn_server *server, uint32_t client, cairn_server_client_info *out);
uint32_t __wrap_cairn_server_room_next(const cairn_server *server, uint32_t room);
uint64_t __wrap_uv_now(const uv_loop_t *with);
uint64_t __wrap_uv_hrtime(void);
void __wrap_uv_sleep(unsigned ms);
int __wrap_uv_timer_start(uv_timer_t *handle, uv_timer_cb call, uint64_t after, uint64_t repeat);

cairn_status __wrap_cairn_http_client_load(void) {
    return load_fails ? CAIRN_NOT_FOUND : CAIRN_OK;
}

cairn_status __wrap_cairn_http_client_open(uv_loop_t *with, cairn_http_client **out) {
    static char client;
    assert_ptr_equal(with, &loop);
    *out = open_fails ? NULL : (cairn_http_client *)(void *)&client;
    return open_fails ? CAIRN_OUT_OF_MEMORY : CAIRN_OK;
}

void __wrap_cairn_http_client_close(cairn_http_client *client) {
    assert_non_null(client);
}

bool __wrap_cairn_http_client_ask(cairn_http_client *client, const cairn_http_ask *ask) {
    static const char host[] = "http://127.0.0.1:9358";
    assert_non_null(client);
    assert_memory_equal(ask->url, host, sizeof host - 1);
    const char *path = ask->url + sizeof host - 1;
    const asked_kind kind = strcmp(path, "/health") == 0             ? HEALTH
                            : strcmp(path, "/watch/gameserver") == 0 ? WATCH
                                                                     : OTHER;
    assert_false(asked[kind].open);
    asked[kind].count += 1;
    if (ask_fails) {
        return false;
    }
    snprintf(asked[kind].url, sizeof asked[kind].url, "%s", path);
    snprintf(asked[kind].method, sizeof asked[kind].method, "%s", ask->method);
    snprintf(asked[kind].body, sizeof asked[kind].body, "%s", ask->body == NULL ? "" : ask->body);
    asked[kind].ask = *ask;
    asked[kind].open = true;
    return true;
}

void __wrap_cairn_http_ask_now(const cairn_http_ask *ask) {
    if (blocking.from > 0) {
        blocking.from -= 1;
        ask->done(ask->user, 0, "connection refused");
        return;
    }
    ask->done(ask->user, blocking.status, blocking.text);
}

bool __wrap_cairn_server_client_read(
    const cairn_server *server, uint32_t client, cairn_server_client_info *out) {
    (void)server;
    assert_true(client < CLIENTS_MAX);
    *out = clients[client];
    return out->connected;
}

uint32_t __wrap_cairn_server_room_next(const cairn_server *server, uint32_t room) {
    (void)server;
    return room < ROOMS ? room + 1 : 0;
}

uint64_t __wrap_uv_now(const uv_loop_t *with) {
    (void)with;
    return now_ms;
}

uint64_t __wrap_uv_hrtime(void) {
    return now_ms * 1000000;
}

void __wrap_uv_sleep(unsigned ms) {
    now_ms += ms;
}

int __wrap_uv_timer_start(uv_timer_t *handle, uv_timer_cb call, uint64_t after, uint64_t repeat) {
    assert_int_equal(after, 0);
    assert_int_equal(repeat, 250);
    timer = handle;
    beat = call;
    return 0;
}

static void say(void *user, bool warns, const char *event, const char *detail) {
    (void)user;
    const size_t size = strlen(events);
    assert_int_equal(
        warns, strcmp(event, "agones_lost") == 0 || strcmp(event, "agones_refused") == 0);
    assert_true(detail[0] != '\0');
    snprintf(events + size, sizeof events - size, "%s ", event);
}

static void expect_events(const char *wanted) {
    assert_string_equal(events, wanted);
    events[0] = '\0';
}

static const cairn_agones_config config = {
    .loop = &loop, .port = 9358, .clients_max = CLIENTS_MAX, .rooms_max = 16, .say = say};

static void open_agones(void) {
    assert_int_equal(cairn_agones_open(&config, &agones), CAIRN_OK);
}

static void turn(uint32_t ms) {
    now_ms += ms;
    beat(timer);
}

static void answer(asked_kind kind, uint32_t status, const char *text) {
    assert_true(asked[kind].open);
    asked[kind].open = false;
    asked[kind].ask.done(asked[kind].ask.user, status, text);
}

static void see(const char *line) {
    assert_true(asked[WATCH].open);
    asked[WATCH].ask.line(asked[WATCH].ask.user, line, strlen(line));
}

// Answers all waiting requests and notes them, except health checks and watches.
static void answer_all(uint32_t status, const char *text) {
    for (turn(TURN_MS); asked[OTHER].open; turn(TURN_MS)) {
        const size_t size = strlen(requests);
        snprintf(requests + size, sizeof requests - size, "%s %s %s\n", asked[OTHER].method,
            asked[OTHER].url, asked[OTHER].body);
        answer(OTHER, status, text);
    }
}

BEFORE_EACH {
    memset(asked, 0, sizeof asked);
    memset(clients, 0, sizeof clients);
    events[0] = requests[0] = '\0';
    load_fails = open_fails = ask_fails = false;
    blocking.status = 200;
    blocking.text = "{}";
    blocking.from = 0;
    now_ms = 1000;
    agones = NULL;
    assert_int_equal(uv_loop_init(&loop), 0);
}

AFTER_EACH {
    cairn_agones_close(agones);
    assert_int_equal(uv_loop_close(&loop), 0);
}

// How long after a failure the watch is asked for again, and that its failure came at once.
static uint32_t wait_of_watch(void) {
    const uint32_t before = asked[WATCH].count;
    uint32_t ms = 0;
    while (asked[WATCH].count == before && ms < 60000) {
        ms += TURN_MS;
        turn(TURN_MS);
    }
    return ms;
}

TEST("what fails is asked for again, after .1 to 10 s, and told once until it is back") {
    static const uint32_t waits_ms[] = {100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000};
    open_agones();
    turn(0);
    for (uint32_t round = 0; round < 2; ++round) {
        answer(WATCH, round == 0 ? 0 : 500, "connection refused");
        for (uint32_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; ++i) {
            assert_int_equal(wait_of_watch(), waits_ms[i]);
            answer(WATCH, 0, "connection refused");
        }
        expect_events("agones_lost ");
        (void)wait_of_watch();
        see("{\"result\": {\"status\": {\"state\": \"Ready\"}}}");
        expect_events(round == 0 ? "agones_back agones_state " : "agones_back ");
    }
    assert_int_equal(wait_of_watch(), 60000); // it goes on
}

TEST("what finds no memory is asked for again as what fails") {
    open_agones();
    ask_fails = true;
    turn(0);
    assert_int_equal(asked[HEALTH].count + asked[WATCH].count + asked[OTHER].count, 3);
    expect_events("agones_lost agones_lost agones_lost ");
    ask_fails = false;
    turn(90);
    assert_false(asked[WATCH].open || asked[OTHER].open);
    turn(10);
    assert_true(asked[WATCH].open && asked[OTHER].open);
}

TEST("it says that it is healthy every eighth beat, once at a time") {
    open_agones();
    for (uint32_t i = 0; i < 33; ++i) {
        turn(250);
        assert_int_equal(asked[HEALTH].count, i < 24 ? i / 8 + 1 : 4);
        if (i < 24 && asked[HEALTH].open) {
            assert_string_equal(asked[HEALTH].method, "POST");
            answer(HEALTH, 200, "{}");
        }
    }
    expect_events("");
    answer(HEALTH, 500, "no");
    expect_events("agones_lost ");
}

TEST("a fleet hears of each room and each player once, but not of spectators and guests") {
    static const struct {
        uint64_t id;
        bool welcomed;
        uint32_t slot;
    } rows[CLIENTS_MAX] = {{9, true, 0}, {3, true, 1}, {9, true, 2}, {4, true, CAIRN_SLOT_NONE},
        {5, false, CAIRN_SLOT_NONE}, {3, true, 4}, {7, true, 5}, {3, true, 6}};
    for (uint32_t i = 0; i < CLIENTS_MAX; ++i) {
        clients[i] = (cairn_server_client_info){.connected = true,
            .welcomed = rows[i].welcomed,
            .client_id = rows[i].id,
            .slot = rows[i].slot};
    }
    open_agones();
    answer_all(200, "{}");
    assert_string_equal(requests, "POST /ready {}\n"
                                  "POST /allocate {}\n"
                                  "PATCH /v1beta1/counters/rooms {\"capacity\":\"16\"}\n"
                                  "PATCH /v1beta1/counters/rooms {\"count\":\"3\"}\n"
                                  "POST /v1beta1/lists/players:addValue {\"value\":\"3\"}\n"
                                  "POST /v1beta1/lists/players:addValue {\"value\":\"7\"}\n"
                                  "POST /v1beta1/lists/players:addValue {\"value\":\"9\"}\n");
    expect_events("");
    clients[1].connected = clients[5].connected = false; // one of the three is left
    answer_all(200, "{}");
    clients[7].connected = false;
    requests[0] = '\0';
    answer_all(200, "{}");
    assert_string_equal(requests, "POST /v1beta1/lists/players:removeValue {\"value\":\"3\"}\n");
}

TEST("a counter that is not declared is told once, and a refusal as such") {
    open_agones();
    turn(0);
    answer(OTHER, 200, "{}"); // ready
    turn(TURN_MS);
    answer(OTHER, 404, "{}");
    expect_events("agones_missing ");
    answer_all(200, "{}");
    assert_string_equal(requests, "");
    clients[0] = (cairn_server_client_info){.connected = true, .welcomed = true, .client_id = 1};
    turn(TURN_MS);
    assert_string_equal(asked[OTHER].url, "/allocate");
    answer(OTHER, 200, "{}");
    turn(TURN_MS);
    answer(OTHER, 400, "{\"message\":\"full\"}");
    expect_events("agones_refused ");
}

TEST("what Agones makes of a server is told when it changes") {
    open_agones();
    turn(0);
    assert_string_equal(asked[WATCH].method, "GET");
    see("{\"result\": {\"status\": {\"state\": \"Ready\"}}}");
    see("{\"result\": {\"status\": {\"state\": \"Ready\"}}}");
    see("{\"result\": {\"status\": {}}}");
    see("{\"error\": {\"message\": \"gone\"}}");
    see("no JSON");
    expect_events("agones_state ");
    see("{\"result\": {\"status\": {\"state\": \"Allocated\"}}}");
    expect_events("agones_state ");
}

TEST("the end of a game server is asked for, and what comes of it is told") {
    open_agones();
    cairn_agones_close(agones);
    expect_events("agones_ended ");
    open_agones();
    blocking.status = 0;
    cairn_agones_close(agones);
    expect_events("agones_lost ");
    agones = NULL;
}

TEST("joining a fleet fails without libcurl, and without memory") {
    load_fails = true;
    assert_int_equal(cairn_agones_open(&config, &agones), CAIRN_NOT_FOUND);
    assert_null(agones);
    load_fails = false;
    open_fails = true;
    assert_int_equal(cairn_agones_open(&config, &agones), CAIRN_OUT_OF_MEMORY);
    assert_null(agones);
}

TEST("the address of clients is what the SDK server says within a minute") {
#define STATUS(address, ports)                                                                     \
    "{\"status\": {\"address\": \"" address "\", \"ports\": [" ports "]}}"
#define PORT(number) "{\"name\": \"default\", \"port\": " #number "}"
    static const struct {
        uint32_t status, fails;
        const char *text, *address; // NULL: none is found
    } rows[] = {
        {200, 0, STATUS("192.0.2.1", PORT(7000)), "192.0.2.1:7000"},
        {200, 40, STATUS("192.0.2.1", PORT(7000) "," PORT(1)), "192.0.2.1:7000"},
        {200, 0, STATUS("2001:db8::1", PORT(7000)), "[2001:db8::1]:7000"},
        {200, 240, STATUS("192.0.2.1", PORT(7000)), NULL},
        {500, 0, STATUS("192.0.2.1", PORT(7000)), NULL},
        {200, 0, STATUS("192.0.2.1", PORT(0)), NULL},
        {200, 0, STATUS("192.0.2.1", PORT(-7)), NULL},
        {200, 0, STATUS("192.0.2.1", ""), NULL},
        {200, 0, STATUS("node-4", PORT(7000)), NULL},
        {200, 0, "{}", NULL},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_address found, wanted;
        char why[CAIRN_AGONES_WHY_SIZE] = "";
        const uint64_t begin_ms = now_ms;
        blocking.status = rows[i].status;
        blocking.text = rows[i].text;
        blocking.from = rows[i].fails;
        assert_int_equal(cairn_agones_find_address(9358, &found, why), rows[i].address != NULL);
        if (rows[i].address != NULL) {
            assert_true(cairn_address_parse(rows[i].address, &wanted));
            assert_memory_equal(&found, &wanted, sizeof found);
            assert_int_equal(now_ms - begin_ms, 250 * rows[i].fails);
        } else {
            assert_true(why[0] != '\0');
            assert_int_equal(now_ms - begin_ms, 60000);
        }
    }
    char why[CAIRN_AGONES_WHY_SIZE];
    cairn_address found;
    load_fails = true;
    assert_false(cairn_agones_find_address(9358, &found, why));
    assert_string_equal(why, "libcurl.so.4 is not installed");
}
