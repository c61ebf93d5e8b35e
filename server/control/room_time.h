// SPDX-License-Identifier: MIT
#pragma once

// The events that report a room's pauses and speed to its clients. The verbs that change them are
// in room_time.c as well.

#include <stdint.h>

#include "schema/messages.h"
#include "server/session/session.h"

struct cairn_room;
struct cairn_server;

// Sends the event to every client of the room.
void cairn_room_time_notify(
    struct cairn_server *server, struct cairn_room *room, cairn_event_kind kind, uint64_t value);
// The room runs at `speed` thousandths of its rate from now on, and its clients are told.
void cairn_room_time_run(
    struct cairn_server *server, struct cairn_room *room, uint32_t speed, uint64_t now_ns);
// Tells a client that was just welcomed if its room is paused or runs at another speed.
void cairn_room_time_greet(struct cairn_server *server, cairn_session *session);
