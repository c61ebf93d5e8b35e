// SPDX-License-Identifier: MIT
#pragma once

// A room may wait for late inputs: up to settings.wait_ms beyond a tick's due time, for each player
// that simulates, plays and sent a datagram within the last second. While the room waits its
// schedule slips, so the room waits once, not at every tick, for a player whose path became longer
// by a constant time. When a wait runs out, the slot is no longer waited for until one of its
// inputs arrives on time. After three announced waits in 10 s, a slot is no longer waited for until
// it has sent one second of inputs on time. The same holds after waits that were too short to be
// announced, if they add up to 500 ms in 10 s: a slot slows the room by a twentieth at most.

#include <stdbool.h>
#include <stdint.h>

#include "server/session/context.h"

// The room does not wait for a player that sent nothing for this long.
#define CAIRN_INPUT_WAIT_SILENCE_NS CAIRN_NS_PER_S
// Announced waits, each within this time of the one before, after which the slot is given up.
#define CAIRN_INPUT_WAIT_OFFENCES_MAX 3
#define CAIRN_INPUT_WAIT_OFFENCES_NS UINT64_C(10000000000)
// Time that waits which were not announced may take in all, within a time from the first one.
#define CAIRN_INPUT_WAIT_SILENT_NS_MAX UINT64_C(500000000)
#define CAIRN_INPUT_WAIT_SILENT_NS UINT64_C(10000000000)

typedef struct cairn_input_wait_slot {
    uint64_t waits; // announced
    uint64_t waited_ns;
    uint32_t offences;
    uint64_t offence_ns; // time of the last
    uint64_t silent_ns;  // of waits that were not announced, since silent_from_ns
    uint64_t silent_from_ns;
    uint32_t timely_required; // inputs on time, in a row, until the room waits again; 0: it waits
    uint32_t timely_missing;  // of these
} cairn_input_wait_slot;

typedef struct cairn_input_wait {
    bool waiting;
    bool announced;
    uint32_t slot; // the one that is waited for
    uint64_t slot_since_ns;
    cairn_input_wait_slot slots[CAIRN_SLOTS_MAX];
} cairn_input_wait;

// How many of the next `ticks` ticks, all of them due, may be stepped now. Begins, announces and
// ends waits.
uint32_t cairn_input_wait_ready_count(
    const cairn_server_context *context, cairn_room *room, uint32_t ticks);
// While waiting: when to call cairn_input_wait_ready_count again.
uint64_t cairn_input_wait_due_ns(const cairn_room *room);
// Before `tick` is taken out of the inbox: notes which slots' inputs are on time.
void cairn_input_wait_observe_tick(cairn_room *room, uint64_t tick);
// A new player has this slot.
void cairn_input_wait_reset_slot(cairn_room *room, uint32_t slot);
void cairn_input_wait_reset(cairn_room *room);
