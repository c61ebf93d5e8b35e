// SPDX-License-Identifier: MIT
#pragma once

// A room may wait for late inputs: up to settings.wait_ms beyond a tick's due time, for each player
// that simulates, plays and sent a datagram within the last second. While the room waits its
// schedule slips, so the room waits once, not at every tick, for a player whose path became longer
// by a constant time. When a wait runs out, the slot is no longer waited for until one of its
// inputs arrives on time. After three announced waits in 10 s, a slot is no longer waited for until
// it has sent one second of inputs on time. The same holds after waits that were too short to be
// announced, if they add up to 500 ms in 10 s. And whatever the waits are, in the long run they
// take a twentieth of the time: beyond three times settings.wait_ms more (at least 500 ms) the slot
// is given up, and is not waited for until a twentieth of the time has paid for its waits.
// Otherwise a player could delay the room by five seconds every ten seconds for good. If it is
// given up again within five minutes, it needs 4 s of inputs on time, then 16 s, then 64 s.
// Otherwise a player could delay the room three times after each second on time. A player that
// leaves and joins again within a minute keeps the budget that it has left.

#include <stdbool.h>
#include <stdint.h>

#include "server/session/context.h"
#include "server/session/wait_ledger.h"

// The room does not wait for a player that sent nothing for this long.
#define CAIRN_INPUT_WAIT_SILENCE_NS CAIRN_NS_PER_S
// Announced waits, each within this time of the one before, after which the slot is given up.
#define CAIRN_INPUT_WAIT_OFFENCES_MAX 3
#define CAIRN_INPUT_WAIT_OFFENCES_NS UINT64_C(10000000000)
// Time that waits which were not announced may take in all, within a time from the first one.
#define CAIRN_INPUT_WAIT_SILENT_NS_MAX UINT64_C(500000000)
#define CAIRN_INPUT_WAIT_SILENT_NS UINT64_C(10000000000)
// Of all time, one part in so many may be waits for one slot; and once so many of the longest
// waits.
#define CAIRN_INPUT_WAIT_SHARE 20
#define CAIRN_INPUT_WAIT_SHARE_WAITS 3
// Slots that are given up again within this time count as given up so many times, at most.
#define CAIRN_INPUT_WAIT_GIVEN_UP_NS UINT64_C(300000000000)
#define CAIRN_INPUT_WAIT_GIVEN_UP_MAX 4

typedef struct cairn_input_wait_slot {
    uint64_t waits; // announced
    uint64_t waited_ns;
    cairn_wait_budget budget;
} cairn_input_wait_slot;

typedef struct cairn_input_wait {
    bool waiting;
    bool announced;
    uint32_t slot; // the one that is waited for; CAIRN_SLOT_NONE: its player left
    uint64_t slot_since_ns;
    cairn_input_wait_slot slots[CAIRN_SLOTS_MAX];
    cairn_wait_ledger ledger;
} cairn_input_wait;

// How many of the next `ticks` ticks, all of them due, may be stepped now. Begins, announces and
// ends waits.
uint32_t cairn_input_wait_ready_count(
    const cairn_server_context *context, cairn_room *room, uint32_t ticks);
// While waiting: when to call cairn_input_wait_ready_count again.
uint64_t cairn_input_wait_due_ns(const cairn_room *room);
// Before `tick` is taken out of the inbox: notes which slots' inputs are on time.
void cairn_input_wait_observe_tick(cairn_room *room, uint64_t tick);
// The client has this slot from now on.
void cairn_input_wait_join(cairn_room *room, uint32_t slot, uint64_t client_id, uint64_t now_ns);
// The client has left the room and had this slot. If the room waits for it, that wait is counted.
void cairn_input_wait_leave(
    const cairn_server_context *context, cairn_room *room, uint32_t slot, uint64_t client_id);
// Whether the room still waits for a player that has left. Its next tick can run at once.
bool cairn_input_wait_is_left(const cairn_room *room);
// The room has another world, and waits for nobody. What its players have used stays used.
void cairn_input_wait_restart(cairn_room *room);
