// SPDX-License-Identifier: MIT
// What the driver of clients makes of a datagram that the system does not send. The server is in
// memory: what libuv would send is handed to it, and the clock goes on by being read.
// For the types of libuv.
#define _POSIX_C_SOURCE 200809L
#include "tests/kit/scoped.h"
#include "tests/kit/test.h"

#include <string.h>
#include <uv.h>

#include "tests/kit/scenes.h"
#include <cairn/client_uv.h>
#include <cairn/server.h>
#include <cairn/token.h>
#include <cairn/types.h>

#define MS_NS UINT64_C(1000000)

// The first place, where the client begins, and the second, where it is after the error.
typedef struct places {
    cairn_address server_address;
    cairn_address from[2];
    uint32_t place;
    uint16_t served; // the port of the place that the server sent to last
    int error;       // of the next datagram; 0: it is sent
    cairn_server *server;
    cairn_client *client;
    cairn_client_uv *driver;
} places;

static places *here; // NULL: libuv does what it says
static uint64_t now_ns = 1000000 * MS_NS;

uint64_t __real_uv_hrtime(void);
uint64_t __wrap_uv_hrtime(void);
int __real_uv_udp_try_send(
    uv_udp_t *handle, const uv_buf_t *bufs, unsigned count, const struct sockaddr *to);
int __wrap_uv_udp_try_send(
    uv_udp_t *handle, const uv_buf_t *bufs, unsigned count, const struct sockaddr *to);

uint64_t __wrap_uv_hrtime(void) {
    if (here == NULL) {
        return __real_uv_hrtime();
    }
    now_ns += MS_NS / 2;
    return now_ns;
}

int __wrap_uv_udp_try_send(
    uv_udp_t *handle, const uv_buf_t *bufs, unsigned count, const struct sockaddr *to) {
    if (here == NULL) {
        return __real_uv_udp_try_send(handle, bufs, count, to);
    }
    assert_int_equal(count, 1);
    const int error = here->error;
    here->error = 0;
    if (error != 0) {
        here->place = 1;
        return error;
    }
    cairn_server_receive(
        here->server, now_ns, &here->from[here->place], (const uint8_t *)bufs[0].base, bufs[0].len);
    return (int)bufs[0].len;
}

// What goes to either place arrives, so the client never meets a silence.
static void on_frame(void *user, uint64_t frame_ns) {
    places *p = user;
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    size_t size;
    cairn_server_advance(p->server, frame_ns);
    while ((size = cairn_server_send(p->server, frame_ns, &to, bytes)) > 0) {
        p->served = to.port;
        cairn_client_receive(p->client, frame_ns, &p->server_address, bytes, size);
    }
}

static void run_ms(places *p, uint32_t ms) {
    for (const uint64_t until_ns = now_ns + (uint64_t)ms * MS_NS; now_ns < until_ns;) {
        (void)cairn_client_uv_frame(p->driver);
    }
}

static void places_end(places *p) {
    cairn_client_uv_close(p->driver);
    cairn_client_destroy(p->client);
    cairn_server_destroy(p->server);
    here = NULL;
}
SCOPE_ENDS(places, places_end)

static void open_server(places *p, const uint8_t *key, uint64_t unix_s) {
    cairn_server_config config = cairn_server_config_default();
    config.first_room.scene = kit_scene_stack_and_row();
    config.public_addresses = &p->server_address;
    config.public_address_count = 1;
    config.start_ns = now_ns;
    config.start_unix_ns = unix_s * CAIRN_NS_PER_S;
    config.private_key = key;
    config.entropy = key;
    assert_int_equal(cairn_server_create(&config, &p->server), CAIRN_OK);
}

static void open_client(places *p) {
    const cairn_client_config config = cairn_client_config_default();
    assert_int_equal(cairn_client_create(&config, &p->client), CAIRN_OK);
    const cairn_client_uv_config driven = {
        .client = p->client, .frame_rate_hz = 1000, .on_frame = on_frame, .user = p};
    assert_int_equal(cairn_client_uv_open(&driven, &p->driver), CAIRN_OK);
}

// A client that plays, from the first place.
static void play(places *p) {
    static const uint8_t key[CAIRN_KEY_SIZE] = {7};
    static const uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE] = {9};
    uv_timeval64_t unix_time = {0};
    uv_gettimeofday(&unix_time);
    here = p;
    open_server(p, key, (uint64_t)unix_time.tv_sec);
    open_client(p);
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE], user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    cairn_user_data_write(user_data, 0);
    const cairn_token_request request = {.protocol_id = CAIRN_PROTOCOL_ID_DEFAULT,
        .client_id = 1,
        .create_unix_s = (uint64_t)unix_time.tv_sec,
        .lifetime_s = 30,
        .timeout_s = 10,
        .server_addresses = &p->server_address,
        .server_count = 1,
        .private_key = key,
        .entropy = entropy,
        .user_data = user_data};
    assert_int_equal(cairn_token_issue(&request, token), CAIRN_OK);
    assert_true(cairn_client_uv_connect(p->driver, token));
    run_ms(p, 600);
    assert_int_equal(cairn_client_state_read(p->client), CAIRN_CLIENT_PLAYING);
    assert_int_equal(p->served, p->from[0].port);
}

static places places_of(void) {
    return (places){
        .server_address = {.family = CAIRN_ADDRESS_IPV4, .port = 40000, .ip = {10, 9, 9, 9}},
        .from = {{.family = CAIRN_ADDRESS_IPV4, .port = 1, .ip = {10, 0, 0, 1}},
            {.family = CAIRN_ADDRESS_IPV4, .port = 2, .ip = {10, 0, 0, 2}}}};
}

// The client is elsewhere from the error on. True: within 20 ms the server serves it there.
static bool is_found_after(int error) {
    SCOPED(places)
    p = places_of();
    play(&p);
    p.error = error;
    for (uint32_t ms = 0; p.error != 0; ++ms) {
        assert_true(ms < 200);
        run_ms(&p, 1);
    }
    assert_int_equal(cairn_client_uv_send_errors(p.driver), 1);
    run_ms(&p, 20);
    assert_int_equal(cairn_client_state_read(p.client), CAIRN_CLIENT_PLAYING);
    return p.served == p.from[1].port;
}

TEST("an error that says that the server cannot be reached lets the client prove its new address") {
    static const int errors[] = {UV_ENETUNREACH, UV_EHOSTUNREACH, UV_EADDRNOTAVAIL, UV_ENETDOWN};
    for (uint32_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
        if (!is_found_after(errors[i])) {
            fail_msg("%s is no sign of a new path", uv_err_name(errors[i]));
        }
    }
}

TEST("an error that says nothing of the path lets the client prove nothing") {
    static const int errors[] = {UV_EAGAIN, UV_ENOBUFS, UV_EPERM};
    for (uint32_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
        if (is_found_after(errors[i])) {
            fail_msg("%s is a sign of a new path", uv_err_name(errors[i]));
        }
    }
}
