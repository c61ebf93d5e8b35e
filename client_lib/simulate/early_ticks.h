// SPDX-License-Identifier: MIT
#pragma once

// A reorder buffer: confirmed ticks that arrived before a lost one. They are kept until the lost
// one arrives, so that the server need not send them again.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/simulate/command_pool.h"
#include <cairn/sim.h>

#define CAIRN_EARLY_TICKS_MAX 128
#define CAIRN_EARLY_COMMANDS_MAX 4096

typedef struct cairn_early_tick {
    bool held;
    uint64_t tick;
    cairn_hash128 root;
    cairn_command_list commands;
} cairn_early_tick;

typedef struct cairn_early_ticks {
    cairn_early_tick ticks[CAIRN_EARLY_TICKS_MAX]; // by tick modulo size
    cairn_command_pool commands;
} cairn_early_ticks;

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_early_ticks_create(cairn_early_ticks *early);
void cairn_early_ticks_destroy(cairn_early_ticks *early);
void cairn_early_ticks_clear(cairn_early_ticks *early);
// `next` is the tick that is missing. Keeps a tick of [next, next + CAIRN_EARLY_TICKS_MAX); a tick
// that is held already stays as it is. False: it lies outside, or there is no room.
bool cairn_early_ticks_put(cairn_early_ticks *early, uint64_t next, uint64_t tick,
    const cairn_command *commands, uint32_t count, cairn_hash128 root);
// Removes the tick and copies its commands into `out` (room for CAIRN_COMMANDS_PER_TICK_MAX).
// False: it is not held.
bool cairn_early_ticks_take(cairn_early_ticks *early, uint64_t tick, cairn_command *out,
    uint32_t *count, cairn_hash128 *root);
// The tick was confirmed by another message: frees it.
void cairn_early_ticks_drop(cairn_early_ticks *early, uint64_t tick);
