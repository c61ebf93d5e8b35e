// SPDX-License-Identifier: MIT
#pragma once

// What the server's world was after each of its newest ticks: what clients are held against.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "schema/messages.h"
#include "sim/sim.h"

#define CAIRN_PAST_TICKS 4096

typedef struct cairn_past_tick {
    uint64_t tick; // UINT64_MAX: nothing
    cairn_hash128 root;
    uint32_t body_count;
    cairn_wire_body *bodies; // not owned by the tick
} cairn_past_tick;

typedef struct cairn_past {
    uint32_t body_capacity;
    cairn_past_tick ticks[CAIRN_PAST_TICKS]; // by tick modulo size
    cairn_wire_body *bodies;
    cairn_body_state *scratch;
} cairn_past;

// NULL when memory is short.
cairn_past *cairn_past_create(uint32_t body_capacity);
void cairn_past_destroy(cairn_past *past);
// Nothing is remembered: another server begins.
void cairn_past_forget(cairn_past *past);
void cairn_past_note(cairn_past *past, const cairn_world *world);
// NULL when the tick is not remembered.
const cairn_past_tick *cairn_past_find(const cairn_past *past, uint64_t tick);
// Bit for bit.
bool cairn_past_bodies_equal(
    const cairn_past_tick *tick, const cairn_wire_body *bodies, uint32_t body_count);
