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

typedef struct cairn_past cairn_past;

// Who may want a past. The longest wish counts.
typedef enum cairn_past_wisher {
    CAIRN_PAST_HEAL = 0,
    CAIRN_PAST_REWIND,
    CAIRN_PAST_CONTROL,
    CAIRN_PAST_CAPSULES,
    CAIRN_PAST_WISHER_COUNT
} cairn_past_wisher;

// At most `ticks_max` states (at least 1) in at most `bytes_max` bytes. Nothing is kept before
// somebody wants it. CAIRN_INVALID_ARGUMENT, CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_past_create(uint32_t ticks_max, size_t bytes_max, cairn_past **out);
void cairn_past_destroy(cairn_past *past); // NULL is allowed

// From now on this many states are kept for `who`, as far as the bounds allow; 0: none any more.
// Memory that nobody wants is given back at once.
void cairn_past_want(cairn_past *past, cairn_past_wisher who, uint32_t ticks);

// Keeps the world's state; the oldest give way. To be called after each step, and once for a world
// that replaces the former: a tick that does not follow the newest one held forgets all before it.
// Does nothing when nothing is wanted. Allocates only while states grow. A state that the bound on
// bytes, or memory, has no room for forgets all, too, and is counted.
void cairn_past_save(cairn_past *past, const cairn_world *world);
void cairn_past_forget(cairn_past *past);
// Grows whenever states were forgotten: while it stays, a tick that is held has one state.
uint64_t cairn_past_epoch(const cairn_past *past);

bool cairn_past_holds(const cairn_past *past, uint64_t tick);
// The state of a tick into a world of equal def. CAIRN_NOT_FOUND: the tick is not held;
// CAIRN_MALFORMED: the def differs. The world is then unchanged.
cairn_status cairn_past_load(const cairn_past *past, uint64_t tick, cairn_world *world);

typedef struct cairn_past_statistics {
    uint32_t ticks;         // held
    uint64_t oldest;        // valid when ticks > 0
    uint64_t newest;        // likewise
    size_t bytes;           // of memory for states
    uint64_t saves_refused; // for want of bytes or memory
} cairn_past_statistics;
cairn_past_statistics cairn_past_statistics_read(const cairn_past *past);
