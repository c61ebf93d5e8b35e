// SPDX-License-Identifier: MIT
#pragma once

// What players will be confirmed to hold in ticks the server has not told of yet. A player goes on
// with what it held last, one input for each tick. One whose input the server lacked is guessed as
// the server fills it in (server/room/inbox.h): the same again for hold_ticks, then nothing. Joins,
// leaves and edits are not guessed.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/sim.h>

typedef struct cairn_input_prediction_slot {
    bool joined;
    bool holds;      // `held` is an input of this player
    bool fresh;      // it came from the player in the last tick; else the server filled it in
    uint32_t stride; // of its sequence from tick to tick
    uint64_t held_tick;
    cairn_command held;
} cairn_input_prediction_slot;

typedef struct cairn_input_prediction {
    uint32_t hold_ticks;
    uint64_t next_tick; // all below were learned
    cairn_input_prediction_slot slots[CAIRN_SLOTS_MAX];
} cairn_input_prediction;

void cairn_input_prediction_start(
    cairn_input_prediction *prediction, uint64_t tick, uint32_t hold_ticks);
// `slot` is known to have joined before the first tick learned.
void cairn_input_prediction_join(cairn_input_prediction *prediction, uint32_t slot);
// The confirmed commands of next_tick, in any order.
void cairn_input_prediction_confirm(
    cairn_input_prediction *prediction, const cairn_command *commands, uint32_t count);

// What `slot` will say in `tick`, at least next_tick; false: nothing.
bool cairn_input_prediction_predict(
    const cairn_input_prediction *prediction, uint32_t slot, uint64_t tick, cairn_command *out);
// What the server fills in for a slot when no input comes from now on; false: nothing.
bool cairn_input_prediction_substitute(
    const cairn_input_prediction *prediction, uint32_t slot, uint64_t tick, cairn_command *out);
