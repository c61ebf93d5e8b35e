// SPDX-License-Identifier: MIT
#pragma once

// Clients that reach the server by WebSockets. Each message of a socket is one datagram, for the
// server from an address of the family CAIRN_ADDRESS_STREAM that no other socket ever has; what the
// server sends to this address leaves as messages of the socket.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/web/http.h"
#include <cairn/status.h>

struct cairn_datagram_ring;

// Messages that one socket may send in a second, on average and at once.
#define CAIRN_PEER_RATE_HZ 1000
#define CAIRN_PEER_BURST 1000

typedef struct cairn_peers cairn_peers;
typedef struct cairn_peer cairn_peer;

typedef struct cairn_peers_statistics {
    uint64_t received;         // messages
    uint64_t received_dropped; // of these: the server did not take them in time
    uint64_t sent;
    uint64_t malformed;   // not binary, or larger than a datagram
    uint64_t dropped;     // datagrams that a full queue did not take
    uint64_t unknown;     // datagrams to a socket that is gone
    uint64_t closed_rate; // sockets that sent too many messages
    uint64_t closed_slow; // that did not take what they were sent
    uint64_t closed_idle; // to which the server had nothing to say: without a session
} cairn_peers_statistics;

// `received` outlives the peers. `number`: peers have higher ones, of 48 bits; sessions of the
// process before, which were handed over, have lower ones. CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_peers_create(
    struct cairn_datagram_ring *received, uint32_t peers_max, uint64_t number, cairn_peers **out);
void cairn_peers_destroy(cairn_peers *peers); // NULL is allowed

// NULL: out of memory.
cairn_peer *cairn_peers_open(
    cairn_peers *peers, cairn_http_socket *socket, const cairn_address *from, uint64_t now_ns);
void cairn_peers_close(cairn_peers *peers, cairn_peer *peer);
// Puts a message on its way to the server. False: there are too many.
bool cairn_peers_receive(
    cairn_peers *peers, cairn_peer *peer, const uint8_t *bytes, size_t size, uint64_t now_ns);
void cairn_peers_note_malformed(cairn_peers *peers);
// Queues a datagram of the server.
void cairn_peers_send(
    cairn_peers *peers, const cairn_address *to, const uint8_t *bytes, size_t size);
// As `next` of cairn_http_host.
size_t cairn_peers_next(cairn_peers *peers, cairn_peer *peer, uint8_t **bytes);
// Asked each few seconds. False: the socket is slow, or has no session.
bool cairn_peers_go_on(cairn_peers *peers, cairn_peer *peer);

uint64_t cairn_peers_waiting(const cairn_peers *peers); // bytes of datagrams in all queues
const cairn_peers_statistics *cairn_peers_statistics_read(const cairn_peers *peers);
