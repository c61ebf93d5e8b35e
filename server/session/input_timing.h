// SPDX-License-Identifier: MIT
#pragma once

// How early or late a client's inputs arrive. Every snapshot and ticks message reports it, so that
// the client can send them just in time.

#include <stdbool.h>
#include <stdint.h>

#include "schema/messages.h"
#include "server/room/room.h"

typedef struct cairn_input_timing {
    int32_t lateness_us_last;  // < 0: early
    int32_t lateness_us_worst; // since the last report
    bool reported;             // no input arrived since the last report
    uint32_t inputs_late;      // since the client joined
    uint32_t inputs_early_refused;
} cairn_input_timing;

// Puts one input of the player of `slot`, with so many parts, into the room's inbox and counts what
// becomes of it.
void cairn_input_timing_take(cairn_input_timing *timing, cairn_room *room, uint32_t slot,
    const cairn_wire_input *input, uint32_t parts, uint64_t now_ns);

// The report for the client's next message; the worst lateness is reported once. `slot` is
// CAIRN_SLOT_NONE for a spectator.
cairn_wire_timing cairn_input_timing_report(
    cairn_input_timing *timing, const cairn_room *room, uint32_t slot);
