// SPDX-License-Identifier: MIT
#pragma once

// A room's world as it was shown between two states of its history, for queries that are fair to a
// client that aimed at what it saw. Works on worlds of its own and never touches the room's.

#include <stdint.h>

#include "server/room/state_history.h"
#include <cairn/server_lag.h>
#include <cairn/sim.h>

typedef struct cairn_lag_world cairn_lag_world;

// For worlds with the def of `like`. CAIRN_OUT_OF_MEMORY leaves *out NULL.
cairn_status cairn_lag_world_create(const cairn_world *like, cairn_lag_world **out);
void cairn_lag_world_destroy(cairn_lag_world *lag); // NULL is allowed

// The world as it was shown: positions on straight lines, rotations the shorter way, by the
// arithmetic of bridge/interpolate.h; everything else as of the earlier tick. A body that ends
// within the span is shown until its end; one that begins within it is shown from its beginning.
// `newest` is the room's tick. *out lasts until the next call; asking for the same view time again
// costs nothing. Allocates nothing.
cairn_lag_refusal cairn_lag_world_show(cairn_lag_world *lag, const cairn_state_history *history,
    uint64_t newest, uint32_t age_ticks_max, const cairn_view_time *view_time,
    const cairn_world **out);
