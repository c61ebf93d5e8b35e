// SPDX-License-Identifier: MIT
#pragma once

// A room that waits for late inputs: up to wait_ms beyond a tick's due time for every player that
// simulates, plays and was heard lately. While it waits its schedule slips, so a player that is
// late by the same time again is late no more. A wait that runs out leaves the player behind until
// an input of theirs comes in time again; who makes the room wait again and again is not waited for
// until a second's inputs came in time in a row.

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

struct cairn_room;
struct cairn_server;

// Beyond this silence nobody waits for a player.
#define CAIRN_INPUT_WAIT_SILENCE_NS UINT64_C(1000000000)
// Announced waits within this time of each other that lose the room's patience.
#define CAIRN_INPUT_WAIT_OFFENCES_MAX 3
#define CAIRN_INPUT_WAIT_OFFENCES_NS UINT64_C(10000000000)

typedef struct cairn_input_wait_slot {
    uint64_t stalls; // waits that were announced
    uint64_t stalled_ns;
    uint32_t strikes;
    uint64_t struck_ns;    // the last of them
    uint32_t timely_from;  // inputs in time in a row until the room waits again; 0: it waits
    uint32_t timely_still; // how many of them are missing
} cairn_input_wait_slot;

typedef struct cairn_input_wait {
    uint32_t wait_ms; // 0: the room never waits
    bool waiting;
    bool announced;
    uint64_t since_ns; // when the tick that waits was due
    uint32_t slot;     // whom for
    uint64_t slot_since_ns;
    cairn_input_wait_slot slots[CAIRN_SLOTS_MAX];
} cairn_input_wait;

// How many of the next `ticks` ticks, all of them due, may be stepped now. Begins, announces and
// ends waits.
uint32_t cairn_input_wait_ready_count(
    struct cairn_server *server, struct cairn_room *room, uint32_t ticks, uint64_t now_ns);
// While waiting: when to look again.
uint64_t cairn_input_wait_due_ns(const struct cairn_room *room);
// The next tick is about to be taken out of the inbox: whose inputs are in time?
void cairn_input_wait_observe_tick(struct cairn_room *room, uint64_t tick);
// Somebody new has this slot.
void cairn_input_wait_reset_slot(struct cairn_room *room, uint32_t slot);
