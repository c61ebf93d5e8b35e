// SPDX-License-Identifier: MIT
#pragma once

// Rollback of a part of a world. If the commands of past ticks were wrong, most of what was stepped
// since is right nevertheless: bodies that nothing touched which a wrong command had touched. A
// rollback steps only the others again, beside the world, and corrects the states that a history
// holds, and the world, to the bits that stepping everything again would give.
//
// It does so only where that is certain: in a world without rules, solved by soft steps, without
// meshes, driven joints, articulations, bullets, bodies that become as fast as one (1.5 of their
// half widths in a tick) or bodies that a command moves without a push, and if the commands of
// these ticks only push dynamic bodies. Otherwise it says why not and changes nothing; then restore
// the history and step again.

#include <cairn/history.h>
#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

// Ticks that can be corrected at once.
#define CAIRN_ROLLBACK_TICKS_MAX 32

typedef enum cairn_rollback_outcome {
    CAIRN_ROLLBACK_SCOPED = 0,     // done
    CAIRN_ROLLBACK_WHOLE_WORLD,    // rules, the PGS solver, or no valid pair cache yet
    CAIRN_ROLLBACK_WHOLE_BODIES,   // meshes, drives, bullets, bodies that become as fast or move
                                   // without impulses
    CAIRN_ROLLBACK_WHOLE_COMMANDS, // a command that does more than push a dynamic body
    CAIRN_ROLLBACK_WHOLE_STATES,   // the history lacks a tick, or the world left it
    CAIRN_ROLLBACK_WHOLE_COUNTERS, // a body was disabled, or something dropped or refused
    CAIRN_ROLLBACK_WHOLE_SIZE,     // more than half of the awake bodies, or a list is full
    CAIRN_ROLLBACK_OUTCOME_COUNT
} cairn_rollback_outcome;
// Static text.
const char *cairn_rollback_outcome_text(cairn_rollback_outcome outcome);

// The commands of a tick, sorted and checked as for cairn_world_step: those it was stepped with,
// and those it should have been.
typedef struct cairn_rollback_tick {
    const cairn_command *before;
    const cairn_command *after;
    uint32_t before_count;
    uint32_t after_count;
} cairn_rollback_tick;

typedef struct cairn_rollback_statistics {
    uint64_t outcomes[CAIRN_ROLLBACK_OUTCOME_COUNT];
    uint64_t ticks;        // corrected by rollbacks of a part
    uint64_t bodies;       // stepped again in these ticks, summed
    uint32_t bodies_last;  // in the last tick of the last of them
    uint32_t regrown_last; // steps that were repeated because they met more bodies
} cairn_rollback_statistics;

typedef struct cairn_rollback cairn_rollback;

// For a world and its history, which both outlive it or are not used through it any more. Takes
// memory for a second world of the same def. CAIRN_INVALID_ARGUMENT: the history is of another
// world; CAIRN_OUT_OF_MEMORY. *out is then NULL. Pair with cairn_rollback_destroy.
cairn_status cairn_rollback_create(
    cairn_world *world, cairn_history *history, cairn_rollback **out);
void cairn_rollback_destroy(cairn_rollback *rollback); // NULL is allowed

// The last `count` ticks (1 .. CAIRN_ROLLBACK_TICKS_MAX) that the world was stepped from, oldest
// first. The history must hold the state before each of them, and nothing newer than the world.
// On CAIRN_ROLLBACK_SCOPED the world and all states after the first tick are as if `after` had been
// stepped, and roots[i] is the full hash of the state after tick i. On any other outcome nothing
// has changed.
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
