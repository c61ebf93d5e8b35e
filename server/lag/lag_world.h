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
typedef struct cairn_view_time {
    uint64_t tick;
    uint32_t span; // at least 1
    float share;   // [0, 1]; at 0 the later state is not looked at
} cairn_view_time;

// Why there is no looking back. Counted by room.
typedef enum cairn_lag_refusal {
    CAIRN_LAG_SHOWN = 0,
    CAIRN_LAG_OFF,               // the room does not allow it
    CAIRN_LAG_VIEW_TIME_INVALID, // span or share outside its range
    CAIRN_LAG_TOO_OLD,           // older than the room allows
    CAIRN_LAG_FUTURE,            // not stepped yet
    CAIRN_LAG_NOT_HELD,          // the room began later, or its past has no room for it
    CAIRN_LAG_NO_ROOM,           // there is no such room
    CAIRN_LAG_BUSY,              // the room is being stepped on another thread: ask after its turn
    CAIRN_LAG_NO_CLIENT,         // nobody is there, or it has seen nothing yet
    CAIRN_LAG_NOT_REPORTED,      // the client has not said what it shows
    CAIRN_LAG_MEMORY,            // out of memory
    CAIRN_LAG_REFUSAL_COUNT
} cairn_lag_refusal;
const char *cairn_lag_refusal_text(cairn_lag_refusal refusal);

typedef struct cairn_lag_world cairn_lag_world;

// For worlds with the def of `like`. CAIRN_OUT_OF_MEMORY leaves *out NULL.
cairn_status cairn_lag_world_create(const cairn_world *like, cairn_lag_world **out);
void cairn_lag_world_destroy(cairn_lag_world *rewind); // NULL is allowed

// The world as it was shown: positions on straight lines, rotations the shorter way, by the
// arithmetic of bridge/interpolate.h; everything else as of the earlier tick. A body that ends on
// the way is shown until its end, one that begins on the way not before it has begun. `newest` is
// the room's tick. *out lasts until the next call; asking for the same sight again costs nothing.
// Takes no memory.
cairn_lag_refusal cairn_lag_world_show(cairn_lag_world *rewind, const cairn_state_history *past,
    uint64_t newest, uint32_t age_ticks_max, const cairn_view_time *sight, const cairn_world **out);

// What a room holds of it.
typedef struct cairn_lag_compensation {
    cairn_lag_world *world; // owned; NULL: looking back is off
    uint32_t age_ticks_max;
    uint64_t counts[CAIRN_LAG_REFUSAL_COUNT];
} cairn_lag_compensation;
