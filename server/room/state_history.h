// SPDX-License-Identifier: MIT
#pragma once

// The states of a room's last ticks (<cairn/history.h>), saved after each step: resync compares
// with them, lag compensation shows them, a fork or a seek starts from them. Memory is used only
// while a feature requires states, and never more than the bound. The tick of a state is that of
// the world that was saved (cairn_world_tick), as in snapshots and recordings.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_state_history cairn_state_history;

// Features that may require states. The longest requirement counts.
typedef enum cairn_state_history_user {
    CAIRN_STATE_HISTORY_FOR_RESYNC = 0,
    CAIRN_STATE_HISTORY_FOR_LAG,
    CAIRN_STATE_HISTORY_FOR_CONTROL,
    CAIRN_STATE_HISTORY_FOR_CAPSULES,
    CAIRN_STATE_HISTORY_USER_COUNT
} cairn_state_history_user;

// Keeps at most `ticks_max` states (at least 1) in at most `bytes_max` bytes, and none before they
// are required. CAIRN_INVALID_ARGUMENT, CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_state_history_create(
    uint32_t ticks_max, size_t bytes_max, cairn_state_history **out);
void cairn_state_history_destroy(cairn_state_history *history); // NULL is allowed

// From now on this many states are kept for `user`, as far as the bounds allow; 0: none. When no
// states are required any more, their memory is freed at once.
void cairn_state_history_require(
    cairn_state_history *history, cairn_state_history_user user, uint32_t ticks);

// Saves the world's state and drops the oldest ones. To be called after each step, and once when
// the world was replaced. A tick that does not follow the newest one held clears the history first.
// Does nothing while no states are required. Allocates once when they are. When the state does
// not fit the bound on bytes, or memory is short, the history is cleared and the refusal counted.
void cairn_state_history_save(cairn_state_history *history, cairn_world *world);
void cairn_state_history_clear(cairn_state_history *history);
// To begin and to free the states of a large world takes long, so both can be done elsewhere: one
// with the same bounds and requirements, without states. CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_state_history_create_like(
    const cairn_state_history *like, cairn_state_history **out);
// Each gets the states of the other; counts as a clearing.
void cairn_state_history_exchange(cairn_state_history *history, cairn_state_history *other);
// Grows whenever the history was cleared: while it stays, a tick that is held has one state.
uint64_t cairn_state_history_generation(const cairn_state_history *history);

bool cairn_state_history_holds(const cairn_state_history *history, uint64_t tick);
// The state of a tick into a world of equal def. CAIRN_NOT_FOUND: the tick is not held;
// CAIRN_MALFORMED: the def differs. The world is then unchanged.
cairn_status cairn_state_history_load(
    const cairn_state_history *history, uint64_t tick, cairn_world *world);

typedef struct cairn_state_history_statistics {
    uint32_t ticks;         // held
    uint64_t oldest;        // valid if ticks > 0
    uint64_t newest;        // valid if ticks > 0
    size_t bytes;           // in use by states
    size_t memory;          // ever touched for them, at most the bound
    size_t reserved;        // taken for them, touched or not
    uint64_t saves_refused; // by the bound, or out of memory
} cairn_state_history_statistics;
cairn_state_history_statistics cairn_state_history_statistics_read(
    const cairn_state_history *history);
