// SPDX-License-Identifier: MIT
// For struct ucred.
#define _GNU_SOURCE
#include "server/daemon/hand_over_record.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/checksum.h"
#include "net/crypto.h"
#include "server/handover/handover.h"
#include <cairn/server_uv.h>
#include <cairn/version.h>

#define MAGIC 0x6f686163u // "caho"
#define SIZE_MAX_LARGE ((uint64_t)1 << 30)

cairn_hand_over_build cairn_hand_over_build_own(void) {
    return (cairn_hand_over_build){.version = CAIRN_HANDOVER_VERSION,
        .sim_version = CAIRN_SIM_VERSION,
        .protocol_version = CAIRN_PROTOCOL_VERSION};
}

cairn_hand_over_head cairn_hand_over_head_of(
    cairn_hand_over_kind kind, const void *bytes, size_t size) {
    return (cairn_hand_over_head){
        .kind = kind, .magic = MAGIC, .size = size, .checksum = cairn_checksum(bytes, size)};
}

bool cairn_hand_over_head_is_valid(const cairn_hand_over_head *head) {
    const bool large = head->kind == CAIRN_HAND_OVER_ROOM || head->kind == CAIRN_HAND_OVER_TICKS ||
                       head->kind == CAIRN_HAND_OVER_CLIENTS;
    return head->magic == MAGIC && head->kind >= CAIRN_HAND_OVER_ASKS &&
           head->kind <= CAIRN_HAND_OVER_LAST &&
           head->size <= (large ? SIZE_MAX_LARGE : CAIRN_HAND_OVER_SMALL);
}

void cairn_hand_over_record_free(cairn_hand_over_record *record) {
    if (record->bytes != NULL) {
        cairn_wipe(record->bytes, record->size);
    }
    free(record->bytes);
    record->bytes = NULL;
}

// Waits for the socket. False: the time is over.
static bool wait_for(int fd, short events, uint64_t end_ns) {
    for (;;) {
        const uint64_t now_ns = cairn_uv_now_ns();
        if (now_ns >= end_ns) {
            return false;
        }
        struct pollfd polled = {.fd = fd, .events = events};
        const uint64_t ms = (end_ns - now_ns) / 1000000 + 1;
        const int count = poll(&polled, 1, ms > 1000 ? 1000 : (int)ms);
        if (count > 0) {
            return true;
        }
        if (count < 0 && errno != EINTR) {
            return false;
        }
    }
}

bool cairn_hand_over_send_bytes(int fd, const uint8_t *bytes, size_t size, uint64_t end_ns) {
    size_t at = 0;
    while (at < size) {
        const ssize_t sent = send(fd, bytes + at, size - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            at += (size_t)sent;
        } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            return false;
        } else if (!wait_for(fd, POLLOUT, end_ns)) {
            return false;
        }
    }
    return true;
}

// The first byte carries the descriptor.
static bool send_descriptor(int fd, uint8_t first, int passed_fd, uint64_t end_ns) {
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {.iov_base = &first, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof passed_fd);
    memcpy(CMSG_DATA(head), &passed_fd, sizeof passed_fd);
    for (;;) {
        const ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent == 1) {
            return true;
        }
        if ((sent < 0 && errno != EAGAIN && errno != EINTR) || !wait_for(fd, POLLOUT, end_ns)) {
            return false;
        }
    }
}

bool cairn_hand_over_send(int fd, cairn_hand_over_kind kind, const void *bytes, size_t size,
    int passed_fd, uint64_t end_ns) {
    const cairn_hand_over_head head = cairn_hand_over_head_of(kind, bytes, size);
    uint8_t first[sizeof head];
    memcpy(first, &head, sizeof head);
    const size_t sent = passed_fd >= 0 ? 1 : 0;
    return (passed_fd < 0 || send_descriptor(fd, first[0], passed_fd, end_ns)) &&
           cairn_hand_over_send_bytes(fd, first + sent, sizeof first - sent, end_ns) &&
           cairn_hand_over_send_bytes(fd, bytes, size, end_ns);
}

// Keeps a descriptor that came along; one too many is closed.
static void keep_descriptor(struct msghdr *message, int *passed_fd) {
    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at != NULL; at = CMSG_NXTHDR(message, at)) {
        int fd;
        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS ||
            at->cmsg_len < CMSG_LEN(sizeof fd)) {
            continue;
        }
        memcpy(&fd, CMSG_DATA(at), sizeof fd);
        if (*passed_fd >= 0) {
            close(fd);
        } else {
            *passed_fd = fd;
        }
    }
}

static bool receive_all(int fd, uint8_t *bytes, size_t size, uint64_t end_ns, int *passed_fd) {
    size_t at = 0;
    while (at < size) {
        union {
            char bytes[CMSG_SPACE(sizeof(int))];
            struct cmsghdr aligned;
        } control;
        struct iovec part = {.iov_base = bytes + at, .iov_len = size - at};
        struct msghdr message = {.msg_iov = &part,
            .msg_iovlen = 1,
            .msg_control = control.bytes,
            .msg_controllen = sizeof control.bytes};
        const ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (count > 0) {
            keep_descriptor(&message, passed_fd);
            at += (size_t)count;
        } else if (count == 0 || (errno != EAGAIN && errno != EINTR) ||
                   !wait_for(fd, POLLIN, end_ns)) {
            return false;
        }
    }
    return true;
}

bool cairn_hand_over_receive(int fd, uint64_t end_ns, cairn_hand_over_record *out) {
    cairn_hand_over_head head;
    uint8_t first[sizeof head];
    *out = (cairn_hand_over_record){.passed_fd = -1};
    if (!receive_all(fd, first, sizeof first, end_ns, &out->passed_fd)) {
        return false;
    }
    memcpy(&head, first, sizeof head);
    bool good = cairn_hand_over_head_is_valid(&head);
    out->kind = (cairn_hand_over_kind)head.kind;
    out->size = good ? (size_t)head.size : 0;
    out->bytes = malloc(out->size + 1); // with a zero behind a text
    good = good && out->bytes != NULL &&
           receive_all(fd, out->bytes, out->size, end_ns, &out->passed_fd) &&
           cairn_checksum(out->bytes, out->size) == head.checksum;
    if (!good) {
        cairn_hand_over_record_free(out);
        if (out->passed_fd >= 0) {
            close(out->passed_fd);
            out->passed_fd = -1;
        }
        return false;
    }
    out->bytes[out->size] = '\0';
    return true;
}

bool cairn_hand_over_peer_is_own(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}
