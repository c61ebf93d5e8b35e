// SPDX-License-Identifier: MIT
#pragma once

// The server's world after each of its last ticks: the reference that clients are compared with.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "compress/quantised_body.h"
#include "schema/messages.h"
#include <cairn/sim.h>

#define CAIRN_ORACLE_TICKS 4096
// Bytes for the bodies of these ticks; the bodies of as many ticks as fit are kept.
#define CAIRN_ORACLE_BYTES_MAX (64u << 20)

typedef struct cairn_oracle_tick {
    uint64_t tick; // UINT64_MAX: empty
    cairn_hash128 root;
    bool whole; // the bodies are kept, not only the root
    uint32_t body_count;
    cairn_snapshot_body *bodies; // points into the oracle
} cairn_oracle_tick;

typedef struct cairn_oracle {
    uint32_t body_capacity;
    cairn_oracle_tick ticks[CAIRN_ORACLE_TICKS]; // by tick modulo size
    uint32_t whole_ticks;                        // whose bodies fit
    cairn_snapshot_body *bodies;                 // of tick t: by t modulo whole_ticks
    cairn_body_state *scratch;
} cairn_oracle;

// CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_oracle_create(uint32_t body_capacity, cairn_oracle **out);
void cairn_oracle_destroy(cairn_oracle *oracle);
// Forgets every tick: a new server starts.
void cairn_oracle_forget(cairn_oracle *oracle);
void cairn_oracle_record(cairn_oracle *oracle, const cairn_world *world);
// Records only the root of a tick whose world the oracle did not receive.
void cairn_oracle_record_root(cairn_oracle *oracle, uint64_t tick, cairn_hash128 root);
// NULL if the tick is not recorded.
const cairn_oracle_tick *cairn_oracle_find(const cairn_oracle *oracle, uint64_t tick);
// NULL: it is not one of these.
const cairn_snapshot_body *cairn_oracle_find_body(
    const cairn_snapshot_body *bodies, uint32_t count, cairn_body_id body);
// The body at that tick, which must be whole; NULL: it did not exist.
const cairn_snapshot_body *cairn_oracle_body(const cairn_oracle_tick *tick, cairn_body_id body);
// Whether a client holds what snapshots of that tick carry of this body.
bool cairn_oracle_body_equal(const cairn_oracle_tick *tick, const cairn_quantisation *quantisation,
    const cairn_snapshot_body *body);
// Whether a client holds what snapshots of that tick carry, with poses rounded so. The tick must be
// whole.
bool cairn_oracle_bodies_equal(const cairn_oracle_tick *tick,
    const cairn_quantisation *quantisation, const cairn_snapshot_body *bodies, uint32_t body_count);
