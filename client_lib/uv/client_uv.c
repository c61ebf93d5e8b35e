// SPDX-License-Identifier: MIT
#include <cairn/client_uv.h>

#include <stdlib.h>
#include <uv.h>

#include "base/assert.h"
#include "program/addrinfo.h"
#include "program/host.h"
#include "program/sockaddr.h"
#include <cairn/client.h>
#include <cairn/types.h>

// A socket is opened when the first datagram is sent to a server of its family.
enum { SOCKET_IPV4 = 0, SOCKET_IPV6 = 1, SOCKETS = 2 };

typedef struct lookup {
    uv_getaddrinfo_t request;
    struct cairn_client_uv *driver;
    struct lookup *next;
    cairn_client_uv_on_found on_found;
    void *user;
    cairn_host host; // an address that was given
} lookup;

struct cairn_client_uv {
    cairn_client_uv_config config;
    uv_loop_t own_loop;
    uv_loop_t *loop;
    uv_timer_t timer;
    uv_udp_t *sockets[SOCKETS]; // NULL: not open; freed when libuv has closed them
    uint32_t open_handles;      // of libuv, and look-ups
    struct lookup *lookups;     // that are under way
    bool closing;
    uint64_t first_frame_ns;
    uint64_t frames; // since first_frame_ns
    uint64_t send_errors;
    uint8_t received[65536]; // a datagram of any size, so that none is cut
};

static uint64_t frame_due_ns(const cairn_client_uv *driver) {
    CAIRN_ASSERT(driver->config.frame_rate_hz > 0);
    uint64_t rate = driver->config.frame_rate_hz;
    uint64_t next = driver->frames + 1;
    uint64_t whole_ns = next / rate * CAIRN_NS_PER_S;
    return driver->first_frame_ns + whole_ns + next % rate * CAIRN_NS_PER_S / rate;
}

static void on_timer(uv_timer_t *timer);

// libuv's timers count milliseconds: rounded up, so that the timer does not fire before the time.
static void sleep_until_needed(cairn_client_uv *driver, uint64_t now) {
    uint64_t wake_ns = frame_due_ns(driver);
    uint64_t deadline_ns = cairn_client_deadline_ns(driver->config.client);
    wake_ns = deadline_ns < wake_ns ? deadline_ns : wake_ns;
    uint64_t sleep_ms = wake_ns > now ? (wake_ns - now + 999999) / 1000000 : 0;
    uv_update_time(driver->loop);
    uv_timer_start(&driver->timer, on_timer, sleep_ms, 0);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *out) {
    (void)suggested;
    cairn_client_uv *driver = handle->data;
    *out = uv_buf_init((char *)driver->received, sizeof driver->received);
}

static void on_receive(uv_udp_t *socket, ssize_t size, const uv_buf_t *buffer,
    const struct sockaddr *from, unsigned flags);

static bool open_socket(cairn_client_uv *driver, int which) {
    CAIRN_ASSERT(which == SOCKET_IPV4 || which == SOCKET_IPV6);
    if (driver->sockets[which] != NULL) {
        return true;
    }
    uv_udp_t *socket = calloc(1, sizeof *socket);
    const cairn_address any = {
        .family = which == SOCKET_IPV4 ? CAIRN_ADDRESS_IPV4 : CAIRN_ADDRESS_IPV6};
    struct sockaddr_storage storage;
    cairn_address_to_sockaddr(&any, &storage);
    if (socket == NULL || uv_udp_init(driver->loop, socket) != 0) {
        free(socket);
        return false;
    }
    socket->data = driver;
    driver->open_handles++;
    driver->sockets[which] = socket;
    return uv_udp_bind(socket, (const struct sockaddr *)&storage, 0) == 0 &&
           uv_udp_recv_start(socket, on_allocate, on_receive) == 0;
}

static void send_all(cairn_client_uv *driver) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    size_t size = 0;
    while ((size = cairn_client_send(driver->config.client, uv_hrtime(), bytes)) > 0) {
        cairn_address to = cairn_client_server_address(driver->config.client);
        int which = to.family == CAIRN_ADDRESS_IPV6 ? SOCKET_IPV6 : SOCKET_IPV4;
        struct sockaddr_storage storage;
        cairn_address_to_sockaddr(&to, &storage);
        uv_buf_t buffer = uv_buf_init((char *)bytes, (unsigned)size);
        const int result = open_socket(driver, which)
                               ? uv_udp_try_send(driver->sockets[which], &buffer, 1,
                                     (const struct sockaddr *)&storage)
                               : UV_EMFILE;
        driver->send_errors += result >= 0 ? 0 : 1;
        if (result == UV_ENETUNREACH || result == UV_EHOSTUNREACH || result == UV_EADDRNOTAVAIL ||
            result == UV_ENETDOWN) {
            cairn_client_path_changed(driver->config.client, uv_hrtime());
        }
    }
}

static void advance_and_send(cairn_client_uv *driver) {
    uint64_t now = uv_hrtime();
    cairn_client_advance(driver->config.client, now);
    send_all(driver);
    if (!driver->closing) {
        sleep_until_needed(driver, now);
    }
}

// libuv calls it without an address after the last datagram.
static void on_receive(uv_udp_t *socket, ssize_t size, const uv_buf_t *buffer,
    const struct sockaddr *from, unsigned flags) {
    (void)flags;
    cairn_client_uv *driver = socket->data;
    if (from == NULL) {
        advance_and_send(driver);
        return;
    }
    if (size > 0) {
        cairn_address address = cairn_address_of_sockaddr(from);
        cairn_client_receive(driver->config.client, uv_hrtime(), &address,
            (const uint8_t *)buffer->base, (size_t)size);
    }
}

static void on_timer(uv_timer_t *timer) {
    cairn_client_uv *driver = timer->data;
    uint64_t now = uv_hrtime();
    if (now >= frame_due_ns(driver)) {
        cairn_client_advance(driver->config.client, now);
        driver->frames++;
        // After a stall the missed frames are left out.
        if (now > frame_due_ns(driver)) {
            driver->first_frame_ns = now;
            driver->frames = 0;
        }
        if (driver->config.on_frame != NULL) {
            driver->config.on_frame(driver->config.user, now);
        }
    }
    if (!driver->closing) {
        advance_and_send(driver);
    }
}

cairn_status cairn_client_uv_open(const cairn_client_uv_config *config, cairn_client_uv **out) {
    CAIRN_ASSERT(config != NULL && out != NULL);
    *out = NULL;
    if (config->client == NULL || config->frame_rate_hz < 1 || config->frame_rate_hz > 1000) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_client_uv *driver = calloc(1, sizeof *driver);
    if (driver == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    driver->config = *config;
    driver->loop = config->loop != NULL ? config->loop : &driver->own_loop;
    if (config->loop == NULL && uv_loop_init(&driver->own_loop) != 0) {
        free(driver);
        return CAIRN_IO_FAILED;
    }
    uv_timer_init(driver->loop, &driver->timer);
    driver->timer.data = driver;
    driver->open_handles = 1;
    driver->first_frame_ns = uv_hrtime();
    sleep_until_needed(driver, driver->first_frame_ns);
    *out = driver;
    return CAIRN_OK;
}

static void release(cairn_client_uv *driver) {
    CAIRN_ASSERT(driver->open_handles > 0);
    driver->open_handles--;
    if (driver->closing && driver->open_handles == 0 && driver->loop != &driver->own_loop) {
        free(driver);
    }
}

static void on_closed(uv_handle_t *handle) {
    cairn_client_uv *driver = handle->data;
    if (handle->type == UV_UDP) {
        free(handle);
    }
    release(driver);
}

static void on_found(uv_getaddrinfo_t *request, int status, struct addrinfo *found) {
    lookup *done = (lookup *)request->data;
    cairn_client_uv *driver = done->driver;
    cairn_host *host = &done->host;
    lookup **at = &driver->lookups;
    while (*at != done) {
        at = &(*at)->next;
    }
    *at = done->next;
    if (host->count == 0) {
        cairn_host_add_all(host, found);
    }
    uv_freeaddrinfo(found);
    if (!driver->closing) {
        const char *why = status == UV_EAI_AGAIN
                              ? "no name server answered for this name; try again later"
                          : status == UV_EAI_MEMORY || status == UV_ENOMEM
                              ? "there is not enough memory to look this name up"
                              : "this name has no address";
        done->on_found(done->user, host->addresses, host->count, host->count > 0 ? "" : why);
    }
    free(done);
    release(driver);
}

cairn_status cairn_client_uv_find(
    cairn_client_uv *driver, const char *host, cairn_client_uv_on_found found, void *user) {
    CAIRN_ASSERT(driver != NULL && host != NULL && found != NULL && !driver->closing);
    const struct addrinfo hints = cairn_host_hints();
    cairn_host_text split;
    if (!cairn_host_split(host, &split)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    lookup *begun = calloc(1, sizeof *begun);
    if (begun == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    *begun = (lookup){.driver = driver, .next = driver->lookups, .on_found = found, .user = user};
    (void)cairn_host_add_address(&begun->host, host);
    begun->request.data = begun;
    if (uv_getaddrinfo(driver->loop, &begun->request, on_found, split.name, split.port, &hints) !=
        0) {
        free(begun);
        return CAIRN_OUT_OF_MEMORY;
    }
    driver->lookups = begun;
    driver->open_handles++;
    return CAIRN_OK;
}

static void close_sockets(cairn_client_uv *driver) {
    for (int i = 0; i < SOCKETS; i++) {
        if (driver->sockets[i] != NULL) {
            uv_close((uv_handle_t *)driver->sockets[i], on_closed);
        }
        driver->sockets[i] = NULL;
    }
}

void cairn_client_uv_rebind(cairn_client_uv *driver) {
    CAIRN_ASSERT(driver != NULL && !driver->closing);
    close_sockets(driver);
    cairn_client_path_changed(driver->config.client, uv_hrtime());
    advance_and_send(driver);
}

void cairn_client_uv_close(cairn_client_uv *driver) {
    if (driver == NULL) {
        return;
    }
    driver->closing = true;
    close_sockets(driver);
    for (lookup *each = driver->lookups; each != NULL; each = each->next) {
        (void)uv_cancel((uv_req_t *)&each->request);
    }
    uv_close((uv_handle_t *)&driver->timer, on_closed);
    if (driver->loop == &driver->own_loop) {
        uv_run(driver->loop, UV_RUN_DEFAULT);
        uv_loop_close(driver->loop);
        free(driver);
    }
}

struct uv_loop_s *cairn_client_uv_loop(const cairn_client_uv *driver) {
    CAIRN_ASSERT(driver != NULL && !driver->closing);
    return driver->loop;
}

bool cairn_client_uv_connect(
    cairn_client_uv *driver, const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    CAIRN_ASSERT(driver != NULL && token != NULL && !driver->closing);
    uv_timeval64_t unix_time = {0};
    uv_gettimeofday(&unix_time);
    bool begun =
        cairn_client_connect(driver->config.client, uv_hrtime(), (uint64_t)unix_time.tv_sec, token);
    advance_and_send(driver);
    return begun;
}

void cairn_client_uv_disconnect(cairn_client_uv *driver) {
    CAIRN_ASSERT(driver != NULL && !driver->closing);
    cairn_client_disconnect(driver->config.client, uv_hrtime());
    send_all(driver);
}

uint64_t cairn_client_uv_frame(cairn_client_uv *driver) {
    CAIRN_ASSERT(driver->loop == &driver->own_loop && !driver->closing);
    uint64_t first_ns = driver->first_frame_ns;
    uint64_t frames = driver->frames;
    while (driver->frames == frames && driver->first_frame_ns == first_ns) {
        uv_run(driver->loop, UV_RUN_ONCE);
    }
    return uv_hrtime();
}

uint64_t cairn_client_uv_now_ns(void) {
    return uv_hrtime();
}

uint64_t cairn_client_uv_send_errors(const cairn_client_uv *driver) {
    CAIRN_ASSERT(driver != NULL);
    return driver->send_errors;
}
