// SPDX-License-Identifier: MIT
#pragma once

// The player's inputs: one for each tick, of one to three parts (cairn_input_head.parts), kept
// until the server acknowledges it, because a message may be lost.

#include <stdbool.h>
#include <stdint.h>

#include "schema/messages.h"

#define CAIRN_INPUTS_HELD_MAX CAIRN_INPUTS_PER_MESSAGE_MAX

typedef struct cairn_inputs {
    uint32_t parts;                                                         // of an input
    cairn_wire_input ring[CAIRN_INPUTS_HELD_MAX][CAIRN_INPUT_COMMANDS_MAX]; // by tick modulo size
    // What the player holds now; tick and sequence unused.
    cairn_wire_input held[CAIRN_INPUT_COMMANDS_MAX];
    uint64_t next_tick;     // the next to be made; [next_tick - count, next_tick) are held
    uint32_t count;         // held in the ring
    uint32_t redundancy;    // past inputs that a message may repeat beside the newest
    uint32_t next_sequence; // of the next input
    bool running;           // next_tick is known
    uint64_t made;          // in all
    uint64_t skipped;       // ticks passed over because too many were due at once
} cairn_inputs;

// `redundancy` is at most CAIRN_INPUTS_HELD_MAX - 1, `parts` 1 to CAIRN_INPUT_COMMANDS_MAX
// (asserted).
void cairn_inputs_start(cairn_inputs *inputs, uint32_t redundancy, uint32_t parts);
// Makes inputs up to and including `tick` from what is held now; returns how many. The first call
// makes one. If more are due than a message carries the oldest are skipped. If `tick` is far in the
// past (the clock moved back) inputs start again there.
uint32_t cairn_inputs_make(cairn_inputs *inputs, uint64_t tick);
// The server has taken, or will never take, the inputs up to `tick`.
void cairn_inputs_acknowledge(cairn_inputs *inputs, uint64_t tick);
// Room for the parts of all inputs of a message.
#define CAIRN_INPUT_PARTS_MAX (CAIRN_INPUTS_PER_MESSAGE_MAX * CAIRN_INPUT_COMMANDS_MAX)
// The newest inputs, at most `count_max`, oldest first, without acknowledged ones: those of the
// ticks before next_tick. Returns how many; each has `parts` structs.
uint32_t cairn_inputs_collect(
    const cairn_inputs *inputs, uint32_t count_max, cairn_wire_input out[CAIRN_INPUT_PARTS_MAX]);
// The parts of the input made for `tick`; NULL: the client made none, or dropped it already.
const cairn_wire_input *cairn_inputs_read(const cairn_inputs *inputs, uint64_t tick);
