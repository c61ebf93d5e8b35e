// SPDX-License-Identifier: MIT
#pragma once

// A reorder buffer: records of confirmed ticks that arrived before a lost one, as they arrived,
// because their commands are the difference to those of the tick before. They are kept until the
// lost one arrives, so that the server need not send them again.

#include <stdbool.h>
#include <stdint.h>

#include "schema/tick_payload.h"
#include <cairn/status.h>

#define CAIRN_EARLY_TICKS_MAX 128
#define CAIRN_EARLY_BYTES_MAX (64 * 1024) // of their commands

typedef struct cairn_early_tick {
    bool held;
    uint32_t place; // of its commands in `bytes`
    cairn_tick_record record;
} cairn_early_tick;

typedef struct cairn_early_ticks {
    cairn_early_tick ticks[CAIRN_EARLY_TICKS_MAX]; // by tick modulo size
    uint8_t *bytes;                                // owned
    uint32_t used;
} cairn_early_ticks;

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_early_ticks_create(cairn_early_ticks *early);
void cairn_early_ticks_destroy(cairn_early_ticks *early);
void cairn_early_ticks_clear(cairn_early_ticks *early);
// `next` is the tick that is missing. Keeps the record of a tick in [next, next +
// CAIRN_EARLY_TICKS_MAX). If a record of this tick was kept before, it stays. False: the tick is
// outside of this range, or the memory for records is full.
bool cairn_early_ticks_put(
    cairn_early_ticks *early, uint64_t next, const cairn_tick_record *record);
// NULL: the tick is not held. Valid until the next call of another function.
const cairn_tick_record *cairn_early_ticks_find(const cairn_early_ticks *early, uint64_t tick);
// The tick was confirmed: frees it and those before it.
void cairn_early_ticks_drop(cairn_early_ticks *early, uint64_t tick);
// Bit i: tick next + 1 + i is held.
uint64_t cairn_early_ticks_mask(const cairn_early_ticks *early, uint64_t next);
