// SPDX-License-Identifier: MIT
// For recvmmsg.
#define _GNU_SOURCE
#include "tools/load/sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/limits.h"
#include "program/sockaddr.h"

#define EVENTS_MAX 256
// A process that sleeps in the poll is woken by whoever sends to it, and a server on this machine
// would pay for that with every datagram. So the sockets are looked at now and then.
#define SLEEP_NS_MAX UINT64_C(1000000)
// Besides the sockets: standard streams, files that are written, the poll itself.
#define OTHER_DESCRIPTORS 32
// The system may grant less.
#define RECEIVE_BUFFER_BYTES (256 * 1024)

typedef struct stamp_room {
    _Alignas(struct cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(struct timespec))];
} stamp_room;

struct load_sockets {
    int poll_fd;
    uint32_t count;
    int *fds; // -1: not open
    struct mmsghdr messages[LOAD_BATCH];
    struct iovec pieces[LOAD_BATCH];
    stamp_room stamps[LOAD_BATCH];
    uint8_t bytes[LOAD_BATCH][LOAD_DATAGRAM_SIZE];
};

static bool allow_descriptors(uint32_t count) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return false;
    }
    const rlim_t wanted = (rlim_t)count + OTHER_DESCRIPTORS;
    if (limit.rlim_cur >= wanted) {
        return true;
    }
    limit.rlim_cur = wanted;
    limit.rlim_max = limit.rlim_max < wanted ? wanted : limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

bool load_sockets_create(uint32_t count, load_sockets **out) {
    *out = NULL;
    if (!allow_descriptors(count)) {
        return false;
    }
    load_sockets *sockets = calloc(1, sizeof *sockets);
    int *fds = calloc(count, sizeof *fds);
    const int poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (sockets == NULL || fds == NULL || poll_fd < 0) {
        free(sockets);
        free(fds);
        return false;
    }
    *sockets = (load_sockets){.poll_fd = poll_fd, .count = count, .fds = fds};
    for (uint32_t i = 0; i < count; i++) {
        fds[i] = -1;
    }
    for (uint32_t i = 0; i < LOAD_BATCH; i++) {
        sockets->pieces[i] =
            (struct iovec){.iov_base = sockets->bytes[i], .iov_len = LOAD_DATAGRAM_SIZE};
        sockets->messages[i].msg_hdr =
            (struct msghdr){.msg_iov = &sockets->pieces[i], .msg_iovlen = 1};
    }
    *out = sockets;
    return true;
}

static void close_socket(load_sockets *sockets, uint32_t i) {
    if (sockets->fds[i] >= 0) {
        close(sockets->fds[i]);
        sockets->fds[i] = -1;
    }
}

void load_sockets_destroy(load_sockets *sockets) {
    if (sockets == NULL) {
        return;
    }
    for (uint32_t i = 0; i < sockets->count; i++) {
        close_socket(sockets, i);
    }
    close(sockets->poll_fd);
    free(sockets->fds);
    free(sockets);
}

bool load_sockets_open(load_sockets *sockets, uint32_t i, const cairn_address *server) {
    CAIRN_ASSERT(i < sockets->count);
    close_socket(sockets, i);
    struct sockaddr_storage to;
    const socklen_t size = cairn_address_to_sockaddr(server, &to);
    const int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    sockets->fds[i] = fd;
    const int on = 1;
    const int buffer_size = RECEIVE_BUFFER_BYTES;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_size, sizeof buffer_size);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0 &&
           connect(fd, (const struct sockaddr *)&to, size) == 0 &&
           epoll_ctl(sockets->poll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool load_sockets_send(load_sockets *sockets, uint32_t i, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(i < sockets->count);
    return send(sockets->fds[i], bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

uint32_t load_sockets_wait(
    load_sockets *sockets, uint64_t timeout_ns, uint32_t *ready, uint32_t capacity) {
    struct epoll_event events[EVENTS_MAX];
    const uint64_t sleep_ns = timeout_ns < SLEEP_NS_MAX ? timeout_ns : SLEEP_NS_MAX;
    const struct timespec length = {.tv_nsec = (long)sleep_ns};
    if (sleep_ns > 0) {
        nanosleep(&length, NULL);
    }
    const uint32_t most = capacity < EVENTS_MAX ? capacity : EVENTS_MAX;
    const int count = epoll_wait(sockets->poll_fd, events, (int)most, 0);
    for (int i = 0; i < count; i++) {
        ready[i] = events[i].data.u32;
    }
    return count > 0 ? (uint32_t)count : 0; // a signal ends the wait as well
}

static uint64_t stamp_of(struct msghdr *message) {
    const struct cmsghdr *head = CMSG_FIRSTHDR(message);
    if (head == NULL || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_TIMESTAMPNS) {
        return 0;
    }
    struct timespec stamp;
    memcpy(&stamp, CMSG_DATA(head), sizeof stamp);
    return (uint64_t)stamp.tv_sec * CAIRN_NS_PER_S + (uint64_t)stamp.tv_nsec;
}

uint32_t load_sockets_receive(load_sockets *sockets, uint32_t i, load_datagram out[LOAD_BATCH]) {
    CAIRN_ASSERT(i < sockets->count);
    for (uint32_t k = 0; k < LOAD_BATCH; k++) {
        sockets->messages[k].msg_hdr.msg_control = &sockets->stamps[k];
        sockets->messages[k].msg_hdr.msg_controllen = sizeof sockets->stamps[k];
    }
    const int count = recvmmsg(sockets->fds[i], sockets->messages, LOAD_BATCH, MSG_DONTWAIT, NULL);
    for (int k = 0; k < count; k++) {
        out[k] = (load_datagram){.bytes = sockets->bytes[k],
            .size = sockets->messages[k].msg_len,
            .stamp_ns = stamp_of(&sockets->messages[k].msg_hdr)};
    }
    return count > 0 ? (uint32_t)count : 0;
}
