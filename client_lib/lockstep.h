// SPDX-License-Identifier: MIT
#pragma once

// The client's own world, stepped on confirmed ticks alone. After each step its full root is
// compared with the server's; the roots are kept to be reported.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/snapshots.h"
#include "client_lib/state_transfer.h"
#include "schema/messages.h"
#include "sim/sim.h"

// Confirmed ticks held but not yet stepped; when either is full the rest is not acknowledged and
// comes again.
#define CAIRN_LOCKSTEP_TICKS_MAX 512
#define CAIRN_LOCKSTEP_COMMANDS_MAX 16384
#define CAIRN_LOCKSTEP_ROOTS_MAX CAIRN_ROOTS_PER_MESSAGE_MAX

_Static_assert(CAIRN_LOCKSTEP_COMMANDS_MAX >= CAIRN_COMMANDS_PER_TICK_MAX, "any tick fits");

typedef struct cairn_lockstep_tick {
    cairn_hash128 root; // the server's, after the step
    uint32_t command_count;
} cairn_lockstep_tick;

typedef struct cairn_lockstep {
    const cairn_rules *rules; // the host's; NULL: those built in
    cairn_state_transfer transfer;
    cairn_world *world;        // owned; NULL before the first state
    cairn_body_state *scratch; // owned; room for all bodies of the world
    cairn_snapshots snapshots; // of the last steps, to be shown

    // The world's shapes after the last step, in order of index; the second list is for comparing.
    cairn_shape_id *shape_ids[2]; // owned
    uint32_t shape_count;
    uint32_t shape_revision; // changes whenever the list does

    bool expecting;                                      // next_tick is known
    uint64_t next_tick;                                  // all confirmed ticks below are held
    uint64_t first_tick;                                 // the oldest held, to be stepped first
    cairn_lockstep_tick ticks[CAIRN_LOCKSTEP_TICKS_MAX]; // by tick modulo size
    cairn_command *commands;                             // owned ring, in order of tick
    uint64_t commands_in; // ever put in and taken out; the place is modulo size
    uint64_t commands_out;

    cairn_wire_root roots[CAIRN_LOCKSTEP_ROOTS_MAX]; // own, by tick modulo size
    uint32_t root_count;                             // newest consecutive ones held
    uint64_t root_tick;                              // of the newest

    uint64_t steps;
    uint64_t roots_compared;
    uint64_t roots_differed;
    uint64_t first_difference_tick; // UINT64_MAX: none
    uint64_t states_loaded;
} cairn_lockstep;

typedef enum cairn_lockstep_verdict {
    CAIRN_LOCKSTEP_TAKEN = 0,
    CAIRN_LOCKSTEP_LOADED,          // a state was whole and the world is that of its tick
    CAIRN_LOCKSTEP_OUT_OF_ORDER,    // a piece of a state that is not under way
    CAIRN_LOCKSTEP_NOT_EXPECTED,    // ticks before any state
    CAIRN_LOCKSTEP_GAP,             // ticks that do not continue those held
    CAIRN_LOCKSTEP_FULL,            // no room for more ticks now
    CAIRN_LOCKSTEP_STATE_TOO_LARGE, // from here on: nothing to go on with
    CAIRN_LOCKSTEP_STATE_MALFORMED,
    CAIRN_LOCKSTEP_RULES_UNKNOWN,
    CAIRN_LOCKSTEP_COMMAND_REFUSED, // a confirmed command that no world takes
    CAIRN_LOCKSTEP_NO_MEMORY,
    CAIRN_LOCKSTEP_VERDICT_COUNT
} cairn_lockstep_verdict;
const char *cairn_lockstep_verdict_text(cairn_lockstep_verdict verdict);

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_lockstep_create(
    cairn_lockstep *lockstep, const cairn_rules *rules, uint32_t state_size_max);
void cairn_lockstep_destroy(cairn_lockstep *lockstep);
// Back to the state after create, for the next connection.
void cairn_lockstep_clear(cairn_lockstep *lockstep);

// A state older than the world's own tick is loaded too: the server began anew.
cairn_lockstep_verdict cairn_lockstep_take_state(
    cairn_lockstep *lockstep, const cairn_state_message *piece);
cairn_lockstep_verdict cairn_lockstep_take_ticks(
    cairn_lockstep *lockstep, const cairn_ticks_message *message);

// Steps while the world is behind `show_tick` and confirmed ticks are held, at most `ticks_max`
// times. Returns how many.
uint32_t cairn_lockstep_advance(cairn_lockstep *lockstep, double show_tick, uint32_t ticks_max);
// Confirmed ticks that wait to be stepped.
uint32_t cairn_lockstep_waiting(const cairn_lockstep *lockstep);

// The newest `count_max` own roots, oldest first; returns how many.
uint32_t cairn_lockstep_roots(
    const cairn_lockstep *lockstep, cairn_wire_root *out, uint32_t count_max);
