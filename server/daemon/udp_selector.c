// SPDX-License-Identifier: MIT
// For SO_ATTACH_REUSEPORT_CBPF.
#define _GNU_SOURCE
#include "server/daemon/udp_selector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#ifdef __linux__
#include <linux/filter.h>
#endif

#include "base/assert.h"

cairn_udp_selector cairn_udp_selector_of(const uint8_t entropy[20]) {
    cairn_udp_selector selector;
    _Static_assert(sizeof selector.factors == 20, "the entropy is enough");
    memcpy(selector.factors, entropy, sizeof selector.factors);
    for (uint32_t i = 0; i < 5; ++i) {
        selector.factors[i] |= 1;
    }
    return selector;
}

#ifdef SO_ATTACH_REUSEPORT_CBPF

enum { OF_CLIENTS = 0, OF_UNKNOWN_PEERS = 1 }; // the sockets, in the order in which they were bound

// Hashes that are compared one after the other: two instructions for each client in all.
#define LEAF_SIZE 8
#define HASH_SIZE 40 // instructions before the search, at most
#define PROGRAM_SIZE (HASH_SIZE + 2 + 2 * CAIRN_CLIENTS_MAX)
_Static_assert(PROGRAM_SIZE <= BPF_MAXINSNS, "the kernel takes a program for all clients");

// Where the kernel finds the headers; the program's own offsets begin behind that of UDP.
#define IP_HEADER ((uint32_t)SKF_NET_OFF)
#define IPV4_SOURCE (IP_HEADER + 12)
#define IPV6_NEXT_HEADER (IP_HEADER + 6)
#define IPV6_SOURCE (IP_HEADER + 8)
#define IPV6_HEADER_SIZE 40
#define NEXT_IS_UDP 17

typedef struct program {
    uint16_t size;
    struct sock_filter code[PROGRAM_SIZE];
} program;

static void add(program *p, uint16_t operation, uint32_t operand, uint8_t if_true, uint8_t if_not) {
    CAIRN_ASSERT(p->size < PROGRAM_SIZE);
    p->code[p->size++] = (struct sock_filter){operation, if_true, if_not, operand};
}

// Adds a word of the header, times a factor, to X.
static void add_word(program *p, uint32_t at, uint32_t factor) {
    add(p, BPF_LD | BPF_W | BPF_ABS, at, 0, 0);
    add(p, BPF_ALU | BPF_MUL | BPF_K, factor, 0, 0);
    add(p, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
    add(p, BPF_MISC | BPF_TAX, 0, 0, 0);
}

// Leaves the hash of the address that the datagram comes from in A, as hash_of has it. A header of
// IPv6 with extensions is that of no client.
static void add_hash(program *p, const uint32_t factors[5]) {
    add(p, BPF_LD | BPF_B | BPF_ABS, IP_HEADER, 0, 0);
    add(p, BPF_ALU | BPF_RSH | BPF_K, 4, 0, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, 6, 8, 0);
    // IPv4, also at a socket of IPv6: the length of the header, then the port.
    add(p, BPF_LDX | BPF_B | BPF_MSH, IP_HEADER, 0, 0);
    add(p, BPF_LD | BPF_H | BPF_IND, IP_HEADER, 0, 0);
    add(p, BPF_ALU | BPF_MUL | BPF_K, factors[4], 0, 0);
    add(p, BPF_MISC | BPF_TAX, 0, 0, 0);
    add(p, BPF_LD | BPF_W | BPF_ABS, IPV4_SOURCE, 0, 0);
    add(p, BPF_ALU | BPF_MUL | BPF_K, factors[0], 0, 0);
    add(p, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
    add(p, BPF_JMP | BPF_JA, 6 + 4 * 4, 0, 0);
    add(p, BPF_LD | BPF_B | BPF_ABS, IPV6_NEXT_HEADER, 0, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, NEXT_IS_UDP, 1, 0);
    add(p, BPF_RET | BPF_K, OF_UNKNOWN_PEERS, 0, 0);
    add(p, BPF_LD | BPF_H | BPF_ABS, IP_HEADER + IPV6_HEADER_SIZE, 0, 0);
    add(p, BPF_ALU | BPF_MUL | BPF_K, factors[4], 0, 0);
    add(p, BPF_MISC | BPF_TAX, 0, 0, 0);
    for (uint32_t i = 0; i < 4; ++i) {
        add_word(p, IPV6_SOURCE + 4 * i, factors[i]);
    }
    add(p, BPF_ALU | BPF_RSH | BPF_K, 1, 0, 0); // the kernel loads larger operands by a second one
    CAIRN_ASSERT(p->size <= HASH_SIZE);
}

static uint32_t word_of(const cairn_address *address, uint32_t i) {
    const uint8_t *ip = address->ip + 4 * (size_t)i;
    return (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3];
}

static uint32_t hash_of(const cairn_udp_selector *selector, const cairn_address *address) {
    const bool ipv6 = address->family == CAIRN_ADDRESS_IPV6;
    const bool link_local = ipv6 && address->ip[0] == 0xfe && (address->ip[1] & 0xc0) == 0x80;
    uint32_t sum = address->port * selector->factors[4];
    for (uint32_t i = 0; i < (ipv6 ? 4 : 1); ++i) {
        // There an address has its interface's index, which is not in the header.
        sum += link_local && i == 1 ? 0 : word_of(address, i) * selector->factors[i];
    }
    return sum >> 1;
}

static void add_leaf(program *p, const uint32_t *hashes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        add(p, BPF_JMP | BPF_JEQ | BPF_K, hashes[i], (uint8_t)(count - i), 0);
    }
    add(p, BPF_RET | BPF_K, OF_UNKNOWN_PEERS, 0, 0);
    add(p, BPF_RET | BPF_K, OF_CLIENTS, 0, 0);
}

// Finds A among the hashes, which are sorted. Ten levels at most.
static void add_search(program *p, const uint32_t *hashes, uint32_t count) {
    if (count <= LEAF_SIZE) {
        add_leaf(p, hashes, count);
        return;
    }
    const uint32_t half = count / 2;
    add(p, BPF_JMP | BPF_JGE | BPF_K, hashes[half], 0, 1);
    const uint32_t jump = p->size;
    add(p, BPF_JMP | BPF_JA, 0, 0, 0); // a comparison cannot jump so far
    add_search(p, hashes, half);
    p->code[jump].k = p->size - (jump + 1u);
    add_search(p, hashes + half, count - half);
}

static int compare(const void *a, const void *b) {
    uint32_t first, second;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return (first > second) - (first < second);
}

bool cairn_udp_selector_set(const cairn_udp_selector *selector, int socket_fd,
    const cairn_address *clients, uint32_t client_count) {
    uint32_t hashes[CAIRN_CLIENTS_MAX];
    program made = {0};
    CAIRN_ASSERT(client_count <= CAIRN_CLIENTS_MAX);
    for (uint32_t i = 0; i < client_count; ++i) {
        hashes[i] = hash_of(selector, &clients[i]);
    }
    qsort(hashes, client_count, sizeof *hashes, compare);
    add_hash(&made, selector->factors);
    add_search(&made, hashes, client_count);
    const struct sock_fprog given = {.len = made.size, .filter = made.code};
    return setsockopt(socket_fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &given, sizeof given) == 0;
}

#else

bool cairn_udp_selector_set(const cairn_udp_selector *selector, int socket_fd,
    const cairn_address *clients, uint32_t client_count) {
    (void)selector;
    (void)socket_fd;
    (void)clients;
    (void)client_count;
    errno = ENOTSUP;
    return false;
}

#endif
