// SPDX-License-Identifier: MIT
#pragma once

// What operators ask of a server (docs/PROTOCOL.md, Control). A request is checked for the right
// when it comes, waits in a queue until its room is at rest between two turns and the client's link
// has room for the answer, and is then done as a whole.

#include <stdbool.h>
#include <stdint.h>

#include "schema/control.h"
#include "schema/messages.h"
#include "server/session/session.h"

struct cairn_room;
struct cairn_server;

// Requests in the queue of a server; what comes beyond is refused as busy.
#define CAIRN_CONTROL_QUEUE_MAX 64
// Requests without the right before their client is shown the door.
#define CAIRN_CONTROL_REFUSED_MAX 64

// The queue and the memory for answers. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_control_open(struct cairn_server *server);
void cairn_control_close(struct cairn_server *server);

// A CONTROL message came. True when its client asks beyond reason for what it may not.
bool cairn_control_take(
    struct cairn_server *server, cairn_session *session, const cairn_control *ask);
// Does what waits in the queue and can be done.
void cairn_control_advance(struct cairn_server *server);
// When advance next has something to do.
uint64_t cairn_control_due_ns(const struct cairn_server *server);

// A room has run its turn: whoever waited for that is answered.
void cairn_control_arrive(struct cairn_server *server, struct cairn_room *room);
// A client was welcomed to a room whose time is bent: it is told.
void cairn_control_greet(struct cairn_server *server, cairn_session *session);
// The room is about to be closed.
void cairn_control_leave_room(struct cairn_server *server, struct cairn_room *room);
// One sentence to all who are in the room.
void cairn_control_notify(
    struct cairn_server *server, struct cairn_room *room, cairn_event_kind kind, uint64_t value);
