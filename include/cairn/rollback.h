// SPDX-License-Identifier: MIT
#pragma once

// Rollback of a part of a world. If past ticks were stepped with wrong commands, most bodies are
// right nevertheless: those that no body has touched which a wrong command may have moved. A
// rollback steps only the other bodies again, in a world of its own, and then corrects the states
// that a history holds, and the world. Every bit is as if the whole world had been stepped again.
//
// It does so only where that is certain: in a world without rules, with the soft-step solver, in
// which between these ticks nothing but steps has changed the world, and the commands do nothing
// but push dynamic bodies. There must be no mesh, no driven joint or articulation, no moving
// kinematic body, no disabled body, no dynamic body without mass, no bullet, and no body in the
// part that becomes so fast that it counts as one (1.5 of its half widths in a tick) without having
// been nearly as fast before. Otherwise it changes nothing and returns why; then restore the
// history and step all ticks again.

#include <cairn/history.h>
#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

// Ticks that can be corrected at once.
#define CAIRN_ROLLBACK_TICKS_MAX 32

typedef enum cairn_rollback_outcome {
    CAIRN_ROLLBACK_SCOPED = 0,     // done
    CAIRN_ROLLBACK_WHOLE_WORLD,    // rules, the PGS solver, a trace, or it was not stepped yet
    CAIRN_ROLLBACK_WHOLE_BODIES,   // a body or joint of which there must be none, see above
    CAIRN_ROLLBACK_WHOLE_COMMANDS, // a command that does more than push a dynamic body
    CAIRN_ROLLBACK_WHOLE_STATES,   // the history lacks a tick, or the world was restored since
    CAIRN_ROLLBACK_WHOLE_COUNTERS, // a counter of refusals changed, or gravity or capacities did
    CAIRN_ROLLBACK_WHOLE_SIZE,     // more than half of the awake bodies, or a list is full
    CAIRN_ROLLBACK_OUTCOME_COUNT
} cairn_rollback_outcome;
// A static text, one clause.
const char *cairn_rollback_outcome_text(cairn_rollback_outcome outcome);

// The commands of a tick: those that it was stepped with, and those that it should have been
// stepped with. Each list is sorted and checked as for cairn_world_step, and stays the caller's.
typedef struct cairn_rollback_tick {
    const cairn_command *before;
    const cairn_command *after;
    uint32_t before_count;
    uint32_t after_count;
} cairn_rollback_tick;

typedef struct cairn_rollback_statistics {
    uint64_t outcomes[CAIRN_ROLLBACK_OUTCOME_COUNT];
    uint64_t ticks;        // corrected, by all rollbacks that were done
    uint64_t bodies;       // that were stepped again in these ticks, summed over the ticks
    uint32_t bodies_last;  // the same of the last tick of the last rollback that was done
    uint32_t regrown_last; // how often the last rollback set its part up: once, and again whenever
                           // it met more bodies
} cairn_rollback_statistics;

typedef struct cairn_rollback cairn_rollback;

// For a world and a history of it, which stay the caller's and must exist until the last call of
// apply and its readers. Takes memory for a second world of the same def and 16 MiB. From now on
// the history keeps the hash sums of each tick that it saves; ticks saved before are hashed when
// asked for. CAIRN_INVALID_ARGUMENT: the history is of another world; CAIRN_OUT_OF_MEMORY. On
// failure *out is NULL. Pair with cairn_rollback_destroy.
cairn_status cairn_rollback_create(
    cairn_world *world, cairn_history *history, cairn_rollback **out);
void cairn_rollback_destroy(cairn_rollback *rollback); // NULL is allowed

// `ticks`: the last `count` ticks (1 .. CAIRN_ROLLBACK_TICKS_MAX) that the world was stepped from,
// oldest first. The history must hold the state before each of them, and nothing newer than the
// world. On CAIRN_ROLLBACK_SCOPED the world and all states after the first tick are as if `after`
// had been stepped, and roots[i], of `count`, is the full hash of the state after ticks[i]. On any
// other outcome world, history and roots are as they were.
cairn_rollback_outcome cairn_rollback_apply(cairn_rollback *rollback,
    const cairn_rollback_tick *ticks, uint32_t count, cairn_hash128 *roots);

// After CAIRN_ROLLBACK_SCOPED, until the next call of apply: the bodies that were stepped again, as
// they are after tick `index`, in order of id index, at most `capacity`. Returns how many there
// are; the others are as they were.
uint32_t cairn_rollback_bodies(
    const cairn_rollback *rollback, uint32_t index, cairn_body_state *out, uint32_t capacity);
// The same for the events of that tick, those of all bodies (cairn_world_contact_events), and only
// until the world is stepped or the history saves or drops a state.
uint32_t cairn_rollback_contact_events(
    const cairn_rollback *rollback, uint32_t index, cairn_contact_event *out, uint32_t capacity);

cairn_rollback_statistics cairn_rollback_statistics_read(const cairn_rollback *rollback);

#ifdef __cplusplus
}
#endif
