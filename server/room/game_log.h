// SPDX-License-Identifier: MIT
#pragma once

// The last messages, or the last events, that the rules of a room's world sent. Written by the job
// that steps; read while it does not run.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/rules.h>
#include <cairn/sim.h>

// Two batches of ticks in which the rules send all that they may.
#define CAIRN_GAME_LOG_CAPACITY 512

typedef struct cairn_game_record {
    uint64_t tick; // of the world after the step
    cairn_game_message message;
} cairn_game_record;

typedef struct cairn_game_log {
    // Owned; record number n is at n % CAIRN_GAME_LOG_CAPACITY. NULL until the first: most rooms
    // have none.
    cairn_game_record *ring;
    uint64_t written; // since the room began, the number of the next one
} cairn_game_log;

void cairn_game_log_destroy(cairn_game_log *log);
// Adds what the rules sent of `kind` (cairn_game_message_kind) in the step that the world has just
// made. The oldest records are overwritten. What is sent before there is memory for the ring is
// lost.
void cairn_game_log_add(cairn_game_log *log, const cairn_world *world, uint32_t kind);
// The next record for the player in `slot` (CAIRN_SLOT_NONE: for all only) from number *next on,
// which is moved to it; NULL: no more, and *next is the end. Records that were overwritten are
// skipped and added to *missed, for whichever player.
const cairn_game_record *cairn_game_log_next(
    const cairn_game_log *log, uint32_t slot, uint64_t *next, uint64_t *missed);
