// SPDX-License-Identifier: MIT
// For recvmmsg and ppoll.
#define _GNU_SOURCE
#include "python/native/link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/limits.h"
#include "program/sockaddr.h"

#define BATCH_MAX 32
#define RECEIVE_BUFFER_BYTES (1024 * 1024)

struct cairn_native_link {
    cairn_client *client;
    uint8_t socket_family; // cairn_address_family
    int socket_fd;         // -1: none yet
    struct mmsghdr messages[BATCH_MAX];
    struct iovec pieces[BATCH_MAX];
    struct sockaddr_storage addresses[BATCH_MAX];
    uint8_t datagrams[BATCH_MAX][CAIRN_DATAGRAM_SIZE_MAX + 1]; // one more: too long is not cut
};

static uint64_t now_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * CAIRN_NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void) {
    return now_of(CLOCK_MONOTONIC);
}

cairn_native_link *cairn_native_link_open(
    const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE], bool player) {
    cairn_native_link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        return NULL;
    }
    link->socket_fd = -1;
    cairn_client_config config = cairn_client_config_default();
    config.spectator = !player;
    (void)cairn_client_create(&config, &link->client);
    const uint64_t unix_s = now_of(CLOCK_REALTIME) / CAIRN_NS_PER_S;
    if (link->client == NULL || !cairn_client_connect(link->client, now_ns(), unix_s, token)) {
        cairn_native_link_close(link);
        return NULL;
    }
    return link;
}

cairn_client *cairn_native_link_client(cairn_native_link *link) {
    return link->client;
}

bool cairn_native_link_ended(const cairn_native_link *link) {
    return cairn_client_state_read(link->client) >= CAIRN_CLIENT_LEFT;
}

static bool open_socket(cairn_native_link *link, uint8_t family) {
    if (link->socket_fd >= 0 && link->socket_family == family) {
        return true;
    }
    if (link->socket_fd >= 0) {
        close(link->socket_fd);
    }
    link->socket_family = family;
    link->socket_fd = socket(family == CAIRN_ADDRESS_IPV6 ? AF_INET6 : AF_INET,
        SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    // The system may grant less; a smaller buffer only drops earlier.
    const int bytes = RECEIVE_BUFFER_BYTES;
    (void)setsockopt(link->socket_fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    return link->socket_fd >= 0;
}

static void send_all(cairn_native_link *link) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    size_t size = 0;
    while ((size = cairn_client_send(link->client, now_ns(), bytes)) > 0) {
        const cairn_address to = cairn_client_server_address(link->client);
        struct sockaddr_storage storage;
        const socklen_t length = cairn_address_to_sockaddr(&to, &storage);
        // A datagram that does not leave is lost, as on the way.
        if (open_socket(link, to.family)) {
            (void)sendto(link->socket_fd, bytes, size, 0, (struct sockaddr *)&storage, length);
        }
    }
}

static void receive_all(cairn_native_link *link) {
    int count = BATCH_MAX;
    while (link->socket_fd >= 0 && count == BATCH_MAX) {
        for (int i = 0; i < BATCH_MAX; ++i) {
            link->pieces[i] = (struct iovec){
                .iov_base = link->datagrams[i], .iov_len = sizeof link->datagrams[i]};
            link->messages[i].msg_hdr = (struct msghdr){.msg_name = &link->addresses[i],
                .msg_namelen = sizeof link->addresses[i],
                .msg_iov = &link->pieces[i],
                .msg_iovlen = 1};
        }
        count = recvmmsg(link->socket_fd, link->messages, BATCH_MAX, 0, NULL);
        for (int i = 0; i < count; ++i) {
            const cairn_address from =
                cairn_address_of_sockaddr((const struct sockaddr *)&link->addresses[i]);
            cairn_client_receive(
                link->client, now_ns(), &from, link->datagrams[i], link->messages[i].msg_len);
        }
    }
}

static void sleep_until(cairn_native_link *link, uint64_t wake_ns) {
    const uint64_t now = now_ns();
    if (wake_ns <= now) {
        return;
    }
    const uint64_t left_ns = wake_ns - now;
    const struct timespec timeout = {
        .tv_sec = (time_t)(left_ns / CAIRN_NS_PER_S), .tv_nsec = (long)(left_ns % CAIRN_NS_PER_S)};
    struct pollfd readable = {.fd = link->socket_fd, .events = POLLIN};
    (void)ppoll(&readable, link->socket_fd >= 0 ? 1 : 0, &timeout, NULL);
}

static bool is_done(const cairn_native_link *link, bool welcome) {
    return welcome ? cairn_client_welcomed(link->client)
                   : cairn_client_answers_waiting(link->client) > 0;
}

bool cairn_native_link_wait(cairn_native_link *link, bool welcome, uint64_t wait_ns) {
    const uint64_t end_ns = now_ns() + wait_ns;
    for (;;) {
        receive_all(link);
        cairn_client_advance(link->client, now_ns());
        send_all(link);
        const uint64_t now = now_ns();
        if (is_done(link, welcome) || cairn_native_link_ended(link) || now >= end_ns) {
            return is_done(link, welcome);
        }
        const uint64_t deadline_ns = cairn_client_deadline_ns(link->client);
        sleep_until(link, deadline_ns < end_ns ? deadline_ns : end_ns);
    }
}

void cairn_native_link_close(cairn_native_link *link) {
    if (link == NULL) {
        return;
    }
    if (link->client != NULL) {
        cairn_client_disconnect(link->client, now_ns());
        send_all(link);
        cairn_client_destroy(link->client);
    }
    if (link->socket_fd >= 0) {
        close(link->socket_fd);
    }
    free(link);
}
