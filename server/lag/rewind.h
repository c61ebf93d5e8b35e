// SPDX-License-Identifier: MIT
#pragma once

// Looking back: a room's world as it was shown between the states of two ticks of its past, for
// queries that are fair to who aimed at what they saw. Works on worlds of its own; the room's is
// never touched.

#include <stdint.h>

#include "server/room/state_history.h"
#include <cairn/sim.h>

// What is shown: the states of tick and tick + span, share of the way from one to the other. Who
// interpolates between snapshots shows spans of several ticks.
typedef struct cairn_sight {
    uint64_t tick;
    uint32_t span; // at least 1
    float share;   // [0, 1]; at 0 the later state is not looked at
} cairn_sight;

// Why there is no looking back. Counted by room.
typedef enum cairn_rewind_refusal {
    CAIRN_REWIND_SHOWN = 0,
    CAIRN_REWIND_OFF,       // the room does not allow it
    CAIRN_REWIND_SIGHT,     // span or share outside its range
    CAIRN_REWIND_TOO_OLD,   // older than the room allows
    CAIRN_REWIND_FUTURE,    // not stepped yet
    CAIRN_REWIND_NOT_HELD,  // the room began later, or its past has no room for it
    CAIRN_REWIND_NO_ROOM,   // there is no such room
    CAIRN_REWIND_BUSY,      // the room is being stepped on another thread: ask after its turn
    CAIRN_REWIND_NO_CLIENT, // nobody is there, or it has seen nothing yet
    CAIRN_REWIND_NOT_TOLD,  // the client has not said what it shows
    CAIRN_REWIND_MEMORY,    // out of memory
    CAIRN_REWIND_REFUSAL_COUNT
} cairn_rewind_refusal;
const char *cairn_rewind_refusal_text(cairn_rewind_refusal refusal);

typedef struct cairn_rewind cairn_rewind;

// For worlds with the def of `like`. CAIRN_OUT_OF_MEMORY leaves *out NULL.
cairn_status cairn_rewind_create(const cairn_world *like, cairn_rewind **out);
void cairn_rewind_destroy(cairn_rewind *rewind); // NULL is allowed

// The world as it was shown: positions on straight lines, rotations the shorter way, by the
// arithmetic of bridge/between.h; everything else as of the earlier tick. A body that ends on the
// way is shown until its end, one that begins on the way not before it has begun. `newest` is the
// room's tick. *out lasts until the next call; asking for the same sight again costs nothing. Takes
// no memory.
cairn_rewind_refusal cairn_rewind_show(cairn_rewind *rewind, const cairn_past *past,
    uint64_t newest, uint32_t age_ticks_max, const cairn_sight *sight, const cairn_world **out);

// What a room holds of it.
typedef struct cairn_lag {
    cairn_rewind *rewind; // owned; NULL: looking back is off
    uint32_t age_ticks_max;
    uint64_t counts[CAIRN_REWIND_REFUSAL_COUNT];
} cairn_lag;
