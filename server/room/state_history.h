// SPDX-License-Identifier: MIT
#pragma once

// The states of a room's last ticks, saved after each step: what healing compares with, what a
// query into the past is asked of, where a room is forked from. Memory is used only while somebody
// wants it, and never more than create was told. A state's tick is that of the world that was
// saved (cairn_world_tick): what a snapshot or a record of that tick tells of.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_state_history cairn_state_history;

// Who may want a past. The longest wish counts.
typedef enum cairn_state_history_user {
    CAIRN_STATE_HISTORY_FOR_RESYNC = 0,
    CAIRN_STATE_HISTORY_FOR_LAG,
    CAIRN_STATE_HISTORY_FOR_CONTROL,
    CAIRN_STATE_HISTORY_FOR_CAPSULES,
    CAIRN_STATE_HISTORY_USER_COUNT
} cairn_state_history_user;

// At most `ticks_max` states (at least 1) in at most `bytes_max` bytes. Nothing is kept before
// somebody wants it. CAIRN_INVALID_ARGUMENT, CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_state_history_create(
    uint32_t ticks_max, size_t bytes_max, cairn_state_history **out);
void cairn_state_history_destroy(cairn_state_history *past); // NULL is allowed

// From now on this many states are kept for `who`, as far as the bounds allow; 0: none any more.
// Memory that nobody wants is given back at once.
void cairn_state_history_require(
    cairn_state_history *past, cairn_state_history_user who, uint32_t ticks);

// Keeps the world's state; the oldest give way. To be called after each step, and once for a world
// that replaces the former: a tick that does not follow the newest one held forgets all before it.
// Does nothing when nothing is wanted. Allocates only while states grow. A state that the bound on
// bytes, or memory, has no room for forgets all, too, and is counted.
void cairn_state_history_save(cairn_state_history *past, const cairn_world *world);
void cairn_state_history_clear(cairn_state_history *past);
// Grows whenever states were forgotten: while it stays, a tick that is held has one state.
uint64_t cairn_state_history_generation(const cairn_state_history *past);

bool cairn_state_history_holds(const cairn_state_history *past, uint64_t tick);
// The state of a tick into a world of equal def. CAIRN_NOT_FOUND: the tick is not held;
// CAIRN_MALFORMED: the def differs. The world is then unchanged.
cairn_status cairn_state_history_load(
    const cairn_state_history *past, uint64_t tick, cairn_world *world);

typedef struct cairn_state_history_statistics {
    uint32_t ticks;         // held
    uint64_t oldest;        // valid when ticks > 0
    uint64_t newest;        // likewise
    size_t bytes;           // of memory for states
    uint64_t saves_refused; // for want of bytes or memory
} cairn_state_history_statistics;
cairn_state_history_statistics cairn_state_history_statistics_read(const cairn_state_history *past);
