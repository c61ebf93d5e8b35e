// SPDX-License-Identifier: MIT
#pragma once

// What the server's world was after each of its newest ticks: what clients are held against.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "schema/messages.h"
#include <cairn/sim.h>

#define CAIRN_WITNESS_TICKS 4096
// Bodies are remembered for as many of these ticks as this has room for, bytes.
#define CAIRN_WITNESS_BYTES_MAX (64u << 20)

typedef struct cairn_witness_tick {
    uint64_t tick; // UINT64_MAX: nothing
    cairn_hash128 root;
    bool whole; // the bodies are remembered, too
    uint32_t body_count;
    cairn_wire_body *bodies; // not owned by the tick
} cairn_witness_tick;

typedef struct cairn_witness {
    uint32_t body_capacity;
    cairn_witness_tick ticks[CAIRN_WITNESS_TICKS]; // by tick modulo size
    uint32_t whole_ticks;                          // that there is room for
    cairn_wire_body *bodies;                       // of tick t: by t modulo whole_ticks
    cairn_body_state *scratch;
} cairn_witness;

// NULL when memory is short.
cairn_witness *cairn_witness_create(uint32_t body_capacity);
void cairn_witness_destroy(cairn_witness *witness);
// Nothing is remembered: another server begins.
void cairn_witness_forget(cairn_witness *witness);
void cairn_witness_note(cairn_witness *witness, const cairn_world *world);
// A tick that nobody looked at: its root alone.
void cairn_witness_note_root(cairn_witness *witness, uint64_t tick, cairn_hash128 root);
// NULL when the tick is not remembered.
const cairn_witness_tick *cairn_witness_find(const cairn_witness *witness, uint64_t tick);
// Bit for bit. The tick must be whole.
bool cairn_witness_bodies_equal(
    const cairn_witness_tick *tick, const cairn_wire_body *bodies, uint32_t body_count);
