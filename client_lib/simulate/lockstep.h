// SPDX-License-Identifier: MIT
#pragma once

// The client's own world, stepped on confirmed ticks: a timeline fed from messages. After each step
// its root is compared with the server's, and kept to be reported.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/interpolate/snapshots.h"
#include "client_lib/simulate/early_ticks.h"
#include "client_lib/simulate/state_transfer.h"
#include "client_lib/simulate/timeline.h"
#include "schema/messages.h"
#include <cairn/sim.h>

// Ticks held: those that wait to be stepped and, if there is room, the last that were.
#define CAIRN_LOCKSTEP_TICKS_MAX 512
#define CAIRN_LOCKSTEP_COMMANDS_MAX 16384
// The server queues at most 384 ticks and 8192 commands beyond those that are acknowledged, so a
// client that steps as fast as it can acknowledges no more than what leaves it room for these:
// what it would have to drop is not sent again before it is needed.
#define CAIRN_LOCKSTEP_TICKS_AHEAD 128
#define CAIRN_LOCKSTEP_COMMANDS_AHEAD 8192

typedef struct cairn_lockstep {
    const cairn_rules *rules; // the host's; NULL: the built-in ones
    cairn_state_transfer transfer;
    cairn_timeline timeline;
    cairn_early_ticks early;
    // The commands of the tick before held_end, which those of that tick are coded against.
    cairn_command *held; // owned, [CAIRN_COMMANDS_PER_TICK_MAX]
    uint32_t held_count;
    uint64_t held_end; // UINT64_MAX: none
    // Limits of the saved states, in ticks and in bytes; 0: none are kept.
    uint32_t state_ticks;
    size_t state_memory;
    // Prediction takes confirmed ticks in place of cairn_timeline_confirm; NULL: no prediction.
    cairn_timeline_verdict (*confirm)(void *context, uint64_t tick, const cairn_command *commands,
        uint32_t count, cairn_root_check check);
    void *confirm_context;
    // The tick being confirmed arrived together with later ones. The server sends each tick when it
    // is stepped, so the message of this one was lost or delayed.
    bool delayed;
    uint64_t newest_end;       // one past the newest tick that the server sent since the state
    bool lags;                 // the last advance ended with confirmed ticks that were due
    cairn_body_state *scratch; // owned; for all bodies of the world
    cairn_snapshots snapshots; // of the last steps, to show

    // The shapes of the world that was last shown, in order of index. They are copies: the world
    // may have gone back since, to a tick in which some do not exist. The second lists are scratch.
    cairn_shape_id *shape_ids[2]; // owned
    uint32_t shape_id_count;
    cairn_snapshot_shape *shapes[2]; // owned; those that are seen
    uint32_t shape_count;
    uint32_t shape_revision; // changes whenever the list does

    uint64_t states_loaded;
} cairn_lockstep;

typedef enum cairn_lockstep_verdict {
    CAIRN_LOCKSTEP_TAKEN = 0,
    CAIRN_LOCKSTEP_LOADED,          // a state is complete and loaded
    CAIRN_LOCKSTEP_EARLY,           // ticks before them are missing; kept until these arrive
    CAIRN_LOCKSTEP_OUT_OF_ORDER,    // a piece that does not follow the last one
    CAIRN_LOCKSTEP_NOT_EXPECTED,    // ticks before any state
    CAIRN_LOCKSTEP_GAP,             // ticks too far beyond those held
    CAIRN_LOCKSTEP_FULL,            // no room for more ticks now
    CAIRN_LOCKSTEP_STATE_TOO_LARGE, // after this one and those below the client cannot continue
    CAIRN_LOCKSTEP_WORLD_TOO_LARGE, // the state is small; its world would not be
    CAIRN_LOCKSTEP_STATE_MALFORMED,
    CAIRN_LOCKSTEP_RULES_UNKNOWN,
    CAIRN_LOCKSTEP_COMMAND_REFUSED, // a confirmed command is out of range
    CAIRN_LOCKSTEP_TICK_MALFORMED,  // the bytes of a tick are no commands
    CAIRN_LOCKSTEP_NO_MEMORY,
    CAIRN_LOCKSTEP_VERDICT_COUNT
} cairn_lockstep_verdict;
const char *cairn_lockstep_verdict_text(cairn_lockstep_verdict verdict);

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_lockstep_create(
    cairn_lockstep *lockstep, const cairn_rules *rules, uint32_t state_size_max);
void cairn_lockstep_destroy(cairn_lockstep *lockstep);
// Keeps the states of `ticks` more ticks, in at most `memory` bytes in all. Before the first state.
void cairn_lockstep_keep_states(cairn_lockstep *lockstep, uint32_t ticks, size_t memory);
// Back to the state after create, for the next connection.
void cairn_lockstep_clear(cairn_lockstep *lockstep);

// A state older than the world's own tick is loaded too: the server started again.
cairn_lockstep_verdict cairn_lockstep_take_state(
    cairn_lockstep *lockstep, const cairn_state_message *piece);
cairn_lockstep_verdict cairn_lockstep_take_ticks(
    cairn_lockstep *lockstep, const cairn_ticks_message *message);

// What one advance may spend. At least one tick is stepped; the rest waits for the next advance.
typedef struct cairn_lockstep_budget {
    uint32_t ticks_max;
    uint64_t time_ns;                    // 0: no limit
    uint64_t (*clock_ns)(void *context); // NULL: time is not limited
    void *clock_context;
} cairn_lockstep_budget;
// Steps while the world is behind `show_tick`, confirmed ticks are held and the budget lasts.
// Returns how many ticks it stepped.
uint32_t cairn_lockstep_advance(
    cairn_lockstep *lockstep, double show_tick, const cairn_lockstep_budget *budget);
// Adds the present world to the snapshots shown, and drops those of its tick and later.
void cairn_lockstep_show(cairn_lockstep *lockstep);
// The client acknowledges all ticks below this one. They are confirmed.
uint64_t cairn_lockstep_acknowledged(const cairn_lockstep *lockstep);
// By how many ticks the stepped and confirmed world is behind the newest that the server sent.
uint64_t cairn_lockstep_behind(const cairn_lockstep *lockstep);
// Confirmed ticks that wait to be stepped.
uint32_t cairn_lockstep_waiting(const cairn_lockstep *lockstep);

// Copies the own roots of the newest `count_max` confirmed ticks, oldest first; returns how many. A
// timeline that follows knows few of them.
uint32_t cairn_lockstep_roots(
    const cairn_lockstep *lockstep, cairn_wire_root *out, uint32_t count_max);
