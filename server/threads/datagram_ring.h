// SPDX-License-Identifier: MIT
#pragma once

// Datagrams on their way from one thread to another: a bounded queue in fixed memory, without
// locks. One thread adds, one takes.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/types.h>

// Of the datagrams and their addresses: some 700 of the longest, some 8000 inputs.
#define CAIRN_DATAGRAM_RING_BYTES ((size_t)1 << 20)
// One byte more than a datagram may have: what was longer is still too long.
#define CAIRN_DATAGRAM_RING_SIZE_MAX (CAIRN_DATAGRAM_SIZE_MAX + 1)

typedef struct cairn_datagram_ring cairn_datagram_ring;

typedef struct cairn_datagram {
    cairn_address address; // of its sender or receiver
    const uint8_t *bytes;  // in the ring
    size_t size;
} cairn_datagram;

cairn_datagram_ring *cairn_datagram_ring_create(void);       // NULL: out of memory
void cairn_datagram_ring_destroy(cairn_datagram_ring *ring); // NULL is allowed

// The thread that adds. At most CAIRN_DATAGRAM_RING_SIZE_MAX bytes; false: there is no room for
// them.
bool cairn_datagram_ring_add(
    cairn_datagram_ring *ring, const cairn_address *address, const uint8_t *bytes, size_t size);

// The thread that takes. The next datagram, whose bytes stay until they are released; false: none.
bool cairn_datagram_ring_take(cairn_datagram_ring *ring, cairn_datagram *out);
// Whether there is one to take.
bool cairn_datagram_ring_has_next(cairn_datagram_ring *ring);
// Gives back the room of all that were taken.
void cairn_datagram_ring_release(cairn_datagram_ring *ring);

// Any of the two: whether all that it knows to have been added was released.
bool cairn_datagram_ring_is_empty(const cairn_datagram_ring *ring);
