// SPDX-License-Identifier: MIT
#pragma once

// One world and its last ticks: which commands each was given and whether they are the server's
// word or a guess, the root after each step, and the state before it, so that the world can go back
// to a tick and be stepped again with other commands or another state. Lockstep, prediction and
// healing stand on it. No network, no clock.
//
// Ticks [first, end) have commands; [first, confirmed_end) those the server confirmed, the others
// predicted ones. The world stands at `at`, first <= at <= end: ticks below are stepped, those from
// `at` on wait. Whatever changes a stepped tick moves `at` back there.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/simulate/command_pool.h"
#include "client_lib/simulate/state_ring.h"
#include <cairn/sim.h>

typedef struct cairn_timeline_tick {
    cairn_command_list commands;
    cairn_hash128 digest;       // cairn_commands_digest of them
    cairn_hash128 root;         // own, after the step; only of ticks below `at`
    cairn_hash128 root_servers; // only of confirmed ticks
} cairn_timeline_tick;

typedef struct cairn_timeline {
    cairn_world *world;         // owned; NULL before the first was adopted
    cairn_timeline_tick *ticks; // owned, by tick modulo tick_capacity
    uint32_t tick_capacity;
    cairn_command_pool commands;
    cairn_state_ring states;

    bool expecting; // the first tick is known
    bool adopted;   // the world is that of the ticks held
    uint64_t first;
    uint64_t head_tick; // the tick the world stands at
    uint64_t confirmed_end;
    uint64_t end;

    // A confirmed, stepped tick whose root is not the server's: the earliest since a world was
    // adopted or replaced. Ticks here are the world's after the step, as roots are told.
    bool differs;
    uint64_t differs_tick;

    uint64_t steps; // in all, those stepped again as well
    uint64_t roots_compared;
    uint64_t roots_differed;
    uint64_t first_difference_tick; // of all; UINT64_MAX: none
} cairn_timeline;

typedef enum cairn_timeline_verdict {
    CAIRN_TIMELINE_TAKEN = 0,    // the tick is new and waits to be stepped
    CAIRN_TIMELINE_AGREED,       // the commands are those held; nothing to do again
    CAIRN_TIMELINE_DIFFERED,     // other commands than predicted: exchanged, `at` is not beyond it
    CAIRN_TIMELINE_KNOWN,        // a tick that was confirmed before: ignored
    CAIRN_TIMELINE_NOT_EXPECTED, // no tick is expected yet
    CAIRN_TIMELINE_GAP,          // a tick that does not continue those held
    CAIRN_TIMELINE_FULL,         // every tick held still waits to be stepped or to be confirmed
    CAIRN_TIMELINE_STEPPED,
    CAIRN_TIMELINE_IDLE,          // nothing waits, or the world of the first tick is not there yet
    CAIRN_TIMELINE_WINDOW,        // no room to save one more unconfirmed tick: wait for the server
    CAIRN_TIMELINE_STATE_DROPPED, // the state of that tick is not held, or not any more
    CAIRN_TIMELINE_REWOUND,
    CAIRN_TIMELINE_VERDICT_COUNT
} cairn_timeline_verdict;
const char *cairn_timeline_verdict_text(cairn_timeline_verdict verdict);

// Room for `tick_capacity` ticks, waiting ones included, and their commands. CAIRN_OUT_OF_MEMORY;
// destroy is allowed after a failure.
cairn_status cairn_timeline_create(
    cairn_timeline *timeline, uint32_t tick_capacity, uint32_t command_capacity);
void cairn_timeline_destroy(cairn_timeline *timeline);
// Back to the state after create; the world goes.
void cairn_timeline_clear(cairn_timeline *timeline);

// Every tick from `tick` on is wanted, none is held. The world stays, to be looked at, and is not
// stepped before one of this tick is adopted.
void cairn_timeline_expect(cairn_timeline *timeline, uint64_t tick);
// Takes the world as that of the first tick expected (its tick must be that, asserted), with
// `state_size` bytes for saved states; 0: none are kept, so it never goes back nor steps a
// predicted tick. Confirmed ticks that wait are kept. The world before is destroyed. The memory is
// all there will ever be. CAIRN_OUT_OF_MEMORY: `world` was destroyed, there is none now.
cairn_status cairn_timeline_adopt(cairn_timeline *timeline, cairn_world *world, size_t state_size);

// What the server says of a tick: its commands (at most CAIRN_COMMANDS_PER_TICK_MAX, each checked,
// in any order) and the full root after it. Ticks are confirmed one after the other. TAKEN, AGREED,
// DIFFERED, KNOWN, NOT_EXPECTED, GAP or FULL.
cairn_timeline_verdict cairn_timeline_confirm(cairn_timeline *timeline, uint64_t tick,
    const cairn_command *commands, uint32_t count, cairn_hash128 root);
// A guess for a tick of [confirmed_end, end], new or instead of the one held. TAKEN, AGREED,
// DIFFERED, KNOWN, NOT_EXPECTED, GAP or FULL.
cairn_timeline_verdict cairn_timeline_predict(
    cairn_timeline *timeline, uint64_t tick, const cairn_command *commands, uint32_t count);
// Predicted ticks from `tick` on are dropped.
void cairn_timeline_drop_predicted_from(cairn_timeline *timeline, uint64_t tick);

// Steps the tick `at`: STEPPED, IDLE, or WINDOW.
cairn_timeline_verdict cairn_timeline_step(cairn_timeline *timeline);

// Moves the world back to `tick`, at most `at`: REWOUND, or STATE_DROPPED, and then nothing moved.
// The ticks from there on wait to be stepped again.
cairn_timeline_verdict cairn_timeline_rewind(cairn_timeline *timeline, uint64_t tick);
// The world at `at` was written to from outside: the states kept from there on are forgotten, the
// root of the step before is the world's as it is now. Returns whether that is the server's root
// (true when the tick is unconfirmed or no longer held).
bool cairn_timeline_world_changed(cairn_timeline *timeline);

// NULL when the tick is not held.
const cairn_timeline_tick *cairn_timeline_tick_read(const cairn_timeline *timeline, uint64_t tick);
// The sorted commands of a tick into `out`, room for CAIRN_COMMANDS_PER_TICK_MAX; how many.
uint32_t cairn_timeline_commands(const cairn_timeline *timeline, uint64_t tick, cairn_command *out);
// cairn_world_save's bytes of the world before `tick`; NULL when they are not held. They last until
// the next step.
const uint8_t *cairn_timeline_state(const cairn_timeline *timeline, uint64_t tick, size_t *size);

// Ticks below are confirmed and stepped: the newest world that is sure.
uint64_t cairn_timeline_confirmed_tick(const cairn_timeline *timeline);
