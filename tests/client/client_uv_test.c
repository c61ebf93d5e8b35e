// SPDX-License-Identifier: MIT
// Host names, as the driver of clients looks them up beside its loop.
#include "tests/kit/test.h"

#include <string.h>

#include "program/host.h"
#include <cairn/client_uv.h>
#include <cairn/control.h>

typedef struct answer {
    uint32_t calls;
    uint32_t count;
    cairn_address first;
    char why[128];
} answer;

static void on_found(void *user, const cairn_address *addresses, uint32_t count, const char *why) {
    answer *out = user;
    *out = (answer){.calls = out->calls + 1, .count = count};
    if (count > 0) {
        out->first = addresses[0];
    }
    strncpy(out->why, why, sizeof out->why - 1);
}

typedef struct driven {
    cairn_client *client;
    cairn_client_uv *driver;
} driven;

static driven open_driver(void) {
    driven d = {.client = cairn_client_create_operator()};
    const cairn_client_uv_config config = {.client = d.client, .frame_rate_hz = 1000};
    assert_int_equal(cairn_client_uv_open(&config, &d.driver), CAIRN_OK);
    return d;
}

static void close_driver(driven *d) {
    cairn_client_uv_close(d->driver);
    cairn_client_destroy(d->client);
}

static answer find(driven *d, const char *host) {
    answer found = {.calls = 0};
    assert_int_equal(cairn_client_uv_find(d->driver, host, on_found, &found), CAIRN_OK);
    assert_int_equal(found.calls, 0); // later, from the loop
    for (uint32_t frame = 0; frame < 20000 && found.calls == 0; ++frame) {
        cairn_client_uv_frame(d->driver);
    }
    assert_int_equal(found.calls, 1);
    return found;
}

TEST("names and addresses are found, IPv4 first") {
    static const struct {
        const char *host;
        const char *first;
    } rows[] = {{"localhost:40000", "127.0.0.1:40000"}, {"127.0.0.1:1", "127.0.0.1:1"},
        {"[::1]:65535", "[::1]:65535"}, {"[2001:db8::5]:40000", "[2001:db8::5]:40000"},
        {"[fe80:0:4::1]:1", "[fe80:0:4::1]:1"}};
    driven d = open_driver();
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char text[CAIRN_ADDRESS_TEXT_SIZE];
        const answer found = find(&d, rows[i].host);
        assert_true(found.count > 0);
        assert_string_equal(found.why, "");
        assert_string_equal(cairn_address_print(&found.first, text), rows[i].first);
    }
    close_driver(&d);
}

TEST("a name without an address is refused with a sentence") {
    driven d = open_driver();
    const answer found = find(&d, "no..name:40000");
    assert_int_equal(found.count, 0);
    assert_string_equal(found.why, "this name has no address");
    close_driver(&d);
}

TEST("a text that is not a host with a port is refused at once") {
    static const char *const refused[] = {"", ":", "localhost", "localhost:", ":40000",
        "localhost:0", "localhost:65536", "localhost:99999999999", "localhost:4x", "localhost:-1",
        "::1:40000", "[::1]", "[::1:40000", "[]:1", "[::1]x:1", "a:b:1"};
    driven d = open_driver();
    answer found = {.calls = 0};
    char longest[CAIRN_HOST_NAME_SIZE + 3];
    memset(longest, 'a', sizeof longest);
    memcpy(longest + CAIRN_HOST_NAME_SIZE, ":1", 3);
    for (uint32_t i = 0; i <= sizeof refused / sizeof refused[0]; ++i) {
        const char *host = i < sizeof refused / sizeof refused[0] ? refused[i] : longest;
        const cairn_status status = cairn_client_uv_find(d.driver, host, on_found, &found);
        if (status != CAIRN_INVALID_ARGUMENT) {
            fail_msg("'%s' is taken", host);
        }
    }
    close_driver(&d);
    assert_int_equal(found.calls, 0);
}

TEST("a driver that is closed calls nobody") {
    driven d = open_driver();
    answer found = {.calls = 0};
    for (uint32_t i = 0; i < 8; ++i) {
        assert_int_equal(cairn_client_uv_find(d.driver, "localhost:1", on_found, &found), CAIRN_OK);
    }
    close_driver(&d);
    assert_int_equal(found.calls, 0);
}

TEST("equal addresses are listed once, and never more than a token can name") {
    cairn_host host = {.count = 0};
    for (uint16_t port = 1; port <= 40; ++port) {
        const cairn_address address = {.family = CAIRN_ADDRESS_IPV4, .port = port};
        cairn_host_add(&host, &address);
        cairn_host_add(&host, &address);
    }
    assert_int_equal(host.count, CAIRN_TOKEN_SERVERS_MAX);
    assert_int_equal(host.addresses[1].port, 2);
}
