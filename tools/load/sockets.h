// SPDX-License-Identifier: MIT
#pragma once

// One UDP socket for each client, as a server meets its players, and one wait for all of them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/types.h>

#define LOAD_BATCH 16
// One byte more than a datagram may have: a longer one is cut, and is still too long.
#define LOAD_DATAGRAM_SIZE (CAIRN_DATAGRAM_SIZE_MAX + 1)

typedef struct load_sockets load_sockets;

typedef struct load_datagram {
    const uint8_t *bytes; // valid until the next call of receive
    size_t size;
    uint64_t stamp_ns; // when the system received it, by the wall clock: it does not depend on when
                       // this process ran
} load_datagram;

// False: errno says why, and *out is NULL.
bool load_sockets_create(uint32_t count, load_sockets **out);
void load_sockets_destroy(load_sockets *sockets); // NULL is allowed
// A new socket of client `i`, with a port of its own. False: errno says why.
bool load_sockets_open(load_sockets *sockets, uint32_t i, const cairn_address *server);
// Sends to the server of the socket. False: the datagram is lost.
bool load_sockets_send(load_sockets *sockets, uint32_t i, const uint8_t *bytes, size_t size);
// Sleeps for `timeout_ns`, a millisecond at most. Writes clients that have something to read;
// returns how many.
uint32_t load_sockets_wait(
    load_sockets *sockets, uint64_t timeout_ns, uint32_t *ready, uint32_t capacity);
uint32_t load_sockets_receive(load_sockets *sockets, uint32_t i, load_datagram out[LOAD_BATCH]);
