// SPDX-License-Identifier: MIT
#include "base/line_ring.h"

#include <string.h>

#include "base/assert.h"

cairn_line_ring cairn_line_ring_of(char *bytes, size_t capacity) {
    CAIRN_ASSERT(bytes != NULL && capacity > 0);
    return (cairn_line_ring){.bytes = bytes, .capacity = capacity};
}

bool cairn_line_ring_put(cairn_line_ring *ring, const char *line, size_t size) {
    CAIRN_ASSERT(size > 0 && line[size - 1] == '\n');
    if (ring->lost_waiting > 0 || size > ring->capacity - ring->size) {
        ring->lost += 1;
        ring->lost_waiting += 1;
        return false;
    }
    const size_t at = (ring->first + ring->size) % ring->capacity;
    const size_t end = size < ring->capacity - at ? size : ring->capacity - at;
    memcpy(ring->bytes + at, line, end);
    memcpy(ring->bytes, line + end, size - end);
    ring->size += size;
    return true;
}

size_t cairn_line_ring_take(cairn_line_ring *ring, char *out, size_t size_max) {
    const size_t end = ring->capacity - ring->first;
    size_t size = ring->size < end ? ring->size : end;
    size = size < size_max ? size : size_max;
    memcpy(out, ring->bytes + ring->first, size);
    ring->first = (ring->first + size) % ring->capacity;
    ring->size -= size;
    CAIRN_ASSERT(ring->first < ring->capacity);
    return size;
}

uint64_t cairn_line_ring_take_lost(cairn_line_ring *ring) {
    const uint64_t lines = ring->size == 0 ? ring->lost_waiting : 0;
    ring->lost_waiting -= lines;
    return lines;
}
