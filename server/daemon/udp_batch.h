// SPDX-License-Identifier: MIT
#pragma once

// Batches of datagrams from and to one UDP socket, with few system calls and in fixed memory.
//
// Datagrams in a row for one address, of which all but the last have one size, leave as one message
// that the system cuts (UDP_SEGMENT, Linux): a snapshot of four datagrams then costs less than two.
// What the system joined of datagrams that arrived in a row from one address (UDP_GRO) is cut here.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/types.h>

#define CAIRN_UDP_BATCH_MAX 64

typedef struct cairn_udp_receiver cairn_udp_receiver;
typedef struct cairn_udp_sender cairn_udp_sender;

typedef struct cairn_udp_received {
    cairn_address from;
    const uint8_t *bytes; // valid until the next receive
    size_t size;          // more than CAIRN_DATAGRAM_SIZE_MAX: it was longer, and may be cut off
} cairn_udp_received;

// Lets the system join datagrams on this socket, unless it refuses. NULL: out of memory. The socket
// stays the caller's.
cairn_udp_receiver *cairn_udp_receiver_create(int socket_fd);
void cairn_udp_receiver_destroy(cairn_udp_receiver *receiver); // NULL is allowed
// Receives what waits, without blocking, once cairn_udp_next has given all that came before
// (asserted). Returns how many messages came, of one or more datagrams each; -1: errno says why.
int cairn_udp_receive(cairn_udp_receiver *receiver);
// The next datagram of what was received. False: all were given.
bool cairn_udp_next(cairn_udp_receiver *receiver, cairn_udp_received *out);
bool cairn_udp_has_next(const cairn_udp_receiver *receiver);
uint64_t cairn_udp_receiver_joined(const cairn_udp_receiver *receiver); // datagrams that were cut

typedef struct cairn_udp_send_statistics {
    uint64_t waits;    // how often the socket's buffer was full
    uint64_t errors;   // datagrams that the system refused to send
    uint64_t messages; // that datagrams left in
} cairn_udp_send_statistics;

// `dual`: the socket is of IPv6 and takes IPv4 as well. NULL: out of memory.
cairn_udp_sender *cairn_udp_sender_create(int socket_fd, bool dual);
void cairn_udp_sender_destroy(cairn_udp_sender *sender); // NULL is allowed
// Where to write the next datagram of at most CAIRN_DATAGRAM_SIZE_MAX bytes; NULL: the batch is
// full.
uint8_t *cairn_udp_sender_room(cairn_udp_sender *sender);
// Adds what was written there.
void cairn_udp_sender_add(cairn_udp_sender *sender, const cairn_address *to, size_t size);
// Adds a datagram whose bytes stay where they are until the batch has left. False: it is full.
bool cairn_udp_sender_put(
    cairn_udp_sender *sender, const cairn_address *to, const uint8_t *bytes, size_t size);
// Sends the batch, and makes it empty. False: the socket takes no more now; what is left stays.
bool cairn_udp_sender_flush(cairn_udp_sender *sender);
const cairn_udp_send_statistics *cairn_udp_sender_statistics(const cairn_udp_sender *sender);
