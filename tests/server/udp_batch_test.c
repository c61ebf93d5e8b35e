// SPDX-License-Identifier: MIT
// Batches of datagrams over real sockets: each arrives whole and once, those in a row for one
// address leave together, what the system joins is cut again, and a system that cuts or joins no
// messages loses none.
// For sendmmsg and recvmmsg.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "program/sockaddr.h"
#include "server/daemon/udp_batch.h"

#define PEERS 3

typedef struct kit {
    int from_fd;
    int fds[PEERS];
    cairn_address addresses[PEERS];
    cairn_udp_sender *sender;
    cairn_udp_receiver *receivers[PEERS];
} kit;

static int open_socket(cairn_address *bound) {
    const struct sockaddr_in any = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&any, sizeof any), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    *bound = cairn_address_of_sockaddr((const struct sockaddr *)&name);
    return fd;
}

static kit kit_open(void) {
    kit k;
    cairn_address own;
    k.from_fd = open_socket(&own);
    k.sender = cairn_udp_sender_create(k.from_fd, false);
    assert_non_null(k.sender);
    for (int i = 0; i < PEERS; ++i) {
        k.fds[i] = open_socket(&k.addresses[i]);
        k.receivers[i] = cairn_udp_receiver_create(k.fds[i]);
        assert_non_null(k.receivers[i]);
    }
    return k;
}

static void kit_close(kit *k) {
    cairn_udp_sender_destroy(k->sender);
    close(k->from_fd);
    for (int i = 0; i < PEERS; ++i) {
        cairn_udp_receiver_destroy(k->receivers[i]);
        close(k->fds[i]);
    }
}

// Datagram number `number` of `size` bytes for a peer.
static void add(kit *k, int peer, uint8_t number, size_t size) {
    uint8_t *room = cairn_udp_sender_room(k->sender);
    assert_non_null(room);
    memset(room, number, size);
    cairn_udp_sender_add(k->sender, &k->addresses[peer], size);
}

// What is looked at of a datagram that was received.
typedef struct seen {
    cairn_address from;
    size_t size;
    uint8_t first, last;
} seen;

// Receives so many datagrams. A busy system delivers them a while after they were sent.
static void take(cairn_udp_receiver *receiver, seen *out, int count) {
    int taken = 0;
    for (int ms = 0; ms < 5000 && taken < count; ++ms) {
        cairn_udp_received next;
        if (cairn_udp_receive(receiver) < 0) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        while (cairn_udp_next(receiver, &next)) {
            assert_true(taken < count);
            out[taken++] = (seen){.from = next.from,
                .size = next.size,
                .first = next.size == 0 ? 0 : next.bytes[0],
                .last = next.size == 0 ? 0 : next.bytes[next.size - 1]};
        }
    }
    assert_int_equal(taken, count);
}

static void expect_at(cairn_udp_receiver *receiver, const uint8_t *numbers, const size_t *sizes,
    int count, uint8_t family) {
    seen received[CAIRN_UDP_BATCH_MAX];
    take(receiver, received, count);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(received[i].size, sizes[i]);
        assert_int_equal(received[i].first, numbers[i]);
        assert_int_equal(received[i].last, numbers[i]);
        assert_int_equal(received[i].from.family, family);
    }
}

static void expect(kit *k, int peer, const uint8_t *numbers, const size_t *sizes, int count) {
    expect_at(k->receivers[peer], numbers, sizes, count, CAIRN_ADDRESS_IPV4);
}

static uint64_t messages(const kit *k) {
    return cairn_udp_sender_statistics(k->sender)->messages;
}

// Two peers, a run of equal datagrams with a shorter end, and one that is longer than those before.
static void send_mixture(kit *k) {
    add(k, 0, 1, 1043);
    add(k, 0, 2, 1043);
    add(k, 0, 3, 200);
    add(k, 0, 4, 200);
    add(k, 1, 5, 300);
    add(k, 1, 6, 400);
    add(k, 0, 7, 1043);
    assert_true(cairn_udp_sender_flush(k->sender));
    expect(k, 0, (const uint8_t[]){1, 2, 3, 4, 7}, (const size_t[]){1043, 1043, 200, 200, 1043}, 5);
    expect(k, 1, (const uint8_t[]){5, 6}, (const size_t[]){300, 400}, 2);
}

TEST("datagrams in a row for one address leave together, and arrive one by one") {
    kit k = kit_open();
    send_mixture(&k);
    assert_int_equal(messages(&k), 5); // 1 2 3, 4, 5, 6, 7
    add(&k, 2, 8, 50);
    assert_true(cairn_udp_sender_flush(k.sender));
    expect(&k, 2, (const uint8_t[]){8}, (const size_t[]){50}, 1);
    assert_int_equal(cairn_udp_sender_statistics(k.sender)->errors, 0);
    kit_close(&k);
}

TEST("a full batch has no room, and has room again when it has left") {
    kit k = kit_open();
    for (int i = 0; i < CAIRN_UDP_BATCH_MAX; ++i) {
        add(&k, i % 2, (uint8_t)i, 100);
    }
    assert_null(cairn_udp_sender_room(k.sender));
    assert_true(cairn_udp_sender_flush(k.sender));
    assert_non_null(cairn_udp_sender_room(k.sender));
    seen received[CAIRN_UDP_BATCH_MAX];
    take(k.receivers[0], received, CAIRN_UDP_BATCH_MAX / 2);
    take(k.receivers[1], received, CAIRN_UDP_BATCH_MAX / 2);
    assert_int_equal(cairn_udp_receive(k.receivers[1]), -1); // and does not wait
    kit_close(&k);
}

#ifdef SO_NO_CHECK
TEST("where the system cuts no messages, all datagrams leave, one in each") {
    kit k = kit_open();
    const int on = 1; // without checksums it refuses to cut
    assert_int_equal(setsockopt(k.from_fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
    send_mixture(&k);
    send_mixture(&k);
    assert_int_equal(messages(&k), 14);
    assert_int_equal(cairn_udp_sender_statistics(k.sender)->errors, 0);
    kit_close(&k);
}
#endif

TEST("a datagram that cannot be sent is counted, and those after it leave") {
    kit k = kit_open();
    cairn_address nowhere = k.addresses[0];
    nowhere.port = 0;
    add(&k, 0, 1, 10);
    memset(cairn_udp_sender_room(k.sender), 2, 10);
    cairn_udp_sender_add(k.sender, &nowhere, 10);
    add(&k, 1, 3, 10);
    assert_true(cairn_udp_sender_flush(k.sender));
    assert_int_equal(cairn_udp_sender_statistics(k.sender)->errors, 1);
    expect(&k, 0, (const uint8_t[]){1}, (const size_t[]){10}, 1);
    expect(&k, 1, (const uint8_t[]){3}, (const size_t[]){10}, 1);
    kit_close(&k);
}

static void send_bytes(const kit *k, int peer, size_t size) {
    static const uint8_t bytes[4000];
    struct sockaddr_storage to;
    const socklen_t to_size = cairn_address_to_sockaddr(&k->addresses[peer], &to);
    assert_int_equal(
        sendto(k->from_fd, bytes, size, 0, (const struct sockaddr *)&to, to_size), size);
}

TEST("a datagram that is too long is reported as too long, and one may be empty") {
    kit k = kit_open();
    seen received[3];
    send_bytes(&k, 0, 4000);
    send_bytes(&k, 0, 0);
    send_bytes(&k, 0, CAIRN_DATAGRAM_SIZE_MAX);
    take(k.receivers[0], received, 3);
    assert_true(received[0].size > CAIRN_DATAGRAM_SIZE_MAX);
    assert_int_equal(received[1].size, 0);
    assert_int_equal(received[2].size, CAIRN_DATAGRAM_SIZE_MAX);
    kit_close(&k);
}

#ifdef UDP_GRO
// Datagrams of one size, of which the last may be shorter, numbered from `first`.
static void add_row(kit *k, const cairn_address *to, uint8_t first, uint8_t count, size_t last) {
    for (uint8_t i = 0; i < count; ++i) {
        const size_t size = i + 1 == count ? last : 500;
        memset(cairn_udp_sender_room(k->sender), first + i, size);
        cairn_udp_sender_add(k->sender, to, size);
    }
}

static const size_t row_sizes[] = {500, 500, 500, 20, 500, 500, 500, 20, 500, 500, 500, 20};
static const uint8_t row_numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

TEST("what the system joins of one sender's datagrams arrives one by one, in order") {
    kit k = kit_open();
    for (uint8_t row = 0; row < 3; ++row) {
        add_row(&k, &k.addresses[0], (uint8_t)(1 + 4 * row), 4, 20);
        add_row(&k, &k.addresses[1], (uint8_t)(1 + 4 * row), 4, 20);
    }
    assert_true(cairn_udp_sender_flush(k.sender));
    assert_int_equal(messages(&k), 6);
    expect(&k, 0, row_numbers, row_sizes, 12);
    expect(&k, 1, row_numbers, row_sizes, 12);
    assert_int_equal(cairn_udp_receiver_joined(k.receivers[0]), 12);
    add(&k, 0, 1, 500); // a datagram alone is none of these
    assert_true(cairn_udp_sender_flush(k.sender));
    expect(&k, 0, row_numbers, row_sizes, 1);
    assert_int_equal(cairn_udp_receiver_joined(k.receivers[0]), 12);
    kit_close(&k);
}

TEST("a socket for both versions gives joined datagrams of each") {
    const struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    const int off = 0;
    kit k = kit_open();
    const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off), 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&any, sizeof any), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    cairn_udp_receiver *receiver = cairn_udp_receiver_create(fd);
    cairn_address to = cairn_address_of_sockaddr((const struct sockaddr *)&name);
    to.ip[15] = 1;
    cairn_udp_sender *sender = k.sender;
    k.sender = cairn_udp_sender_create(fd, true);
    add_row(&k, &to, 1, 4, 20); // to itself
    assert_true(cairn_udp_sender_flush(k.sender));
    expect_at(receiver, row_numbers, row_sizes, 4, CAIRN_ADDRESS_IPV6);
    cairn_udp_sender_destroy(k.sender);
    k.sender = sender;
    to = (cairn_address){.family = CAIRN_ADDRESS_IPV4, .ip = {127, 0, 0, 1}, .port = to.port};
    add_row(&k, &to, 1, 4, 20);
    assert_true(cairn_udp_sender_flush(k.sender));
    expect_at(receiver, row_numbers, row_sizes, 4, CAIRN_ADDRESS_IPV4);
    assert_int_equal(cairn_udp_receiver_joined(receiver), 8);
    cairn_udp_receiver_destroy(receiver);
    close(fd);
    kit_close(&k);
}

// In place of the system: one message of so many bytes, with control data.
typedef struct message {
    size_t size;
    int segment;
    int level;           // 0: IPPROTO_UDP
    int type;            // 0: UDP_GRO
    size_t control_size; // the system had room for so many bytes of the control data; 0: for all
    bool another_first;  // other control data come before
} message;

static const message *made_up; // NULL: the system answers

int __real_recvmmsg(int, struct mmsghdr *, unsigned int, int, struct timespec *);
int __wrap_recvmmsg(
    int fd, struct mmsghdr *out, unsigned int count, int flags, struct timespec *timeout);

static size_t put_control(struct msghdr *head, size_t at, struct cmsghdr control, int value) {
    assert_true(at + CMSG_SPACE(sizeof value) <= head->msg_controllen);
    struct cmsghdr *put = (struct cmsghdr *)(void *)((uint8_t *)head->msg_control + at);
    *put = control;
    memcpy(CMSG_DATA(put), &value, sizeof value);
    return at + CMSG_SPACE(sizeof value);
}

int __wrap_recvmmsg(
    int fd, struct mmsghdr *out, unsigned int count, int flags, struct timespec *timeout) {
    if (made_up == NULL) {
        return __real_recvmmsg(fd, out, count, flags, timeout);
    }
    const struct sockaddr_in from = {.sin_family = AF_INET, .sin_port = htons(7)};
    struct msghdr *head = &out->msg_hdr;
    uint8_t *bytes = head->msg_iov[0].iov_base;
    assert_true(head->msg_namelen >= sizeof from && head->msg_iov[0].iov_len >= made_up->size);
    memcpy(head->msg_name, &from, sizeof from);
    for (size_t i = 0; i < made_up->size; ++i) {
        bytes[i] = (uint8_t)i;
    }
    out->msg_len = (unsigned int)made_up->size;
    struct cmsghdr control = {
        .cmsg_len = made_up->control_size == 0 ? CMSG_LEN(sizeof(int)) : made_up->control_size,
        .cmsg_level = SOL_SOCKET,
        .cmsg_type = SCM_RIGHTS};
    size_t at = made_up->another_first ? put_control(head, 0, control, 100) : 0;
    control.cmsg_level = made_up->level == 0 ? IPPROTO_UDP : made_up->level;
    control.cmsg_type = made_up->type == 0 ? UDP_GRO : made_up->type;
    at = put_control(head, at, control, made_up->segment);
    head->msg_controllen = made_up->control_size == 0 ? at : made_up->control_size;
    made_up = NULL;
    return 1;
}

// It becomes datagrams of `size` bytes, the last of `last`; their bytes go on from one to the next.
static void expect_cut(kit *k, message m, int count, size_t size, size_t last) {
    seen received[80];
    const uint64_t joined = cairn_udp_receiver_joined(k->receivers[0]);
    made_up = &m;
    take(k->receivers[0], received, count);
    size_t at = 0;
    for (int i = 0; i < count; ++i) {
        assert_int_equal(received[i].size, i + 1 == count ? last : size);
        assert_int_equal(received[i].from.port, 7);
        assert_int_equal(received[i].first, (uint8_t)at);
        at += received[i].size;
    }
    assert_int_equal(at, m.size);
    assert_int_equal(cairn_udp_receiver_joined(k->receivers[0]) - joined, count == 1 ? 0 : count);
}

TEST("a message is cut as its control data say, whatever they are") {
    kit k = kit_open();
    expect_cut(&k, (message){.size = 300, .segment = 100}, 3, 100, 100);
    expect_cut(&k, (message){.size = 301, .segment = 100}, 4, 100, 1);
    expect_cut(&k, (message){.size = 299, .segment = 100}, 3, 100, 99);
    expect_cut(&k, (message){.size = 64, .segment = 1}, 64, 1, 1);
    expect_cut(&k, (message){.size = 65500, .segment = 1400}, 47, 1400, 1100);
    expect_cut(&k, (message){.size = 300, .segment = 100, .another_first = true}, 3, 100, 100);
    // Of one datagram, or the system said nothing that can be meant.
    expect_cut(&k, (message){.size = 300, .segment = 300}, 1, 300, 300);
    expect_cut(&k, (message){.size = 300, .segment = 301}, 1, 300, 300);
    expect_cut(&k, (message){.size = 300, .segment = 0}, 1, 300, 300);
    expect_cut(&k, (message){.size = 300, .segment = -100}, 1, 300, 300);
    expect_cut(&k, (message){.size = 300, .segment = 100, .level = SOL_SOCKET}, 1, 300, 300);
    expect_cut(&k, (message){.size = 300, .segment = 100, .type = UDP_SEGMENT}, 1, 300, 300);
    // There was no room for all of it: too long for one datagram, so nobody takes it.
    const size_t short_of = CMSG_LEN(sizeof(int)) - 1;
    expect_cut(&k, (message){.size = 3000, .segment = 1000, .control_size = short_of}, 1, 0, 3000);
    kit_close(&k);
}

static bool refuses_to_join;

int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t size);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size);

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size) {
    if (refuses_to_join && level == IPPROTO_UDP && name == UDP_GRO) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return __real_setsockopt(fd, level, name, value, size);
}

TEST("where the system joins no datagrams, all arrive, one in each message") {
    refuses_to_join = true;
    kit k = kit_open();
    refuses_to_join = false;
    add_row(&k, &k.addresses[0], 1, 4, 20);
    assert_true(cairn_udp_sender_flush(k.sender));
    assert_int_equal(messages(&k), 1);
    expect(&k, 0, row_numbers, row_sizes, 4);
    assert_int_equal(cairn_udp_receiver_joined(k.receivers[0]), 0);
    seen received[1];
    send_bytes(&k, 0, 4000);
    take(k.receivers[0], received, 1);
    assert_true(received[0].size > CAIRN_DATAGRAM_SIZE_MAX);
    kit_close(&k);
}
#endif

// Answers of the system in place of the next calls of sendmmsg: how many messages it takes, or
// minus the error. Then it answers itself.
static struct {
    const int *answers;
    uint32_t left;
} script;

int __real_sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags);

int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags) {
    if (script.left == 0) {
        return __real_sendmmsg(fd, messages, count, flags);
    }
    const int answer = *script.answers++;
    script.left -= 1;
    if (answer < 0) {
        errno = -answer;
        return -1;
    }
    return __real_sendmmsg(fd, messages, (unsigned int)answer, flags);
}

TEST("a full socket buffer loses nothing, repeats nothing, and is counted") {
    // A full buffer at once, in the middle, of the device, and an interrupted call.
    static const int answers[] = {-EAGAIN, 2, -ENOBUFS, 1, -EINTR, 1, -EAGAIN, -EAGAIN};
    kit k = kit_open();
    for (uint8_t i = 0; i < 6; ++i) {
        add(&k, i % 2, i, 100);
    }
    script.answers = answers;
    script.left = sizeof answers / sizeof answers[0];
    uint32_t flushes = 0;
    while (!cairn_udp_sender_flush(k.sender)) {
        flushes += 1;
        assert_true(flushes < 10);
    }
    assert_int_equal(flushes, 4);
    assert_int_equal(script.left, 0);
    const cairn_udp_send_statistics *statistics = cairn_udp_sender_statistics(k.sender);
    assert_int_equal(statistics->waits, 4);
    assert_int_equal(statistics->errors, 0);
    assert_int_equal(statistics->messages, 6);
    static const size_t sizes[] = {100, 100, 100};
    expect(&k, 0, (const uint8_t[]){0, 2, 4}, sizes, 3);
    expect(&k, 1, (const uint8_t[]){1, 3, 5}, sizes, 3);
    add(&k, 2, 9, 50); // the batch is empty again
    assert_true(cairn_udp_sender_flush(k.sender));
    expect(&k, 2, (const uint8_t[]){9}, (const size_t[]){50}, 1);
    kit_close(&k);
}

TEST("a batch that waits for a full buffer takes no more than it has room for") {
    static const int answers[] = {-EAGAIN, 10, -EAGAIN};
    kit k = kit_open();
    for (int i = 0; i < CAIRN_UDP_BATCH_MAX; ++i) {
        add(&k, i % 2, (uint8_t)i, 100);
    }
    script.answers = answers;
    script.left = sizeof answers / sizeof answers[0];
    assert_false(cairn_udp_sender_flush(k.sender));
    assert_null(cairn_udp_sender_room(k.sender)); // so the server keeps what comes after them
    assert_false(cairn_udp_sender_flush(k.sender));
    assert_null(cairn_udp_sender_room(k.sender));
    assert_true(cairn_udp_sender_flush(k.sender));
    assert_non_null(cairn_udp_sender_room(k.sender));
    assert_int_equal(messages(&k), CAIRN_UDP_BATCH_MAX);
    kit_close(&k);
}
