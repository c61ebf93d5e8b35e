// SPDX-License-Identifier: MIT
#pragma once

// Lag compensation of one room and one client; cairn/server_lag.h is what a host calls.

#include "compress/quantised_body.h"
#include "schema/input_payload.h"
#include "server/session/session.h"
#include <cairn/server_lag.h>

// A room's world as it was shown between two states of its history, for queries that are fair to a
// client that aimed at what it saw. It has worlds of its own and never changes the room's.
typedef struct cairn_lag_world cairn_lag_world;

// For worlds with the def of `like`. CAIRN_OUT_OF_MEMORY leaves *out NULL.
cairn_status cairn_lag_world_create(const cairn_world *like, cairn_lag_world **out);
void cairn_lag_world_destroy(cairn_lag_world *lag); // NULL is allowed

// The world as it was shown: positions on straight lines, rotations the shorter way, by the
// arithmetic of bridge/interpolate.h; everything else as of the earlier tick. A body that ends
// within the span is shown until its end; one that begins within it is shown from its beginning.
// `newest` is the room's tick; `quantisation` that of its snapshots. *out lasts until the next
// call; asking for the same view time again costs nothing. Allocates nothing.
cairn_lag_refusal cairn_lag_world_show(cairn_lag_world *lag, const cairn_state_history *history,
    uint64_t newest, uint32_t age_ticks_max, const cairn_quantisation *quantisation,
    const cairn_view_time *view_time, const cairn_world **out);

// Of a room; zero: off.
typedef struct cairn_lag_compensation {
    cairn_lag_world *world; // owned; NULL: off
    uint32_t age_ticks_max;
    uint64_t counts[CAIRN_LAG_REFUSAL_COUNT];
} cairn_lag_compensation;

// What a client reported that its player saw; zero at first.
typedef struct cairn_session_lag {
    cairn_view_time shown;   // a span of 0: it reported nothing
    uint8_t reported_number; // of the INPUT that `shown` is from
} cairn_session_lag;

void cairn_lag_destroy(cairn_room *room);
// The room's world was replaced by one of the same def.
void cairn_lag_replace(cairn_room *room);
// Takes the report in an input message. Whether such ticks exist and are held is checked when the
// past is shown.
void cairn_lag_take_report(cairn_session *session, const cairn_input_head *input);

// What cairn_server_lag_enable does.
cairn_lag_refusal cairn_lag_enable(cairn_room *room, uint32_t age_ms_max);
