// SPDX-License-Identifier: MIT
#pragma once

// Which of two UDP sockets at one address (SO_REUSEPORT) gets a datagram: the first has those of
// connected clients, the second those of all other peers. Each socket has a buffer of its own, so
// what unknown peers send while the server does not run displaces nothing of the clients, however
// well it is forged. The kernel decides, by a program in classic BPF that needs no privilege and
// looks at the address that a datagram comes from. The server writes a new program when clients
// come, go or move. An old program does no harm, because the server reads both sockets: a client
// that the program does not know shares a buffer with unknown peers.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/types.h>

// Addresses are compared by a hash of 31 bits. Nobody who does not know these numbers can choose an
// address that is taken for a client's.
typedef struct cairn_udp_selector {
    uint32_t factors[5]; // odd; of the four words of an IP address, and of the port
} cairn_udp_selector;

cairn_udp_selector cairn_udp_selector_of(const uint8_t entropy[20]);
// For all datagrams that come from now on; `socket_fd` is one of the two. False: errno says why the
// system keeps the program that it has.
bool cairn_udp_selector_set(const cairn_udp_selector *selector, int socket_fd,
    const cairn_address *clients, uint32_t client_count);
