// SPDX-License-Identifier: MIT
#pragma once

// Saved states of consecutive ticks in memory taken once. Each takes what it needs, so the more a
// world holds the fewer ticks are kept; the oldest make room.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_state_span {
    size_t offset;
    size_t size;
} cairn_state_span;

typedef struct cairn_state_ring {
    uint8_t *bytes; // owned; NULL when nothing is to be kept
    size_t size;
    cairn_state_span *places; // owned, by tick modulo tick_capacity
    uint32_t tick_capacity;
    uint64_t first; // ticks [first, end) are held
    uint64_t end;
} cairn_state_ring;

// Room for `tick_capacity` states in `size` bytes; size 0: none are kept. CAIRN_OUT_OF_MEMORY;
// destroy is allowed after a failure.
cairn_status cairn_state_ring_create(cairn_state_ring *ring, uint32_t tick_capacity, size_t size);
void cairn_state_ring_destroy(cairn_state_ring *ring);
void cairn_state_ring_clear(cairn_state_ring *ring);

// Saves the world as that of its tick; when it does not continue those held they all go. Older ones
// make room, but none from `keep_from` on: false when they would have to, or the world is larger
// than all the memory, and then nothing is saved.
bool cairn_state_ring_put(cairn_state_ring *ring, const cairn_world *world, uint64_t keep_from);
// NULL when it is not held; lasts until the next put.
const uint8_t *cairn_state_ring_find(const cairn_state_ring *ring, uint64_t tick, size_t *size);
// Those of `tick` and later are gone.
void cairn_state_ring_drop_from(cairn_state_ring *ring, uint64_t tick);
