// SPDX-License-Identifier: MIT
// What the web server of a server answers, with both of its sides on one thread.
#define _DEFAULT_SOURCE
#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/threads/datagram_ring.h"
#include "server/web/answers.h"
#include "server/web/operations.h"
#include "server/web/scrape.h"
#include "server/web/site.h"
#include "tests/kit/scenes.h"
#include "tests/server/uv_kit.h"
#include "tests/server/web_kit.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>
#include <cairn/token.h>

static struct uv_loop_s *loop;
static cairn_server *server;
static cairn_uv_driver *driver;
static cairn_web_settings *settings;
static cairn_questions *questions;
static cairn_datagram_ring *received;
static cairn_web_answers *answers;
static cairn_site *site;
static cairn_address address; // of the web
static bool stands_still;     // the server's side
static bool lacks_random;     // the system has no random numbers

// Replaces that of system.c (CMakeLists.txt).
bool __real_cairn_system_random(void *out_bytes, size_t size);
bool __wrap_cairn_system_random(void *out_bytes, size_t size);
bool __wrap_cairn_system_random(void *out_bytes, size_t size) {
    return !lacks_random && __real_cairn_system_random(out_bytes, size);
}

static void turn(void) {
    kit_loop_turn();
    if (!stands_still) {
        cairn_web_answers_give(answers);
        cairn_server_advance(server, cairn_uv_now_ns());
    }
    cairn_site_take_answers(site);
}

static void wake(void *user) {
    (void)user; // each turn looks
}

static uint64_t nothing(void *user) {
    (void)user;
    return 0;
}

static void set_token(void) {
    cairn_key key = {.given = true};
    memset(key.bytes, 1, sizeof key.bytes);
    const cairn_web_settings_values values = {
        .sockets_per_network_max = 2, .tokens = &key, .token_count = 1};
    cairn_web_settings_set(settings, &values);
}

BEFORE_EACH {
    static const cairn_key dev_key = {.given = true, .bytes = {1}};
    const cairn_questions_config between = {.wake_loop = wake, .wake_web = wake};
    char error[CAIRN_HTTP_ERROR_SIZE];
    cairn_address any;
    assert_true(cairn_address_parse("127.0.0.1:0", &any));
    assert_int_equal(cairn_uv_driver_open(&any, &driver, error), CAIRN_OK);
    const cairn_address bound = cairn_uv_driver_address(driver);
    server = kit_uv_server(&bound);
    kit_turn = turn;
    loop = kit_loop_open();
    settings = cairn_web_settings_create();
    questions = cairn_questions_create(&between);
    received = cairn_datagram_ring_create();
    assert_true(settings != NULL && questions != NULL && received != NULL);
    set_token();
    const cairn_web_answers_config gives = {.server = server,
        .driver = driver,
        .questions = questions,
        .dev_key = &dev_key,
        .public_address = bound,
        .token_lifetime_s = 30,
        .protocol_id = 1,
        .frames_not_sent = nothing,
        .log_lines_lost = nothing,
        .log_bytes_waiting = nothing};
    assert_int_equal(cairn_web_answers_create(&gives, &answers), CAIRN_OK);
    const cairn_site_config config = {.loop = loop,
        .settings = settings,
        .questions = questions,
        .received = received,
        .root = "/nonexistent",
        .peers_max = 2,
        .issues_tokens = true,
        .control = true};
    assert_true(cairn_site_create(&config, &site, error));
    assert_true(cairn_site_listen(site, &any, error));
    address = cairn_site_address(site);
    stands_still = false;
    lacks_random = false;
}

AFTER_EACH {
    cairn_site_close(site);
    kit_loop_close();
    cairn_web_answers_destroy(answers);
    cairn_questions_destroy(questions);
    cairn_web_settings_destroy(settings);
    cairn_datagram_ring_destroy(received);
    cairn_server_destroy(server);
    cairn_uv_driver_close(driver);
}

static int get(const char *path) {
    char text[128];
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);
    return kit_ask_once(&address, text);
}

static int post_with(const char *path, const char *token, const char *body) {
    char text[512];
    snprintf(text, sizeof text,
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        path, token, strlen(body), body);
    return kit_ask_once(&address, text);
}

static int post(const char *path, const char *body) {
    return post_with(
        path, "0101010101010101010101010101010101010101010101010101010101010101", body);
}

static void expect_count(const char *name, uint64_t wanted) {
    char line[96];
    snprintf(line, sizeof line, "\n%s_total ", name);
    const char *found = strstr(kit_answered.body, line);
    assert_non_null(found);
    const uint64_t value = strtoull(found + strlen(line), NULL, 10);
    if (value != wanted) {
        fail_msg(
            "%s is %llu, wanted %llu", name, (unsigned long long)value, (unsigned long long)wanted);
    }
}

// The value of a sample; fails if it is no number.
static double sample_of(const char *line) {
    const char *space = strchr(line, ' ');
    char *end = NULL;
    assert_non_null(space);
    for (const char *at = space + 1; *at != '\n'; ++at) {
        if (strchr("0123456789.", *at) == NULL) {
            fail_msg("no number: %.80s", line);
        }
    }
    const double value = strtod(space + 1, &end);
    assert_true(end > space + 1 && *end == '\n');
    return value;
}

TEST("each line of the metrics is a comment or a name and a number, and those of the process fit") {
    assert_int_equal(get("/metrics"), 200);
    uint32_t samples = 0, bounded = 0;
    for (const char *line = kit_answered.body; *line != '\0'; line = strchr(line, '\n') + 1) {
        static const struct {
            const char *name;
            double least, most;
        } rows[] = {{"process_resident_memory_bytes ", 1e6, 1e11},
            {"process_cpu_seconds_total ", 1e-6, 1e6},
            {"process_start_time_seconds ", 1.7e9, 1e11}};
        if (line[0] == '#') {
            assert_true(strncmp(line, "# TYPE ", 7) == 0 || strncmp(line, "# HELP ", 7) == 0);
            continue;
        }
        const double value = sample_of(line);
        samples += 1;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
            if (strncmp(line, rows[i].name, strlen(rows[i].name)) == 0) {
                bounded += 1;
                assert_true(value >= rows[i].least && value <= rows[i].most);
            }
        }
    }
    assert_true(samples > 50);
    assert_int_equal(bounded, 3);
}

TEST("metrics of either format are kept for a tenth of a second") {
    static const cairn_metrics_process process;
    cairn_scrape *scrape = cairn_scrape_create();
    assert_non_null(scrape);
    for (uint32_t k = 0; k < 2; ++k) {
        const bool open = k == 1;
        const uint64_t begin_ns = (10 + k) * CAIRN_NS_PER_S;
        const uint64_t kept_ns = begin_ns + CAIRN_NS_PER_S / 10;
        cairn_web_counts counts = {0};
        cairn_metrics *read = NULL;
        cairn_http_answer kept;
        assert_false(cairn_scrape_kept(scrape, open, begin_ns, &kept));
        cairn_scrape_begin(scrape, &counts, &read);
        assert_true(cairn_metrics_read(server, &process, &read));
        const cairn_http_answer first = cairn_scrape_end(scrape, open, begin_ns, read);
        assert_int_equal(first.status, 200);
        assert_false(cairn_scrape_kept(scrape, open, kept_ns + 1, &kept));
        assert_true(cairn_scrape_kept(scrape, open, kept_ns, &kept));
        assert_int_equal(kept.size, first.size);
        assert_memory_equal(kept.bytes, first.bytes, first.size);
        assert_string_equal(kept.type, open ? CAIRN_METRICS_OPEN_TYPE : CAIRN_METRICS_TYPE);
        first.release(first.owner);
        kept.release(kept.owner);
    }
    cairn_scrape_destroy(scrape);
}

TEST("paths have their answers, and others none") {
    const struct {
        const char *path;
        int status;
    } rows[] = {{"/healthz", 200}, {"/readyz", 200}, {"/rooms", 200}, {"/metrics", 200},
        {"/openapi.json", 200}, {"/nothing", 404}, {"/control/state", 404}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        if (get(rows[i].path) != rows[i].status) {
            fail_msg("%s: %d", rows[i].path, kit_answered.status);
        }
    }
    assert_int_equal(get("/metrics"), 200);
    expect_count("cairn_web_questions_refused", 0);
    cairn_server_drain(server, cairn_uv_now_ns());
    assert_int_equal(get("/readyz"), 503);
    assert_int_equal(get("/healthz"), 200);
}

TEST("requests to operate have their paths, and others are no requests") {
    assert_int_equal(post("/control/state", "{}"), 200);
    assert_non_null(strstr(kit_answered.body, "\"ok\":true"));
    assert_int_equal(post("/control/pause", "{}"), 200);
    assert_int_equal(post("/control/nothing", "{}"), 404);
    assert_int_equal(post("/controls", "{}"), 405);
    assert_int_equal(post("/", "{}"), 405);
    assert_int_equal(post("/rooms", "{}"), 405);
    assert_int_equal(post("/drain", "{}"), 200);
}

TEST("each request to operate that is refused is counted by its reason, on whichever side") {
    assert_int_equal(post("/control/pause", "{}"), 200);
    assert_int_equal(post("/control/save", "{\"name\": \"h\303\244\"}"), 400); // by the server
    assert_non_null(strstr(kit_answered.body, "printable ASCII"));
    assert_int_equal(post("/control/save", "{\"name\": 1}"), 400);
    assert_int_equal(post("/control/save", "[]"), 400);
    assert_int_equal(post_with("/control/pause", "01", "{}"), 401);
    assert_int_equal(get("/metrics"), 200);
    expect_count("cairn_web_controls", 1);
    expect_count("cairn_web_controls_refused_body", 3);
    expect_count("cairn_web_controls_refused_token", 1);
    expect_count("cairn_web_controls_refused_busy", 0);
    expect_count("cairn_web_controls_left", 0);
}

TEST("what names no verb, is no JSON or asks to drain with words is refused, and counted") {
    char text[512];
    assert_int_equal(post("/control/jump", "{}"), 404);
    assert_non_null(strstr(kit_answered.body, "unknown verb"));
    static const char *const types[] = {"Content-Type: text/plain\r\n",
        "Content-Type: application/json; charset=utf-8\r\n", "Content-Type: application/jso\r\n",
        ""};
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        snprintf(text, sizeof text,
            "POST /control/pause HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
            "%sContent-Length: 2\r\n\r\n{}",
            "0101010101010101010101010101010101010101010101010101010101010101", types[i]);
        assert_int_equal(kit_ask_once(&address, text), 415);
    }
    static const char *const wrong[] = {"[]", "{\"a\": 1}", "{", "1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_int_equal(post("/drain", wrong[i]), 400);
        assert_int_equal(get("/readyz"), 200);
    }
    assert_int_equal(get("/metrics"), 200);
    expect_count("cairn_web_controls", 0);
    expect_count("cairn_web_controls_refused_body", 9);
    assert_int_equal(post("/drain", "{}"), 200);
}

static int post_from(const char *host, const char *origin) {
    char text[512];
    snprintf(text, sizeof text,
        "POST /control/pause HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nAuthorization: Bearer "
        "0101010101010101010101010101010101010101010101010101010101010101\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
        host, origin);
    return kit_ask_once(&address, text);
}

TEST("a page operates the server that it is from, and no other") {
    const struct {
        const char *host, *origin;
        int status;
    } rows[] = {{"play.example", "http://play.example", 200},
        {"play.example", "https://play.example", 200},
        {"play.example:7", "https://play.example:7", 200},
        {"play.example", "https://elsewhere.example", 403},
        {"play.example", "https://play.example.elsewhere.example", 403},
        {"play.example", "https://play.exampl", 403},
        {"play.example:7", "https://play.example", 403},
        {"play.example", "ftp://play.example", 403}, {"play.example", "gopher:play.example", 403},
        {"play.example", "play.example", 403}, {"play.example", "null", 403}};
    uint64_t refused = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        if (post_from(rows[i].host, rows[i].origin) != rows[i].status) {
            fail_msg("%s of %s: %d", rows[i].origin, rows[i].host, kit_answered.status);
        }
        refused += rows[i].status == 403 ? 1 : 0;
    }
    assert_int_equal(get("/metrics"), 200);
    expect_count("cairn_web_controls_refused_origin", refused);
}

TEST("questions that nobody answers are so many, and those refused are counted") {
    const struct linger at_once = {.l_onoff = 1};
    const char ask[] = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
    stands_still = true;
    // A network has few connections: each leaves, and its question stays.
    for (uint32_t i = 0; i < CAIRN_QUESTIONS_MAX; ++i) {
        const int fd = kit_dial(&address, 0);
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
        kit_say(fd, ask, strlen(ask));
        for (const uint64_t end_ns = cairn_uv_now_ns() + KIT_PATIENCE_NS;
             !cairn_questions_at(questions, i)->used;) {
            assert_true(cairn_uv_now_ns() < end_ns);
            turn();
        }
        close(fd);
        turn();
    }
    assert_int_equal(get("/healthz"), 503);
    assert_int_equal(get("/rooms"), 503);
    assert_int_equal(post("/control/pause", "{}"), 503);
    stands_still = false;
    turn();
    assert_int_equal(get("/metrics"), 200);
    expect_count("cairn_web_questions_refused", 2);
    expect_count("cairn_web_controls_refused_busy", 1);
}

TEST("a page of this machine gets a token, of a player unless it asks for more") {
    static const char fresh[] = "GET /token?mode=spectator&room=main&right=operator HTTP/1.1\r\n"
                                "Host: localhost:7\r\n\r\n";
    assert_int_equal(get("/token"), 200);
    assert_int_equal(kit_answered.size, CAIRN_CONNECT_TOKEN_SIZE);
    assert_int_equal(get("/token?mode=player"), 200);
    assert_int_equal(kit_ask_once(&address, fresh), 200);
    assert_int_equal(kit_answered.size, CAIRN_CONNECT_TOKEN_SIZE);
    assert_int_equal(get("/token?mode=king"), 400);
    assert_int_equal(get("/token?mode="), 400);
    assert_int_equal(get("/token?room=nowhere"), 404);
    assert_int_equal(get("/token?right=all"), 403);
    assert_int_equal(
        kit_ask_once(&address, "GET /token HTTP/1.1\r\nHost: play.example\r\n\r\n"), 403);
    char endless[500];
    snprintf(endless, sizeof endless, "GET /token HTTP/1.1\r\nHost: %0400u\r\n\r\n", 1u);
    assert_int_equal(kit_ask_once(&address, endless), 403); // nobody reads whose page it is
    lacks_random = true;
    assert_int_equal(get("/token"), 503);
}
