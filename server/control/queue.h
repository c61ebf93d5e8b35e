// SPDX-License-Identifier: MIT
#pragma once

// The requests of operators (docs/PROTOCOL.md, Control). A request is checked for the operator's
// right when it arrives. It then waits here until no job steps its room and the client's link has
// space for the answer, and is carried out as a whole.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/control.h>
#include <cairn/status.h>

#include "server/session/session.h"

struct cairn_room;
struct cairn_server;

// Requests that wait in a server; further ones are refused as busy. One client has at most a
// quarter, and the last quarter is for clients that have few waiting: no operator keeps another one
// waiting.
#define CAIRN_CONTROL_QUEUE_MAX 256
#define CAIRN_CONTROL_QUEUE_PER_CLIENT_MAX (CAIRN_CONTROL_QUEUE_MAX / 4)
#define CAIRN_CONTROL_QUEUE_RESERVED (CAIRN_CONTROL_QUEUE_MAX / 4)
#define CAIRN_CONTROL_QUEUE_FEW 2
// Unauthorised requests that are tolerated before the client is disconnected.
#define CAIRN_CONTROL_UNAUTHORISED_MAX 64

typedef struct cairn_control_queue cairn_control_queue;

// Pair with destroy. CAIRN_OUT_OF_MEMORY leaves *out NULL.
cairn_status cairn_control_queue_create(cairn_control_queue **out);
void cairn_control_queue_destroy(cairn_control_queue *queue);

// A CONTROL message arrived. True if its client sent too many requests without the right.
bool cairn_control_queue_receive(
    struct cairn_server *server, cairn_session *session, const cairn_control_request *request);
// Carries out the requests that can be carried out now.
void cairn_control_queue_advance(struct cairn_server *server);
// When advance is due next; UINT64_MAX if nothing waits.
uint64_t cairn_control_queue_deadline_ns(const struct cairn_server *server);

// The room was stepped: answers the request that waits for it, if the room has run far enough.
void cairn_control_queue_room_stepped(struct cairn_server *server, struct cairn_room *room);
// The room is about to close: refuses the request that waits for it.
void cairn_control_queue_room_closing(struct cairn_server *server, struct cairn_room *room);
