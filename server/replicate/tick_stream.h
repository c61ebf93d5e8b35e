// SPDX-License-Identifier: MIT
#pragma once

// Commands and checked roots of every tick, for a client that simulates. A tick is sent when it was
// stepped; again when the client's acknowledgements show that it was lost, or are overdue; and, on
// a path that loses, in the messages after it.

#include <stdint.h>

#include "server/replicate/tick_records.h"
#include "server/session/context.h"
#include "server/session/session.h"

// Ticks that may be on their way outside the reliable stream.
#define CAIRN_TICKS_IN_FLIGHT 64

typedef struct cairn_ticks_sent {
    uint64_t acknowledged;                   // the client holds all ticks below
    uint64_t early;                          // bit i: it holds tick acknowledged + 1 + i as well
    uint64_t sent_end;                       // ticks below were sent
    uint64_t queued;                         // overdue ticks below are in the reliable stream
    uint64_t sent_ns[CAIRN_TICKS_IN_FLIGHT]; // when a tick was sent last, by tick modulo the count
} cairn_ticks_sent;

// Takes an acknowledgement; one of ticks that do not exist is ignored.
void cairn_tick_stream_acknowledge(
    cairn_ticks_sent *sent, const cairn_room *room, uint64_t acknowledged, uint64_t early);
// Sends what is due of the ticks of the command log from `missing` on. `first`: the tick of the
// client's state.
void cairn_tick_stream_send(const cairn_server_context *context, cairn_session *session,
    cairn_tick_records *records, cairn_ticks_sent *sent, uint64_t first, uint64_t missing);
