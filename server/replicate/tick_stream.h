// SPDX-License-Identifier: MIT
#pragma once

// Commands and roots of every tick, for a client that simulates, until it acknowledges them.

#include <stdint.h>

#include "server/session/context.h"
#include "server/session/session.h"

typedef struct cairn_ticks_sent {
    uint64_t acknowledged; // the client holds all ticks below
    uint64_t queued;       // overdue ticks below are in the reliable stream
} cairn_ticks_sent;

// Sends the ticks of the command log from `missing` on.
void cairn_tick_stream_send(const cairn_server_context *context, cairn_session *session,
    cairn_ticks_sent *sent, uint64_t missing);
