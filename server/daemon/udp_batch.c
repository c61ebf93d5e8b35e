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

// One byte more than a datagram may have, in whole lines of the cache: a longer one is cut off, and
// is still too long.
#define RECEIVE_SIZE ((CAIRN_DATAGRAM_SIZE_MAX + 64) / 64 * 64)
// Of messages that the system may join of several datagrams. Most pages of it are never touched.
// The lines of a cache that the first bytes of messages lie in differ.
#define RECEIVE_SIZE_JOINED (65536 + 5 * 64)
// For the size of the datagrams, and what else a socket of another process may be told to say.
#define CONTROL_SIZE (CMSG_SPACE(sizeof(int)) + 64)

typedef struct control_room {
    _Alignas(struct cmsghdr) uint8_t bytes[CONTROL_SIZE];
} control_room;

struct cairn_udp_receiver {
    int socket_fd;
    uint32_t message_count; // received
    uint32_t message;       // that datagrams are taken from; message_count: none
    size_t at;              // of the next datagram in it
    size_t segment;         // size of all its datagrams but the last
    cairn_address from;
    uint64_t joined;
    size_t room; // for each message
    struct mmsghdr messages[CAIRN_UDP_BATCH_MAX];
    struct iovec pieces[CAIRN_UDP_BATCH_MAX];
    struct sockaddr_storage senders[CAIRN_UDP_BATCH_MAX];
    control_room controls[CAIRN_UDP_BATCH_MAX];
    uint8_t *bytes; // owned
};

static bool let_join(int socket_fd) {
#ifdef UDP_GRO
    const int on = 1;
    return setsockopt(socket_fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on) == 0;
#else
    (void)socket_fd;
    return false;
#endif
}

cairn_udp_receiver *cairn_udp_receiver_create(int socket_fd) {
    cairn_udp_receiver *receiver = calloc(1, sizeof *receiver);
    if (receiver == NULL) {
        return NULL;
    }
    receiver->socket_fd = socket_fd;
    receiver->room = let_join(socket_fd) ? RECEIVE_SIZE_JOINED : RECEIVE_SIZE;
    receiver->bytes = malloc(CAIRN_UDP_BATCH_MAX * receiver->room);
    if (receiver->bytes == NULL) {
        free(receiver);
        return NULL;
    }
    for (uint32_t i = 0; i < CAIRN_UDP_BATCH_MAX; ++i) {
        receiver->pieces[i] = (struct iovec){
            .iov_base = receiver->bytes + i * receiver->room, .iov_len = receiver->room};
        receiver->messages[i].msg_hdr = (struct msghdr){.msg_name = &receiver->senders[i],
            .msg_namelen = sizeof receiver->senders[i],
            .msg_iov = &receiver->pieces[i],
            .msg_iovlen = 1,
            .msg_control = &receiver->controls[i],
            .msg_controllen = sizeof receiver->controls[i]};
    }
    return receiver;
}

void cairn_udp_receiver_destroy(cairn_udp_receiver *receiver) {
    if (receiver != NULL) {
        free(receiver->bytes);
        free(receiver);
    }
}

// The size of the datagrams that the system joined to this message; that of the message: of one.
static size_t segment_of(struct mmsghdr *message) {
#ifdef UDP_GRO
    struct msghdr *head = &message->msg_hdr;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(head); at != NULL; at = CMSG_NXTHDR(head, at)) {
        int size;
        if (at->cmsg_level == IPPROTO_UDP && at->cmsg_type == UDP_GRO &&
            at->cmsg_len >= CMSG_LEN(sizeof size)) {
            memcpy(&size, CMSG_DATA(at), sizeof size);
            return size > 0 && (size_t)size < message->msg_len ? (size_t)size : message->msg_len;
        }
    }
#endif
    return message->msg_len;
}

static void begin_message_received(cairn_udp_receiver *receiver) {
    if (receiver->message < receiver->message_count) {
        struct mmsghdr *message = &receiver->messages[receiver->message];
        receiver->at = 0;
        receiver->segment = segment_of(message);
        receiver->from = cairn_address_of_sockaddr(message->msg_hdr.msg_name);
    }
}

int cairn_udp_receive(cairn_udp_receiver *receiver) {
    CAIRN_ASSERT(!cairn_udp_has_next(receiver));
    // The system wrote here how much it used.
    for (uint32_t i = 0; i < receiver->message_count; ++i) {
        receiver->messages[i].msg_hdr.msg_namelen = sizeof receiver->senders[i];
        receiver->messages[i].msg_hdr.msg_controllen = sizeof receiver->controls[i];
    }
    const int count =
        recvmmsg(receiver->socket_fd, receiver->messages, CAIRN_UDP_BATCH_MAX, MSG_DONTWAIT, NULL);
    receiver->message_count = count > 0 ? (uint32_t)count : 0;
    receiver->message = 0;
    begin_message_received(receiver);
    return count;
}

bool cairn_udp_has_next(const cairn_udp_receiver *receiver) {
    return receiver->message < receiver->message_count;
}

bool cairn_udp_next(cairn_udp_receiver *receiver, cairn_udp_received *out) {
    if (!cairn_udp_has_next(receiver)) {
        return false;
    }
    const size_t whole = receiver->messages[receiver->message].msg_len;
    const size_t left = whole - receiver->at;
    *out = (cairn_udp_received){.from = receiver->from,
        .bytes = receiver->bytes + receiver->message * receiver->room + receiver->at,
        .size = left < receiver->segment ? left : receiver->segment};
    receiver->joined += receiver->segment < whole ? 1 : 0;
    receiver->at += out->size;
    if (receiver->at == whole) {
        receiver->message += 1;
        begin_message_received(receiver);
    }
    return true;
}

uint64_t cairn_udp_receiver_joined(const cairn_udp_receiver *receiver) {
    return receiver->joined;
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

static void add_piece(cairn_udp_sender *sender, const cairn_address *to, struct iovec piece) {
    const uint32_t i = sender->datagram_count++;
    const size_t size = piece.iov_len;
    CAIRN_ASSERT(i < CAIRN_UDP_BATCH_MAX && size > 0 && size <= CAIRN_DATAGRAM_SIZE_MAX);
    sender->pieces[i] = piece;
    struct msghdr *last =
        sender->message_count == 0 ? NULL : &sender->messages[sender->message_count - 1].msg_hdr;
    if (last != NULL && is_segment(sender, last, size) &&
        cairn_address_equal(&sender->last_to, to)) {
        add_segment(sender, last);
    } else {
        begin_message(sender, to, &sender->pieces[i]);
    }
}

void cairn_udp_sender_add(cairn_udp_sender *sender, const cairn_address *to, size_t size) {
    uint8_t *bytes = cairn_udp_sender_room(sender);
    add_piece(sender, to, (struct iovec){.iov_base = bytes, .iov_len = size});
}

bool cairn_udp_sender_put(
    cairn_udp_sender *sender, const cairn_address *to, const uint8_t *bytes, size_t size) {
    if (sender->datagram_count == CAIRN_UDP_BATCH_MAX) {
        return false;
    }
    // sendmmsg does not write there.
    add_piece(sender, to, (struct iovec){.iov_base = (uint8_t *)(uintptr_t)bytes, .iov_len = size});
    return true;
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
