// SPDX-License-Identifier: MIT
// For sendmmsg and recvmmsg.
#define _GNU_SOURCE
#include "server/daemon/udp_batch.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "program/sockaddr.h"

// One byte more than a datagram may have, in whole lines of the cache: a longer one is cut, and is
// still too long.
#define RECEIVE_SIZE ((CAIRN_DATAGRAM_SIZE_MAX + 64) / 64 * 64)

struct cairn_udp_receiver {
    int socket_fd;
    struct mmsghdr messages[CAIRN_UDP_BATCH_MAX];
    struct iovec pieces[CAIRN_UDP_BATCH_MAX];
    struct sockaddr_storage senders[CAIRN_UDP_BATCH_MAX];
    uint8_t bytes[CAIRN_UDP_BATCH_MAX][RECEIVE_SIZE];
};

cairn_udp_receiver *cairn_udp_receiver_create(int socket_fd) {
    cairn_udp_receiver *receiver = calloc(1, sizeof *receiver);
    for (uint32_t i = 0; receiver != NULL && i < CAIRN_UDP_BATCH_MAX; ++i) {
        receiver->socket_fd = socket_fd;
        receiver->pieces[i] =
            (struct iovec){.iov_base = receiver->bytes[i], .iov_len = RECEIVE_SIZE};
        receiver->messages[i].msg_hdr = (struct msghdr){.msg_name = &receiver->senders[i],
            .msg_namelen = sizeof receiver->senders[i],
            .msg_iov = &receiver->pieces[i],
            .msg_iovlen = 1};
    }
    return receiver;
}

void cairn_udp_receiver_destroy(cairn_udp_receiver *receiver) {
    free(receiver);
}

int cairn_udp_receive(cairn_udp_receiver *receiver, cairn_udp_received out[CAIRN_UDP_BATCH_MAX]) {
    const int count =
        recvmmsg(receiver->socket_fd, receiver->messages, CAIRN_UDP_BATCH_MAX, MSG_DONTWAIT, NULL);
    for (int i = 0; i < count; ++i) {
        struct msghdr *message = &receiver->messages[i].msg_hdr;
        out[i] = (cairn_udp_received){.from = cairn_address_of_sockaddr(message->msg_name),
            .bytes = receiver->bytes[i],
            .size = receiver->messages[i].msg_len};
        message->msg_namelen = sizeof receiver->senders[i];
    }
    return count;
}

#ifdef UDP_SEGMENT
#define SEGMENT_OPTION UDP_SEGMENT
// The system's limits are 64 or 128 segments and 65,507 bytes.
#define SEGMENTS_MAX 32
#else
#define SEGMENT_OPTION 0
#define SEGMENTS_MAX 1
#endif

typedef struct segment_room {
    _Alignas(struct cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
} segment_room;

struct cairn_udp_sender {
    int socket_fd;
    bool dual;
    uint32_t segments_max; // 1: the system cuts no messages
    bool has_cut;          // it cut one
    // Datagrams [0, datagram_count), a piece each; messages of one or more pieces in a row. The
    // first `sent` messages have left.
    uint32_t datagram_count;
    uint32_t message_count;
    uint32_t sent;
    cairn_udp_send_statistics statistics;
    cairn_address last_to;
    struct mmsghdr messages[CAIRN_UDP_BATCH_MAX];
    struct iovec pieces[CAIRN_UDP_BATCH_MAX];
    struct sockaddr_storage addresses[CAIRN_UDP_BATCH_MAX];
    segment_room sizes[CAIRN_UDP_BATCH_MAX]; // of the segments of each message
    uint8_t datagrams[CAIRN_UDP_BATCH_MAX][CAIRN_DATAGRAM_SIZE_MAX];
};

cairn_udp_sender *cairn_udp_sender_create(int socket_fd, bool dual) {
    cairn_udp_sender *sender = calloc(1, sizeof *sender);
    if (sender != NULL) {
        sender->socket_fd = socket_fd;
        sender->dual = dual;
        sender->segments_max = SEGMENTS_MAX;
    }
    return sender;
}

void cairn_udp_sender_destroy(cairn_udp_sender *sender) {
    free(sender);
}

uint8_t *cairn_udp_sender_room(cairn_udp_sender *sender) {
    return sender->datagram_count < CAIRN_UDP_BATCH_MAX ? sender->datagrams[sender->datagram_count]
                                                        : NULL;
}

static void begin_message(cairn_udp_sender *sender, const cairn_address *to, struct iovec *piece) {
    struct sockaddr_storage *address = &sender->addresses[sender->message_count];
    const socklen_t size = sender->dual ? cairn_address_to_sockaddr_dual(to, address)
                                        : cairn_address_to_sockaddr(to, address);
    sender->messages[sender->message_count++].msg_hdr = (struct msghdr){
        .msg_name = address, .msg_namelen = size, .msg_iov = piece, .msg_iovlen = 1};
    sender->last_to = *to;
}

// Whether a datagram may follow those of a message to the same address.
static bool is_segment(const cairn_udp_sender *sender, const struct msghdr *message, size_t size) {
    const size_t first = message->msg_iov[0].iov_len;
    return message->msg_iovlen < sender->segments_max && size <= first &&
           message->msg_iov[message->msg_iovlen - 1].iov_len == first;
}

static void add_segment(cairn_udp_sender *sender, struct msghdr *message) {
    segment_room *room = &sender->sizes[sender->message_count - 1];
    const uint16_t size = (uint16_t)message->msg_iov[0].iov_len;
    message->msg_iovlen += 1;
    message->msg_control = room;
    message->msg_controllen = sizeof *room;
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    *head = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof size), .cmsg_level = IPPROTO_UDP, .cmsg_type = SEGMENT_OPTION};
    memcpy(CMSG_DATA(head), &size, sizeof size);
}

void cairn_udp_sender_add(cairn_udp_sender *sender, const cairn_address *to, size_t size) {
    const uint32_t i = sender->datagram_count++;
    CAIRN_ASSERT(i < CAIRN_UDP_BATCH_MAX && size > 0 && size <= CAIRN_DATAGRAM_SIZE_MAX);
    sender->pieces[i] = (struct iovec){.iov_base = sender->datagrams[i], .iov_len = size};
    struct msghdr *last =
        sender->message_count == 0 ? NULL : &sender->messages[sender->message_count - 1].msg_hdr;
    if (last != NULL && is_segment(sender, last, size) &&
        cairn_address_equal(&sender->last_to, to)) {
        add_segment(sender, last);
    } else {
        begin_message(sender, to, &sender->pieces[i]);
    }
}

// The system does not cut this message, on its path or at all: the rest of the batch leaves in
// messages of one datagram each.
static void cut_here(cairn_udp_sender *sender) {
    struct mmsghdr whole[CAIRN_UDP_BATCH_MAX];
    const uint32_t count = sender->message_count;
    memcpy(whole, sender->messages, count * sizeof *whole);
    const uint32_t first = (uint32_t)(whole[sender->sent].msg_hdr.msg_iov - sender->pieces);
    uint32_t out = first;
    for (uint32_t k = sender->sent; k < count; ++k) {
        for (size_t piece = 0; piece < whole[k].msg_hdr.msg_iovlen; ++piece, ++out) {
            sender->messages[out].msg_hdr = (struct msghdr){.msg_name = whole[k].msg_hdr.msg_name,
                .msg_namelen = whole[k].msg_hdr.msg_namelen,
                .msg_iov = &sender->pieces[out],
                .msg_iovlen = 1};
        }
    }
    CAIRN_ASSERT(out == sender->datagram_count);
    sender->sent = first;
    sender->message_count = out;
    sender->segments_max = sender->has_cut ? sender->segments_max : 1;
}

static void note_sent(cairn_udp_sender *sender, uint32_t count) {
    for (uint32_t i = 0; i < count && !sender->has_cut; ++i) {
        sender->has_cut = sender->messages[sender->sent + i].msg_hdr.msg_iovlen > 1;
    }
    sender->sent += count;
    sender->statistics.messages += count;
}

bool cairn_udp_sender_flush(cairn_udp_sender *sender) {
    while (sender->sent < sender->message_count) {
        const int sent = sendmmsg(sender->socket_fd, sender->messages + sender->sent,
            sender->message_count - sender->sent, MSG_DONTWAIT);
        const size_t pieces = sender->messages[sender->sent].msg_hdr.msg_iovlen;
        if (sent > 0) {
            note_sent(sender, (uint32_t)sent);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
            sender->statistics.waits += 1;
            return false;
        } else if (pieces > 1 && (errno == EINVAL || errno == EIO || errno == EMSGSIZE ||
                                     errno == EOPNOTSUPP || errno == ENOPROTOOPT)) {
            cut_here(sender);
        } else if (errno != EINTR) {
            // One peer is unreachable; the datagrams after it are for others.
            sender->statistics.errors += pieces;
            sender->sent += 1;
        }
    }
    sender->datagram_count = 0;
    sender->message_count = 0;
    sender->sent = 0;
    return true;
}

const cairn_udp_send_statistics *cairn_udp_sender_statistics(const cairn_udp_sender *sender) {
    return &sender->statistics;
}
