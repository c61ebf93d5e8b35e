// SPDX-License-Identifier: MIT
#pragma once

// Predicts the inputs that the server will confirm for ticks that it has not sent yet. A player is
// expected to hold what it held last, one input for each tick. For a player whose input the server
// lacked, the server's own substitution is predicted (server/room/inbox.h): the same input again
// for hold_ticks, then none. Joins, leaves and edits are not predicted.

#include <stdbool.h>
#include <stdint.h>

#include "base/slot_set.h"
#include <cairn/sim.h>

typedef struct cairn_input_prediction_slot {
    bool holds;       // `held` is an input of this player
    bool from_player; // the last confirmed input was the player's own; false: substituted
    uint32_t stride;  // of the sequence number from tick to tick
    uint64_t held_tick;
    cairn_command held[CAIRN_INPUT_COMMANDS_MAX];
} cairn_input_prediction_slot;

typedef struct cairn_input_prediction {
    uint32_t hold_ticks;
    uint32_t parts;     // commands of an input
    uint64_t next_tick; // all ticks below are confirmed
    cairn_slot_set joined;
    cairn_input_prediction_slot slots[CAIRN_SLOTS_MAX];
} cairn_input_prediction;

void cairn_input_prediction_start(
    cairn_input_prediction *prediction, uint64_t tick, uint32_t hold_ticks, uint32_t parts);
// The player of `slot` has joined before the first tick.
void cairn_input_prediction_join(cairn_input_prediction *prediction, uint32_t slot);
// The confirmed commands of next_tick, sorted.
void cairn_input_prediction_confirm(
    cairn_input_prediction *prediction, const cairn_command *commands, uint32_t count);

// The input of `slot` in `tick`, which is at least next_tick, into `out` (room for `parts`).
// Returns how many commands: `parts`, or 0 if it has none.
uint32_t cairn_input_prediction_predict(
    const cairn_input_prediction *prediction, uint32_t slot, uint64_t tick, cairn_command *out);
// The same: what the server substitutes for a slot if no input arrives from now on.
uint32_t cairn_input_prediction_substitute(
    const cairn_input_prediction *prediction, uint32_t slot, uint64_t tick, cairn_command *out);
