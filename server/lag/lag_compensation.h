// SPDX-License-Identifier: MIT
#pragma once

// Lag compensation of one room and one client; cairn/server_lag.h is what a host calls.

#include "schema/messages.h"
#include "server/lag/lag_world.h"
#include "server/session/session.h"

// Of a room; zero: off.
typedef struct cairn_lag_compensation {
    cairn_lag_world *world; // owned; NULL: off
    uint32_t age_ticks_max;
    uint64_t counts[CAIRN_LAG_REFUSAL_COUNT];
} cairn_lag_compensation;

// What a client reported that its player saw; zero at first.
typedef struct cairn_session_lag {
    cairn_view_time shown;   // a span of 0: it reported nothing
    uint64_t reported_at_us; // by the client's clock
} cairn_session_lag;

void cairn_lag_destroy(cairn_room *room);
bool cairn_lag_is_enabled(const cairn_room *room);
// The room's world was replaced by one of the same def.
void cairn_lag_replace(cairn_room *room);
// Takes the report in an input message. Whether such ticks exist and are held is checked when the
// past is shown.
void cairn_lag_take_report(cairn_session *session, const cairn_input_message *input);

// What cairn_server_lag_enable does.
cairn_lag_refusal cairn_lag_enable(cairn_room *room, uint32_t age_ms_max);
