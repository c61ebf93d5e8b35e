// SPDX-License-Identifier: MIT
#pragma once

// One world and its last ticks: the commands of each tick and whether they are confirmed or
// predicted, the root after it, and the state before it, so that the world can go back to a tick
// and be stepped again with other commands or from another state. Lockstep, prediction and resync
// are built on it. It uses no network and no clock.
//
// Ticks [first, end) have commands; those of [first, confirmed_end) are confirmed by the server,
// the others predicted. The world's tick is head_tick, first <= head_tick <= end: ticks below are
// stepped, the others wait. A change of a stepped tick moves head_tick back to it.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "client_lib/simulate/command_pool.h"
#include "client_lib/simulate/game_events.h"
#include <cairn/client.h>
#include <cairn/history.h>
#include <cairn/rollback.h>
#include <cairn/sim.h>

typedef struct cairn_timeline_tick {
    cairn_command_list commands;
    cairn_hash128 digest;   // cairn_commands_digest of them
    cairn_hash128 root;     // own, after the step; only of ticks below head_tick
    cairn_root_check check; // of the server's root; only of confirmed ticks
} cairn_timeline_tick;

typedef struct cairn_timeline {
    cairn_world *world;         // owned; NULL before the first adopt
    cairn_timeline_tick *ticks; // owned, by tick modulo tick_capacity
    uint32_t tick_capacity;
    cairn_command_pool commands;
    cairn_history *states; // owned; of the world; NULL when none are to be kept

    // The client steps no world and believes the server's roots. Set by the owner; clear does not
    // change it.
    bool follows;

    bool expecting; // `first` is known
    bool adopted;   // the world belongs to the ticks held
    uint64_t first;
    uint64_t head_tick; // of the world
    uint64_t confirmed_end;
    uint64_t end;

    // Whether the root of a confirmed and stepped tick is not the server's, and the earliest such
    // tick since the world was adopted or changed. It is the world's tick after the step, as in
    // root reports.
    bool differs;
    uint64_t differs_tick;

    uint64_t steps; // in all; ticks that were stepped again count again
    // Ticks from `first` to below this one were stepped before, since a world of this tick or a
    // lower one was expected.
    uint64_t stepped_end;
    // Called after each step; NULL: not. Set by the owner, kept by clear.
    void (*on_step)(void *context, const cairn_world *world, const cairn_client_step *step);
    void *step_context;
    // Called instead of on_step for a tick that was corrected rather than stepped again, with the
    // events of all bodies. Set by the owner, kept by clear.
    void (*on_correct)(void *context, const cairn_world *world, const cairn_client_step *step,
        const cairn_contact_event *events, uint32_t event_count);
    // Whether new commands of a past tick may be applied by stepping again only what they can have
    // moved (cairn/rollback.h): in a world without rules, and if on_correct is set or on_step is
    // not. Set by the owner, kept by clear. The next adopt then allocates a second world.
    bool corrects;
    cairn_rollback *rollback;    // owned; NULL: the world always goes back
    cairn_command *past;         // owned: commands of the ticks to be corrected
    cairn_contact_event *events; // owned: of a tick
    uint64_t continuous_from;    // from this tick on, only steps have changed the world
    uint64_t corrections;        // since create or clear
    uint64_t corrected_ticks;
    cairn_game_events game_events; // of the rules; queue and slot are set by the owner
    uint64_t roots_compared;
    uint64_t roots_differed;
    uint64_t first_difference_tick; // since create or clear; UINT64_MAX: none
} cairn_timeline;

typedef enum cairn_timeline_verdict {
    CAIRN_TIMELINE_TAKEN = 0, // the tick is new and waits to be stepped
    CAIRN_TIMELINE_AGREED,    // the commands are those held
    CAIRN_TIMELINE_CORRECTED, // other commands than predicted: replaced, and the states from there
                              // on corrected; head_tick stays
    CAIRN_TIMELINE_DIFFERED, // other commands than predicted: replaced, and head_tick moved back to
                             // the tick
    CAIRN_TIMELINE_KNOWN,    // the tick was confirmed before: ignored
    CAIRN_TIMELINE_NOT_EXPECTED, // no tick is expected yet
    CAIRN_TIMELINE_GAP,          // the tick does not follow those held
    CAIRN_TIMELINE_FULL,         // all ticks held still wait to be stepped or confirmed
    CAIRN_TIMELINE_STEPPED,
    CAIRN_TIMELINE_IDLE,   // no tick waits, or the world of the first tick has not arrived
    CAIRN_TIMELINE_WINDOW, // no room to save the state of another unconfirmed tick: wait for the
                           // server
    CAIRN_TIMELINE_STATE_DROPPED, // the state of that tick is not held
    CAIRN_TIMELINE_REWOUND
} cairn_timeline_verdict;

// Room for `tick_capacity` ticks, waiting ones included, and their commands. CAIRN_OUT_OF_MEMORY;
// destroy is allowed after a failure.
cairn_status cairn_timeline_create(
    cairn_timeline *timeline, uint32_t tick_capacity, uint32_t command_capacity);
void cairn_timeline_destroy(cairn_timeline *timeline);
// Back to the state after create; destroys the world.
void cairn_timeline_clear(cairn_timeline *timeline);

// Drops all ticks; expects those from `tick` on. The world stays, to be shown, but is not stepped
// until a world of this tick is adopted.
void cairn_timeline_expect(cairn_timeline *timeline, uint64_t tick);
// Takes ownership of the world of the first expected tick (asserted). Allocates
// `state_size` bytes for saved states, the last allocation until the next adopt. With 0 none are
// kept: the world cannot go back, and predicted ticks are not stepped. Waiting confirmed ticks are
// kept, the world before is destroyed. CAIRN_OUT_OF_MEMORY: `world` was destroyed as well.
cairn_status cairn_timeline_adopt(cairn_timeline *timeline, cairn_world *world, size_t state_size);

// The same for a timeline that follows: ticks count as stepped as soon as they are confirmed.
void cairn_timeline_adopt_nothing(cairn_timeline *timeline);

// Confirms a tick: its commands (at most CAIRN_COMMANDS_PER_TICK_MAX, each checked, in any order)
// and what is known of the server's root after it. Ticks are confirmed in order. Returns TAKEN,
// AGREED, CORRECTED, DIFFERED, KNOWN, NOT_EXPECTED, GAP or FULL.
cairn_timeline_verdict cairn_timeline_confirm(cairn_timeline *timeline, uint64_t tick,
    const cairn_command *commands, uint32_t count, cairn_root_check check);
// Predicts a tick of [confirmed_end, end], or replaces its prediction. Returns TAKEN, AGREED,
// CORRECTED, DIFFERED, KNOWN, NOT_EXPECTED, GAP or FULL.
cairn_timeline_verdict cairn_timeline_predict(
    cairn_timeline *timeline, uint64_t tick, const cairn_command *commands, uint32_t count);

// Steps head_tick. Returns STEPPED, IDLE or WINDOW.
cairn_timeline_verdict cairn_timeline_step(cairn_timeline *timeline);

// Moves the world back to `tick`, at most head_tick; the ticks from there on wait to be stepped
// again. Returns REWOUND, or STATE_DROPPED, and then nothing has changed.
cairn_timeline_verdict cairn_timeline_rewind(cairn_timeline *timeline, uint64_t tick);
// The world was changed from outside: drops the states from head_tick on and takes the world's
// present root for that of the step before. Returns whether it is the server's root (true if the
// tick is unconfirmed or no longer held).
bool cairn_timeline_world_changed(cairn_timeline *timeline);

// NULL: the tick is not held.
const cairn_timeline_tick *cairn_timeline_tick_read(const cairn_timeline *timeline, uint64_t tick);
// Copies the sorted commands of a tick into `out`, which has room for CAIRN_COMMANDS_PER_TICK_MAX.
// Returns how many.
uint32_t cairn_timeline_commands(const cairn_timeline *timeline, uint64_t tick, cairn_command *out);
// Puts the saved state before `tick` into a world of equal def. False: it is not held.
bool cairn_timeline_load(const cairn_timeline *timeline, uint64_t tick, cairn_world *into);
// Drops all saved states.
void cairn_timeline_forget_states(cairn_timeline *timeline);

// Ticks below this one are confirmed and stepped.
uint64_t cairn_timeline_confirmed_tick(const cairn_timeline *timeline);
