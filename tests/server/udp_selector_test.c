// SPDX-License-Identifier: MIT
// The socket of clients and that of unknown peers: which datagram comes to which, that a flood at
// one displaces nothing at the other, and that one socket serves all where the system refuses two.
// For SO_ATTACH_REUSEPORT_CBPF.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "program/sockaddr.h"
#include "server/daemon/udp_port.h"

#define PEERS 48

// In place of the system, while a test says so.
static bool refuses_selector;
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t size);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size);

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size) {
    if (refuses_selector && level == SOL_SOCKET && name == SO_ATTACH_REUSEPORT_CBPF) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return __real_setsockopt(fd, level, name, value, size);
}

typedef struct kit {
    cairn_udp_port *port;
    cairn_uv_sockets sockets;
    cairn_address address;
    int fds[PEERS];
    cairn_address peers[PEERS];
    cairn_random random;
    uint32_t taken;
    uint32_t of_clients; // of what was taken: from peers with an even number
} kit;

// Peers of IPv4 are all over 127/8, those of IPv6 at ::1.
static void open_peer(kit *k, uint32_t i, bool ipv6) {
    cairn_address any = {.family = ipv6 ? CAIRN_ADDRESS_IPV6 : CAIRN_ADDRESS_IPV4};
    struct sockaddr_storage name;
    const uint64_t drawn = cairn_random_next(&k->random);
    if (ipv6) {
        any.ip[15] = 1;
    } else {
        memcpy(any.ip, &drawn, 4);
        any.ip[0] = 127;
        any.ip[3] = (uint8_t)(1 + i);
    }
    socklen_t size = cairn_address_to_sockaddr(&any, &name);
    k->fds[i] = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(k->fds[i], (const struct sockaddr *)&name, size), 0);
    size = sizeof name;
    assert_int_equal(getsockname(k->fds[i], (struct sockaddr *)&name, &size), 0);
    k->peers[i] = cairn_address_of_sockaddr((const struct sockaddr *)&name);
}

static kit kit_open(const char *text) {
    kit k = {.random = cairn_random_of(11)};
    char error[CAIRN_UV_ERROR_SIZE];
    cairn_address listen;
    assert_true(cairn_address_parse(text, &listen));
    const cairn_udp_port_config config = {.listen = &listen, .socket_count = 1};
    assert_true(cairn_udp_port_open(&config, &k.port, error));
    k.sockets = cairn_udp_port_sockets(k.port);
    k.address = cairn_udp_port_address(k.port);
    for (uint32_t i = 0; i < PEERS; ++i) {
        const bool dual = strncmp(text, "[::]", 4) == 0;
        open_peer(&k, i, dual ? i % 4 >= 2 : listen.family == CAIRN_ADDRESS_IPV6);
    }
    cairn_udp_port_set_receiving(k.port, true);
    return k;
}

static void kit_close(kit *k) {
    cairn_udp_port_close(k->port);
    for (uint32_t i = 0; i < PEERS; ++i) {
        close(k->fds[i]);
    }
}

static void send_byte(const kit *k, uint32_t peer, uint8_t byte) {
    cairn_address to = {.family = k->peers[peer].family, .port = k->address.port};
    struct sockaddr_storage name;
    memcpy(to.ip,
        to.family == CAIRN_ADDRESS_IPV6 ? (const uint8_t[16]){[15] = 1}
                                        : (const uint8_t[16]){127, 0, 0, 1},
        sizeof to.ip);
    const socklen_t size = cairn_address_to_sockaddr(&to, &name);
    assert_int_equal(sendto(k->fds[peer], &byte, 1, 0, (const struct sockaddr *)&name, size), 1);
}

// The socket that has exactly one datagram: 0 or 1; -1: none has.
static int find_datagram(const kit *k) {
    uint8_t byte;
    int found = -1;
    for (int i = 0; i < (int)k->sockets.count; ++i) {
        while (recv(k->sockets.fds[i], &byte, 1, MSG_DONTWAIT) == 1) {
            assert_int_equal(found, -1);
            found = i;
        }
    }
    return found;
}

// Peers with an even number are clients, and so are others, as many as are asked for: most of them
// nearly have the address of a peer with an odd number.
static void set_clients(kit *k, uint32_t count) {
    cairn_address clients[CAIRN_CLIENTS_MAX];
    for (uint32_t i = 0; i < count; ++i) {
        if (2 * i < PEERS) {
            clients[i] = k->peers[2 * i];
            continue;
        }
        const uint32_t size = k->peers[0].family == CAIRN_ADDRESS_IPV6 ? 16 : 4;
        cairn_address *near = &clients[i];
        *near = k->peers[2 * (i % (PEERS / 2)) + 1];
        if (cairn_random_below(&k->random, 2) == 0) {
            near->port ^= (uint16_t)(1u << cairn_random_below(&k->random, 16));
        }
        near->ip[cairn_random_below(&k->random, size)] ^=
            (uint8_t)(1u << cairn_random_below(&k->random, 8));
    }
    cairn_udp_port_set_clients(k->port, clients, count);
}

TEST("datagrams of clients come to the first socket, those of all others to the second") {
    static const char *const addresses[] = {"127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"};
    static const uint32_t counts[] = {0, 1, 2, 7, 8, 9, 16, 17, 24, 100, 333, 1023, 1024, 3, 0};
    for (uint32_t a = 0; a < sizeof addresses / sizeof *addresses; ++a) {
        kit k = kit_open(addresses[a]);
        assert_int_equal(k.sockets.count, 2);
        assert_true(k.sockets.apart);
        for (uint32_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
            set_clients(&k, counts[c]);
            for (uint32_t i = 0; i < PEERS; ++i) {
                send_byte(&k, i, 0);
                const bool client = i % 2 == 0 && i / 2 < counts[c];
                assert_int_equal(find_datagram(&k), client ? 0 : 1);
            }
        }
        kit_close(&k);
    }
}

// The address of an interface of this machine that has one; false: none has.
static bool find_link_local(cairn_address *out) {
    struct ifaddrs *all;
    bool found = false;
    assert_int_equal(getifaddrs(&all), 0);
    for (const struct ifaddrs *at = all; at != NULL && !found; at = at->ifa_next) {
        if (at->ifa_addr != NULL && at->ifa_addr->sa_family == AF_INET6) {
            *out = cairn_address_of_sockaddr(at->ifa_addr);
            found = out->ip[0] == 0xfe && (out->ip[1] & 0xc0) == 0x80;
        }
    }
    freeifaddrs(all);
    return found;
}

TEST("a client on the same link is known by its address, which names the interface") {
    cairn_address link;
    if (!find_link_local(&link)) {
        print_message("skipped: no interface of this machine has a link-local address\n");
        skip();
    }
    kit k = kit_open("[::]:0");
    struct sockaddr_storage name;
    const socklen_t size = cairn_address_to_sockaddr(&link, &name);
    close(k.fds[0]);
    k.fds[0] = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(k.fds[0], (const struct sockaddr *)&name, size), 0);
    link.port = k.address.port;
    for (int known = 0; known < 2; ++known) {
        struct sockaddr_storage from;
        socklen_t from_size = sizeof from;
        uint8_t byte = 1;
        cairn_address_to_sockaddr(&link, &name);
        assert_int_equal(sendto(k.fds[0], &byte, 1, 0, (const struct sockaddr *)&name, size), 1);
        assert_int_equal(recvfrom(k.sockets.fds[1 - known], &byte, 1, MSG_DONTWAIT,
                             (struct sockaddr *)&from, &from_size),
            1);
        k.peers[0] = cairn_address_of_sockaddr((const struct sockaddr *)&from);
        set_clients(&k, 1);
    }
    kit_close(&k);
}

static void take_byte(void *user, const cairn_udp_received *received) {
    kit *k = user;
    assert_int_equal(received->size, 1);
    k->taken += 1;
    k->of_clients += received->bytes[0];
}

static uint32_t take(kit *k, uint32_t most) {
    for (uint32_t i = 0; i < k->sockets.count; ++i) {
        cairn_udp_port_set_readable(k->port, i);
    }
    return cairn_udp_port_take(k->port, most, take_byte, k);
}

static cairn_uv_statistics statistics_of(const kit *k) {
    cairn_uv_statistics statistics = {0};
    cairn_udp_port_statistics(k->port, &statistics);
    return statistics;
}

TEST("unknown peers that fill their buffer displace nothing of clients, and are counted") {
    kit k = kit_open("127.0.0.1:0");
    set_clients(&k, PEERS / 2);
    uint32_t sent = 0;
    while (statistics_of(&k).unknown_dropped < 100 && sent < 200000) {
        send_byte(&k, 2 * (sent % (PEERS / 2)) + 1, 0);
        sent += 1;
    }
    assert_int_equal(statistics_of(&k).unknown_dropped, 100);
    assert_int_equal(statistics_of(&k).buffer_dropped, 0);
    for (uint32_t i = 0; i < 1000; ++i) {
        send_byte(&k, 2 * (i % (PEERS / 2)), 1);
    }
    while (take(&k, 100) > 0) {}
    assert_int_equal(k.of_clients, 1000);
    assert_int_equal(k.taken, sent - 100 + 1000);
    assert_int_equal(statistics_of(&k).unknown_dropped, 100);
    assert_int_equal(statistics_of(&k).buffer_dropped, 0);
    kit_close(&k);
}

TEST("clients are served first, and a quarter of each turn is left to unknown peers") {
    kit k = kit_open("127.0.0.1:0");
    set_clients(&k, PEERS / 2);
    for (uint32_t i = 0; i < 200; ++i) {
        send_byte(&k, 1, 0);
    }
    send_byte(&k, 0, 1);
    assert_int_equal(take(&k, 1), 1); // that of the client, though it was sent last
    assert_int_equal(k.of_clients, 1);
    for (uint32_t i = 0; i < 200; ++i) {
        send_byte(&k, 0, 1);
    }
    assert_int_equal(take(&k, 100), 100);
    assert_int_equal(k.of_clients, 1 + 75);
    assert_true(cairn_udp_port_has_more(k.port));
    assert_int_equal(take(&k, 1000), 300);
    assert_int_equal(k.of_clients, 201);
    assert_int_equal(take(&k, 1000), 0);
    assert_false(cairn_udp_port_has_more(k.port));
    kit_close(&k);
}

TEST("one socket serves all where the system refuses to select, and shares its address with none") {
    refuses_selector = true;
    kit k = kit_open("127.0.0.1:0");
    refuses_selector = false;
    assert_int_equal(k.sockets.count, 1);
    assert_false(k.sockets.apart);
    set_clients(&k, 1);
    send_byte(&k, 0, 1);
    send_byte(&k, 1, 0);
    assert_int_equal(take(&k, 100), 2);
    assert_int_equal(k.of_clients, 1);
    struct sockaddr_storage name;
    const socklen_t size = cairn_address_to_sockaddr(&k.address, &name);
    const int on = 1;
    const int other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(other, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), 0);
    assert_int_equal(bind(other, (const struct sockaddr *)&name, size), -1);
    close(other);
    kit_close(&k);
}

TEST("an address with two sockets is refused to another server") {
    kit k = kit_open("127.0.0.1:0");
    for (uint32_t count = 1; count < 3; ++count) {
        char error[CAIRN_UV_ERROR_SIZE];
        cairn_udp_port *other;
        const cairn_udp_port_config config = {.listen = &k.address, .socket_count = count};
        assert_false(cairn_udp_port_open(&config, &other, error));
        assert_string_equal(error, "bind: Address already in use");
    }
    kit_close(&k);
}

TEST("a program of the same user that binds beside a server is given nothing") {
    kit k = kit_open("127.0.0.1:0");
    struct sockaddr_storage name;
    const socklen_t size = cairn_address_to_sockaddr(&k.address, &name);
    const int on = 1;
    uint8_t byte;
    const int other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(other, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), 0);
    assert_int_equal(bind(other, (const struct sockaddr *)&name, size), 0);
    set_clients(&k, PEERS / 2);
    for (uint32_t i = 0; i < PEERS; ++i) {
        send_byte(&k, i, i % 2 == 0 ? 1 : 0);
    }
    assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), -1);
    assert_int_equal(take(&k, 100), PEERS);
    close(other);
    kit_close(&k);
}

TEST("only the process that receives says who is a client") {
    kit old = kit_open("127.0.0.1:0");
    kit next = old;
    char error[CAIRN_UV_ERROR_SIZE];
    cairn_uv_sockets sockets = old.sockets;
    for (uint32_t i = 0; i < sockets.count; ++i) {
        sockets.fds[i] = dup(sockets.fds[i]);
    }
    const cairn_udp_port_config config = {.sockets = &sockets};
    assert_true(cairn_udp_port_open(&config, &next.port, error));
    next.sockets = cairn_udp_port_sockets(next.port);
    assert_true(next.sockets.apart);
    set_clients(&old, PEERS / 2);
    set_clients(&next, 0); // not yet
    send_byte(&old, 0, 1);
    assert_int_equal(find_datagram(&old), 0);
    cairn_udp_port_set_receiving(old.port, false);
    cairn_udp_port_set_receiving(next.port, true);
    set_clients(&old, 0); // not any more
    send_byte(&old, 0, 1);
    assert_int_equal(find_datagram(&old), 0);
    cairn_udp_port_close(old.port);
    set_clients(&next, 1);
    send_byte(&next, 0, 1);
    send_byte(&next, 2, 0);
    assert_int_equal(take(&next, 1), 1);
    assert_int_equal(next.of_clients, 1);
    assert_int_equal(take(&next, 100), 1);
    kit_close(&next);
}
