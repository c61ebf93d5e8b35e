// SPDX-License-Identifier: MIT
#include "client_lib/simulate/state_ring.h"

#include <stdlib.h>

#include "base/assert.h"

// Saved states are read as words.
#define ALIGNMENT 16u

cairn_status cairn_state_ring_create(cairn_state_ring *ring, uint32_t tick_capacity, size_t size) {
    *ring = (cairn_state_ring){0};
    if (size == 0 || tick_capacity == 0) {
        return CAIRN_OK;
    }
    ring->bytes = malloc(size);
    ring->spans = malloc(tick_capacity * sizeof ring->spans[0]);
    if (ring->bytes == NULL || ring->spans == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    ring->size = size;
    ring->tick_capacity = tick_capacity;
    return CAIRN_OK;
}

void cairn_state_ring_destroy(cairn_state_ring *ring) {
    free(ring->bytes);
    free(ring->spans);
    *ring = (cairn_state_ring){0};
}

void cairn_state_ring_clear(cairn_state_ring *ring) {
    ring->first = 0;
    ring->end = 0;
}

static cairn_state_span *span_of(const cairn_state_ring *ring, uint64_t tick) {
    CAIRN_ASSERT(ring->tick_capacity > 0);
    return &ring->spans[tick % ring->tick_capacity];
}

// The offset of `size` free bytes after the newest state; SIZE_MAX: the oldest is in the way.
static size_t free_offset(const cairn_state_ring *ring, size_t size) {
    if (ring->first == ring->end) {
        return size <= ring->size ? 0 : SIZE_MAX;
    }
    CAIRN_ASSERT(ring->end > ring->first && ring->end - ring->first <= ring->tick_capacity);
    const cairn_state_span *newest = span_of(ring, ring->end - 1);
    const size_t oldest = span_of(ring, ring->first)->offset;
    const size_t after =
        (newest->offset + newest->size + ALIGNMENT - 1) / ALIGNMENT * (size_t)ALIGNMENT;
    if (newest->offset < oldest) {
        return after <= oldest && size <= oldest - after ? after : SIZE_MAX;
    }
    if (after <= ring->size && size <= ring->size - after) {
        return after;
    }
    return size <= oldest ? 0 : SIZE_MAX;
}

bool cairn_state_ring_put(cairn_state_ring *ring, const cairn_world *world, uint64_t keep_from) {
    const uint64_t tick = cairn_world_tick(world);
    const size_t size = cairn_world_save_size(world);
    if (ring->bytes == NULL || size > ring->size) {
        return false;
    }
    if (ring->end != tick) { // the first state, or the last tick was not saved
        ring->first = tick;
        ring->end = tick;
    }
    size_t offset = free_offset(ring, size);
    while (offset == SIZE_MAX || ring->end - ring->first == ring->tick_capacity) {
        if (ring->first >= keep_from) {
            return false;
        }
        ring->first++;
        offset = free_offset(ring, size);
    }
    const size_t written = cairn_world_save(world, ring->bytes + offset, size);
    CAIRN_ASSERT(written == size && offset + size <= ring->size);
    *span_of(ring, tick) = (cairn_state_span){.offset = offset, .size = size};
    ring->end = tick + 1;
    return true;
}

const uint8_t *cairn_state_ring_find(const cairn_state_ring *ring, uint64_t tick, size_t *size) {
    if (tick < ring->first || tick >= ring->end) {
        return NULL;
    }
    const cairn_state_span *span = span_of(ring, tick);
    *size = span->size;
    return ring->bytes + span->offset;
}

void cairn_state_ring_drop_from(cairn_state_ring *ring, uint64_t tick) {
    CAIRN_ASSERT(ring->first <= ring->end);
    ring->end = tick < ring->first ? ring->first : tick < ring->end ? tick : ring->end;
}
