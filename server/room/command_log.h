// SPDX-License-Identifier: MIT
#pragma once

// The last ticks of a room: commands and the roots after stepping them. Lockstep clients and the
// recording are served from here, and reported roots are compared with it. Fixed memory.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "schema/messages.h"
#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_command_log cairn_command_log;

// `ticks` are kept, the oldest gives way. CAIRN_OUT_OF_MEMORY leaves *out NULL.
cairn_status cairn_command_log_create(
    uint32_t ticks, uint32_t commands_per_tick_max, cairn_command_log **out);
void cairn_command_log_destroy(cairn_command_log *history); // NULL is allowed

// Ticks come one after the other; the first may be any.
void cairn_command_log_add(cairn_command_log *history, uint64_t tick, const cairn_command *commands,
    uint32_t command_count, cairn_hash128 root);

// Forgets every tick; the next to be added may be any.
void cairn_command_log_clear(cairn_command_log *history);

uint32_t cairn_command_log_capacity(const cairn_command_log *history); // ticks
uint64_t cairn_command_log_oldest(const cairn_command_log *history);   // first tick held
uint64_t cairn_command_log_end(const cairn_command_log *history); // one past the last tick held

// The full root after stepping `tick`. False when it is not held.
bool cairn_command_log_root(const cairn_command_log *history, uint64_t tick, cairn_hash128 *out);

// The commands of a tick that is held, as they were added; they last until the next addition.
const cairn_command *cairn_command_log_commands(
    const cairn_command_log *history, uint64_t tick, uint32_t *count);
// How many these are.
uint32_t cairn_command_log_command_count(const cairn_command_log *history, uint64_t tick);

// A run of ticks in wire form; the arrays are the caller's.
typedef struct cairn_command_log_span {
    cairn_wire_tick *ticks;
    uint32_t tick_capacity;
    cairn_command *commands;
    uint32_t command_capacity; // at least one tick's commands
    uint64_t *digests;         // [tick_capacity], or NULL: not wanted
    uint32_t tick_count;
    uint32_t command_count;
} cairn_command_log_span;

// Fills the run with consecutive ticks from `from` on, as many as are held and fit.
void cairn_command_log_read(
    const cairn_command_log *history, uint64_t from, cairn_command_log_span *run);
