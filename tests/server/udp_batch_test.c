// SPDX-License-Identifier: MIT
// Batches of datagrams over real sockets: each arrives whole and once, those in a row for one
// address leave together, and a system that cuts no messages loses none.
// For sendmmsg.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
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

static void expect(kit *k, int peer, const uint8_t *numbers, const size_t *sizes, int count) {
    cairn_udp_received received[CAIRN_UDP_BATCH_MAX];
    assert_int_equal(cairn_udp_receive(k->receivers[peer], received), count);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(received[i].size, sizes[i]);
        assert_int_equal(received[i].bytes[0], numbers[i]);
        assert_int_equal(received[i].bytes[sizes[i] - 1], numbers[i]);
        assert_int_equal(received[i].from.family, CAIRN_ADDRESS_IPV4);
    }
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
    cairn_udp_received received[CAIRN_UDP_BATCH_MAX];
    assert_int_equal(cairn_udp_receive(k.receivers[0], received), CAIRN_UDP_BATCH_MAX / 2);
    assert_int_equal(cairn_udp_receive(k.receivers[1], received), CAIRN_UDP_BATCH_MAX / 2);
    assert_int_equal(cairn_udp_receive(k.receivers[1], received), -1); // and does not wait
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

TEST("a datagram that is too long is reported as too long") {
    kit k = kit_open();
    uint8_t bytes[4000] = {0};
    struct sockaddr_storage to;
    const socklen_t size = cairn_address_to_sockaddr(&k.addresses[0], &to);
    assert_int_equal(
        sendto(k.from_fd, bytes, sizeof bytes, 0, (const struct sockaddr *)&to, size), 4000);
    cairn_udp_received received[CAIRN_UDP_BATCH_MAX];
    assert_int_equal(cairn_udp_receive(k.receivers[0], received), 1);
    assert_true(received[0].size > CAIRN_DATAGRAM_SIZE_MAX);
    kit_close(&k);
}

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
