// SPDX-License-Identifier: MIT
#pragma once

// Saved states of consecutive ticks in memory allocated once. Each takes the bytes it needs, so a
// larger world has fewer of them; the oldest are overwritten.

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
    cairn_state_span *spans; // owned, by tick modulo tick_capacity
    uint32_t tick_capacity;
    uint64_t first; // ticks [first, end) are held
    uint64_t end;
} cairn_state_ring;

// Room for `tick_capacity` states in `size` bytes; size 0: none are kept. CAIRN_OUT_OF_MEMORY;
// destroy is allowed after a failure.
cairn_status cairn_state_ring_create(cairn_state_ring *ring, uint32_t tick_capacity, size_t size);
void cairn_state_ring_destroy(cairn_state_ring *ring);
void cairn_state_ring_clear(cairn_state_ring *ring);

// Saves the world under its tick. If that does not follow the newest tick held, all are dropped
// first. Older states are overwritten, but none from `keep_from` on. False, and nothing is saved:
// they would have to be, or the world is larger than all the memory.
bool cairn_state_ring_put(cairn_state_ring *ring, const cairn_world *world, uint64_t keep_from);
// NULL: it is not held. Valid until the next put.
const uint8_t *cairn_state_ring_find(const cairn_state_ring *ring, uint64_t tick, size_t *size);
// Drops the states of `tick` and later.
void cairn_state_ring_drop_from(cairn_state_ring *ring, uint64_t tick);
