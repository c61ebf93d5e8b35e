// SPDX-License-Identifier: MIT
// Sockets with threads: datagrams pass the queues once and in order, full queues drop and count,
// and nobody waits for a reader that stalls. The thread sanitizer runs this test.
// For sendmmsg.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "program/sockaddr.h"
#include "server/daemon/udp_port.h"
#include "server/threads/datagram_ring.h"

#define PEERS 12

static void sleep_ms(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

// ------------------------------------------------------------------------------------- the queue

typedef struct queue {
    cairn_datagram_ring *ring;
    cairn_random sizes; // of what is added
    cairn_random same;  // of what is taken: the same sizes again
    uint32_t added;
    uint32_t taken;
} queue;

static size_t draw_size(cairn_random *random) {
    return (size_t)cairn_random_below(random, CAIRN_DATAGRAM_RING_SIZE_MAX + 1);
}

static queue queue_open(void) {
    return (queue){.ring = cairn_datagram_ring_create(),
        .sizes = cairn_random_of(7),
        .same = cairn_random_of(7)};
}

// Adds datagram number `added`. False: the queue is full.
static bool add_next(queue *q) {
    uint8_t bytes[CAIRN_DATAGRAM_RING_SIZE_MAX];
    const cairn_address address = {.family = CAIRN_ADDRESS_IPV4, .port = (uint16_t)q->added};
    const cairn_random before = q->sizes;
    const size_t size = draw_size(&q->sizes);
    memset(bytes, (int)(q->added % 251), size);
    if (!cairn_datagram_ring_add(q->ring, &address, bytes, size)) {
        q->sizes = before;
        return false;
    }
    q->added += 1;
    return true;
}

// Takes datagram number `taken`. False: the queue is empty.
static bool take_next(queue *q) {
    cairn_datagram next;
    if (!cairn_datagram_ring_take(q->ring, &next)) {
        return false;
    }
    assert_int_equal(next.address.port, (uint16_t)q->taken);
    assert_int_equal(next.size, draw_size(&q->same));
    for (size_t i = 0; i < next.size; ++i) {
        assert_int_equal(next.bytes[i], q->taken % 251);
    }
    q->taken += 1;
    return true;
}

TEST("a queue gives all that it took, in order, however full it is") {
    queue q = queue_open();
    assert_non_null(q.ring);
    assert_true(cairn_datagram_ring_is_empty(q.ring));
    for (uint32_t round = 0; round < 40; ++round) {
        while (add_next(&q)) {}
        assert_true(q.added - q.taken > 600 && q.added - q.taken < 3000);
        assert_false(cairn_datagram_ring_is_empty(q.ring));
        for (uint32_t i = 0; i < 50 * (1 + round % 12) && take_next(&q); ++i) {}
        assert_false(add_next(&q)); // what was taken is still in use
        cairn_datagram_ring_release(q.ring);
        assert_true(add_next(&q));
    }
    while (take_next(&q)) {}
    assert_int_equal(q.taken, q.added);
    assert_false(cairn_datagram_ring_is_empty(q.ring));
    cairn_datagram_ring_release(q.ring);
    assert_true(cairn_datagram_ring_is_empty(q.ring));
    cairn_datagram_ring_destroy(q.ring);
}

#define PASSED 60000

static void *add_all(void *argument) {
    queue *q = argument;
    while (q->added < PASSED) {
        if (!add_next(q)) {
            sched_yield();
        }
    }
    return NULL;
}

TEST("a queue between two threads loses and repeats nothing") {
    queue q = queue_open();
    queue adder = q;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, add_all, &adder), 0);
    while (q.taken < PASSED) {
        if (!take_next(&q)) {
            sched_yield();
        }
        if (q.taken % 16 == 0) {
            cairn_datagram_ring_release(q.ring);
        }
    }
    pthread_join(thread, NULL);
    cairn_datagram_ring_release(q.ring);
    assert_true(cairn_datagram_ring_is_empty(q.ring));
    cairn_datagram_ring_destroy(q.ring);
}

// ------------------------------------------------------------------------------------ the threads

static atomic_uint wakes;

static void on_wake(void *user) {
    (void)user;
    atomic_fetch_add(&wakes, 1);
}

// In place of the system, while a test says so: the error of each call; 0: none.
static atomic_int send_error;
static atomic_int receive_error;

int __real_sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags);
int __real_recvmmsg(
    int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *patience);
int __wrap_recvmmsg(
    int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *patience);

int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags) {
    const int code = atomic_load(&send_error);
    if (code != 0) {
        errno = code;
        return -1;
    }
    return __real_sendmmsg(fd, messages, count, flags);
}

int __wrap_recvmmsg(
    int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *patience) {
    const int code = atomic_load(&receive_error);
    if (code != 0) {
        errno = code;
        return -1;
    }
    return __real_recvmmsg(fd, messages, count, flags, patience);
}

typedef struct kit {
    cairn_udp_port *port;
    cairn_address address;
    int fds[PEERS];
    cairn_address peers[PEERS];
    uint32_t next[PEERS]; // numbers that are expected of them
    uint32_t taken;
} kit;

static int open_peer(cairn_address *bound) {
    const struct sockaddr_in any = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int buffer_size = 1 << 22;
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&any, sizeof any), 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_size, sizeof buffer_size);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    *bound = cairn_address_of_sockaddr((const struct sockaddr *)&name);
    return fd;
}

static kit kit_open(uint32_t sockets, const char *address) {
    kit k = {0};
    char error[CAIRN_UV_ERROR_SIZE] = "";
    cairn_address listen;
    assert_true(cairn_address_parse(address, &listen));
    const cairn_udp_port_config config = {
        .listen = &listen, .socket_count = sockets, .wake = on_wake};
    assert_true(cairn_udp_port_open(&config, &k.port, error));
    k.address = cairn_udp_port_address(k.port);
    k.address.ip[15] = k.address.family == CAIRN_ADDRESS_IPV6 ? 1 : 0;
    for (int i = 0; i < PEERS; ++i) {
        k.fds[i] = open_peer(&k.peers[i]);
    }
    cairn_udp_port_set_receiving(k.port, true);
    return k;
}

static void kit_close(kit *k) {
    cairn_udp_port_close(k->port);
    for (int i = 0; i < PEERS; ++i) {
        close(k->fds[i]);
    }
}

typedef struct numbered {
    uint32_t peer;
    uint32_t number;
    uint8_t more[92];
} numbered;

static void send_numbered(const kit *k, uint32_t peer, uint32_t number) {
    const numbered datagram = {.peer = peer, .number = number};
    cairn_address to = k->address;
    if (to.family == CAIRN_ADDRESS_IPV6) { // the peers have IPv4
        to = (cairn_address){
            .family = CAIRN_ADDRESS_IPV4, .ip = {127, 0, 0, 1}, .port = k->address.port};
    }
    struct sockaddr_storage address;
    const socklen_t size = cairn_address_to_sockaddr(&to, &address);
    assert_int_equal(sendto(k->fds[peer], &datagram, sizeof datagram, 0,
                         (const struct sockaddr *)&address, size),
        sizeof datagram);
}

static void take_numbered(void *user, const cairn_udp_received *received) {
    kit *k = user;
    numbered datagram;
    assert_int_equal(received->size, sizeof datagram);
    memcpy(&datagram, received->bytes, sizeof datagram);
    assert_true(datagram.peer < PEERS);
    assert_true(cairn_address_equal(&received->from, &k->peers[datagram.peer]));
    assert_true(datagram.number >= k->next[datagram.peer]);
    k->next[datagram.peer] = datagram.number + 1;
    k->taken += 1;
}

static void take_until(kit *k, uint32_t count) {
    for (uint32_t ms = 0; ms < 20000 && k->taken < count; ++ms) {
        const uint32_t before = k->taken;
        if (cairn_udp_port_take(k->port, 7, take_numbered, k) == 0) {
            sleep_ms(1);
        }
        assert_in_range(k->taken - before, 0, 7); // of all threads together
    }
    assert_int_equal(k->taken, count);
}

static cairn_uv_statistics statistics_of(const kit *k) {
    cairn_uv_statistics statistics = {0};
    cairn_udp_port_statistics(k->port, &statistics);
    return statistics;
}

static void answer(kit *k, uint32_t peer, uint32_t number) {
    const numbered datagram = {.peer = peer, .number = number};
    uint8_t *room;
    while ((room = cairn_udp_port_room(k->port)) == NULL) {
        assert_true(cairn_udp_port_flush(k->port));
    }
    memcpy(room, &datagram, sizeof datagram);
    cairn_udp_port_add(k->port, &k->peers[peer], sizeof datagram);
}

// All that a peer was sent, in order, within some seconds. Returns how many.
static uint32_t expect_answers(const kit *k, uint32_t peer, uint32_t count) {
    const struct timeval patience = {.tv_sec = 5};
    numbered datagram;
    uint32_t number = 0;
    setsockopt(k->fds[peer], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (number < count && recv(k->fds[peer], &datagram, sizeof datagram, 0) == sizeof datagram) {
        assert_int_equal(datagram.peer, peer);
        assert_int_equal(datagram.number, number);
        number += 1;
    }
    return number;
}

static void exchange(kit *k, uint32_t rounds) {
    for (uint32_t number = 0; number < rounds; ++number) {
        for (uint32_t peer = 0; peer < PEERS; ++peer) {
            send_numbered(k, peer, number);
        }
        if (number % 50 == 49) {
            take_until(k, (number + 1) * PEERS);
        }
    }
    take_until(k, rounds * PEERS);
    for (uint32_t peer = 0; peer < PEERS; ++peer) {
        for (uint32_t number = 0; number < rounds; ++number) {
            answer(k, peer, number);
        }
    }
    assert_true(cairn_udp_port_flush(k->port));
    for (uint32_t peer = 0; peer < PEERS; ++peer) {
        assert_int_equal(k->next[peer], rounds);
        assert_int_equal(expect_answers(k, peer, rounds), rounds);
    }
    const cairn_uv_statistics statistics = statistics_of(k);
    assert_int_equal(statistics.received_dropped + statistics.sent_dropped, 0);
    assert_int_equal(statistics.send_errors + statistics.receive_errors, 0);
}

TEST("three sockets at one address serve all peers, each in order") {
    kit k = kit_open(3, "127.0.0.1:0");
    int polled[CAIRN_UDP_POLLED_MAX];
    atomic_store(&wakes, 0);
    exchange(&k, 200);
    assert_true(atomic_load(&wakes) > 0);
    assert_int_equal(statistics_of(&k).io_threads, 3);
    assert_int_equal(cairn_udp_port_sockets(k.port).count, 3);
    assert_false(cairn_udp_port_sockets(k.port).apart);
    assert_int_equal(cairn_udp_port_polled(k.port, polled), 0);
    kit_close(&k);
}

TEST("sockets for both versions of IP have threads as well") {
    kit k = kit_open(2, "[::]:0");
    exchange(&k, 60);
    kit_close(&k);
}

TEST("an address that has sockets already is refused") {
    kit k = kit_open(2, "127.0.0.1:0");
    for (uint32_t count = 1; count < 3; ++count) {
        char error[CAIRN_UV_ERROR_SIZE];
        cairn_udp_port *other;
        const cairn_udp_port_config config = {
            .listen = &k.address, .socket_count = count, .wake = on_wake};
        assert_false(cairn_udp_port_open(&config, &other, error));
        assert_string_equal(error, "bind: Address already in use");
        assert_null(other);
    }
    kit_close(&k);
}

TEST("a loop that stalls loses what its queue does not hold, and goes on afterwards") {
    kit k = kit_open(2, "127.0.0.1:0");
    uint32_t sent = 0; // of one peer, so they pass one queue
    while (statistics_of(&k).received_dropped == 0 && sent < 200000) {
        send_numbered(&k, 0, sent++);
        if (sent % 100 == 0) {
            sleep_ms(1); // the thread takes them out of the socket
        }
    }
    assert_true(statistics_of(&k).received_dropped > 0);
    while (cairn_udp_port_take(k.port, 100, take_numbered, &k) > 0) {}
    assert_true(k.taken > 7000); // what the queue held, in order
    for (uint32_t ms = 0; ms < 20000 && k.next[0] != sent;
         ++ms) { // what the socket held comes first
        send_numbered(&k, 0, sent++);
        sleep_ms(1);
        while (cairn_udp_port_take(k.port, 100, take_numbered, &k) > 0) {}
    }
    assert_int_equal(k.next[0], sent);
    assert_true(k.taken + statistics_of(&k).received_dropped <= sent);
    kit_close(&k);
}

TEST("a thread whose socket is full drops what its queue does not hold") {
    kit k = kit_open(2, "127.0.0.1:0");
    const uint32_t given = 12000;
    atomic_store(&send_error, EAGAIN);
    for (uint32_t number = 0; number < given; ++number) {
        answer(&k, 0, number);
    }
    assert_true(cairn_udp_port_flush(k.port)); // and nobody waits
    const uint64_t dropped = statistics_of(&k).sent_dropped;
    assert_true(dropped > 0 && dropped < given);
    assert_false(cairn_udp_port_is_still(k.port));
    send_numbered(&k, 1, 0);
    take_until(&k, 1); // it still receives
    for (uint32_t ms = 0; ms < 20000 && statistics_of(&k).send_waits == 0; ++ms) {
        sleep_ms(1);
    }
    assert_in_range(statistics_of(&k).send_waits, 1, 1000000);
    atomic_store(&send_error, 0);
    assert_int_equal(expect_answers(&k, 0, 100), 100); // the first ones
    kit_close(&k);
}

TEST("datagrams of every thread are there until they are taken") {
    kit k = kit_open(2, "127.0.0.1:0");
    assert_false(cairn_udp_port_has_more(k.port));
    for (uint32_t peer = 0; peer < PEERS; ++peer) {
        send_numbered(&k, peer, 0);
        for (uint32_t ms = 0; ms < 20000 && !cairn_udp_port_has_more(k.port); ++ms) {
            sleep_ms(1);
        }
        assert_true(cairn_udp_port_has_more(k.port));
        assert_false(cairn_udp_port_is_still(k.port));
        take_until(&k, peer + 1);
        assert_false(cairn_udp_port_has_more(k.port));
    }
    kit_close(&k);
}

static uint64_t processor_ms(void) {
    struct timespec used;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
    return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

TEST("threads that have nothing to do take no time of a processor") {
    kit k = kit_open(2, "127.0.0.1:0");
    exchange(&k, 1);
    const uint64_t before_ms = processor_ms();
    sleep_ms(200);
    assert_in_range(processor_ms() - before_ms, 0, 40);
    kit_close(&k);
}

TEST("what the system refuses to send or to receive is counted, and that nothing came is not") {
    kit k = kit_open(2, "127.0.0.1:0");
    atomic_store(&send_error, EPERM);
    for (uint32_t peer = 0; peer < 3; ++peer) {
        answer(&k, peer, 0);
    }
    assert_true(cairn_udp_port_flush(k.port));
    for (uint32_t ms = 0; ms < 20000 && statistics_of(&k).send_errors < 3; ++ms) {
        sleep_ms(1);
    }
    atomic_store(&send_error, 0);
    assert_int_equal(statistics_of(&k).send_errors, 3);
    assert_int_equal(statistics_of(&k).receive_errors, 0);
    atomic_store(&receive_error, EINTR);
    send_numbered(&k, 0, 0);
    sleep_ms(5);
    assert_int_equal(statistics_of(&k).receive_errors, 0);
    atomic_store(&receive_error, ENETDOWN);
    for (uint32_t ms = 0; ms < 20000 && statistics_of(&k).receive_errors == 0; ++ms) {
        sleep_ms(1);
    }
    atomic_store(&receive_error, 0);
    assert_true(statistics_of(&k).receive_errors > 0);
    take_until(&k, 1); // what waited comes after all
    kit_close(&k);
}

TEST("threads that are told to stop leave what arrives to the system") {
    kit k = kit_open(3, "127.0.0.1:0");
    for (uint32_t peer = 0; peer < PEERS; ++peer) {
        send_numbered(&k, peer, 0);
    }
    take_until(&k, PEERS);
    cairn_udp_port_set_receiving(k.port, false);
    for (uint32_t ms = 0; ms < 5000 && !cairn_udp_port_is_still(k.port); ++ms) {
        sleep_ms(1);
    }
    assert_true(cairn_udp_port_is_still(k.port));
    for (uint32_t peer = 0; peer < PEERS; ++peer) {
        send_numbered(&k, peer, 1);
    }
    sleep_ms(20);
    assert_true(cairn_udp_port_is_still(k.port));
    assert_int_equal(cairn_udp_port_take(k.port, 64, take_numbered, &k), 0);
    cairn_udp_port_set_receiving(k.port, true);
    take_until(&k, 2 * PEERS);
    kit_close(&k);
}

TEST("what was added leaves before a port is closed") {
    kit k = kit_open(3, "127.0.0.1:0");
    for (uint32_t peer = 0; peer < PEERS; ++peer) {
        for (uint32_t number = 0; number < 30; ++number) {
            answer(&k, peer, number);
        }
    }
    cairn_udp_port_close(k.port);
    k.port = NULL;
    for (uint32_t peer = 0; peer < PEERS; ++peer) {
        assert_int_equal(expect_answers(&k, peer, 30), 30);
    }
    kit_close(&k);
}

TEST("sockets of another process are gone on with") {
    kit first = kit_open(3, "127.0.0.1:0");
    cairn_uv_sockets sockets = cairn_udp_port_sockets(first.port);
    for (uint32_t i = 0; i < sockets.count; ++i) {
        sockets.fds[i] = dup(sockets.fds[i]);
    }
    kit k = first;
    char error[CAIRN_UV_ERROR_SIZE];
    const cairn_udp_port_config config = {.sockets = &sockets, .wake = on_wake};
    assert_true(cairn_udp_port_open(&config, &k.port, error));
    assert_true(cairn_address_equal(
        &(cairn_address){.family = k.address.family, .ip = {127, 0, 0, 1}, .port = k.address.port},
        &k.address));
    cairn_udp_port_close(first.port);
    cairn_udp_port_set_receiving(k.port, true);
    exchange(&k, 50);
    kit_close(&k);
}
