// SPDX-License-Identifier: MIT
#include "server/threads/datagram_ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"

#define CACHE_LINE 64

// Of a datagram in the ring; its bytes follow.
typedef struct record {
    cairn_address address;
    uint32_t size;
} record;

#define RECORD_ALIGNMENT 8
#define RECORD_SIZE(size)                                                                          \
    ((sizeof(record) + (size) + RECORD_ALIGNMENT - 1) / RECORD_ALIGNMENT * RECORD_ALIGNMENT)

// Places count bytes since the beginning and go round at CAIRN_DATAGRAM_RING_BYTES. A record that
// begins before that end is written on beyond it, and the next one begins as far after 0: it is
// never in two pieces. Each thread writes one line of the cache, and looks at the other one's place
// only when what it saw of it last is not enough.
struct cairn_datagram_ring {
    _Alignas(CACHE_LINE) atomic_size_t added;
    size_t released_seen;
    _Alignas(CACHE_LINE) atomic_size_t released;
    size_t added_seen;
    size_t taken;
    _Alignas(CACHE_LINE) uint8_t
        bytes[CAIRN_DATAGRAM_RING_BYTES + RECORD_SIZE(CAIRN_DATAGRAM_RING_SIZE_MAX) + CACHE_LINE];
};
_Static_assert((CAIRN_DATAGRAM_RING_BYTES & (CAIRN_DATAGRAM_RING_BYTES - 1)) == 0, "places wrap");

cairn_datagram_ring *cairn_datagram_ring_create(void) {
    cairn_datagram_ring *ring = aligned_alloc(CACHE_LINE, sizeof *ring);
    if (ring != NULL) {
        atomic_init(&ring->added, 0);
        atomic_init(&ring->released, 0);
        ring->released_seen = ring->added_seen = ring->taken = 0;
    }
    return ring;
}

void cairn_datagram_ring_destroy(cairn_datagram_ring *ring) {
    free(ring);
}

static uint8_t *at_place(cairn_datagram_ring *ring, size_t place) {
    return ring->bytes + (place & (CAIRN_DATAGRAM_RING_BYTES - 1));
}

bool cairn_datagram_ring_add(
    cairn_datagram_ring *ring, const cairn_address *address, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(size <= CAIRN_DATAGRAM_RING_SIZE_MAX);
    const size_t added = atomic_load_explicit(&ring->added, memory_order_relaxed);
    const size_t after = added + RECORD_SIZE(size);
    if (after - ring->released_seen > CAIRN_DATAGRAM_RING_BYTES) {
        ring->released_seen = atomic_load_explicit(&ring->released, memory_order_acquire);
        if (after - ring->released_seen > CAIRN_DATAGRAM_RING_BYTES) {
            return false;
        }
    }
    const record head = {.address = *address, .size = (uint32_t)size};
    uint8_t *at = at_place(ring, added);
    memcpy(at, &head, sizeof head);
    memcpy(at + sizeof head, bytes, size);
    atomic_store_explicit(&ring->added, after, memory_order_release);
    return true;
}

bool cairn_datagram_ring_has_next(cairn_datagram_ring *ring) {
    if (ring->taken == ring->added_seen) {
        ring->added_seen = atomic_load_explicit(&ring->added, memory_order_acquire);
    }
    return ring->taken != ring->added_seen;
}

bool cairn_datagram_ring_take(cairn_datagram_ring *ring, cairn_datagram *out) {
    if (!cairn_datagram_ring_has_next(ring)) {
        return false;
    }
    record head;
    const uint8_t *at = at_place(ring, ring->taken);
    memcpy(&head, at, sizeof head);
    CAIRN_ASSERT(head.size <= CAIRN_DATAGRAM_RING_SIZE_MAX);
    *out = (cairn_datagram){.address = head.address, .bytes = at + sizeof head, .size = head.size};
    ring->taken += RECORD_SIZE((size_t)head.size);
    return true;
}

void cairn_datagram_ring_release(cairn_datagram_ring *ring) {
    atomic_store_explicit(&ring->released, ring->taken, memory_order_release);
}

bool cairn_datagram_ring_is_empty(const cairn_datagram_ring *ring) {
    const size_t released = atomic_load_explicit(&ring->released, memory_order_acquire);
    return atomic_load_explicit(&ring->added, memory_order_acquire) == released;
}
