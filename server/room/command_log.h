// SPDX-License-Identifier: MIT
#pragma once

// The last ticks of a room: their commands, and the roots after stepping them. Clients that
// simulate are served from here, and the roots they report are compared with it. Its memory grows
// with the commands that there were; while memory is short it keeps fewer ticks. A client needs
// more ticks than usual if its state takes long to arrive. The log then keeps these ticks, too, up
// to a limit in bytes.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_command_log cairn_command_log;

// The most bytes that a log takes while it keeps more ticks than it was created for.
#define CAIRN_COMMAND_LOG_KEPT_BYTES_MAX ((size_t)32 * 1024 * 1024)

// Keeps the last `ticks` ticks, however many bytes these are; a tick has at most
// `commands_per_tick_max` commands. CAIRN_OUT_OF_MEMORY leaves *out NULL.
cairn_status cairn_command_log_create(
    uint32_t ticks, uint32_t commands_per_tick_max, cairn_command_log **out);
void cairn_command_log_destroy(cairn_command_log *log); // NULL is allowed

// Ticks are added in order without gaps; the first may be any.
void cairn_command_log_add(cairn_command_log *log, uint64_t tick, const cairn_command *commands,
    uint32_t command_count, cairn_hash128 root);

// Drops every tick; the next one added is `next_tick`.
void cairn_command_log_clear(cairn_command_log *log, uint64_t next_tick);

// From now on ticks from `from` on are kept although they are older than the last `ticks`, as far
// as the log then takes CAIRN_COMMAND_LOG_KEPT_BYTES_MAX at most; the oldest are dropped first.
// UINT64_MAX, as at first: none are, and with the next ticks that are added the log becomes small
// again, by 640 kB in each at most.
void cairn_command_log_keep(cairn_command_log *log, uint64_t from);
size_t cairn_command_log_bytes(const cairn_command_log *log); // that it takes

uint64_t cairn_command_log_oldest(const cairn_command_log *log); // first tick held
uint64_t cairn_command_log_end(const cairn_command_log *log);    // one past the last tick held

// The full root after stepping `tick`. False when it is not held.
bool cairn_command_log_root(const cairn_command_log *log, uint64_t tick, cairn_hash128 *out);

// The commands of a tick that is held (asserted). The pointer is valid while the tick is held.
const cairn_command *cairn_command_log_commands(
    const cairn_command_log *log, uint64_t tick, uint32_t *count);
// How many commands such a tick has.
uint32_t cairn_command_log_command_count(const cairn_command_log *log, uint64_t tick);
