// SPDX-License-Identifier: MIT
#pragma once

// A room with everything that the server keeps for it, in one piece of memory, its recording and
// its broadcast.

#include "schema/scene.h"
#include "server/core/room_recording.h"
#include "server/lag/lag_compensation.h"
#include "server/replicate/replication.h"
#include "server/resync/resync.h"
#include "server/room/room.h"
#include "server/session/context.h"
#include "server/session/input_wait.h"

// What the sessions of a server point to.
typedef struct cairn_session_features {
    cairn_session_replication replication;
    cairn_session_lag lag;
    cairn_session_resync resync;
} cairn_session_features;

// NULL: refused with *status and `error`, as cairn_room_create does. The name is checked by the
// caller. `recordings` and `broadcasts` outlive the room.
cairn_room *cairn_hosted_room_create(cairn_recordings *recordings, cairn_recordings *broadcasts,
    const cairn_server_room_config *config, const cairn_room_source *source, cairn_status *status,
    char error[CAIRN_SCENE_ERROR_SIZE]);
// Ends the recording and the broadcast. The room has no members and its job is not running
// (asserted).
void cairn_hosted_room_destroy(cairn_room *room);

// Makes the client a member of the room, or ends its membership. False: out of memory.
bool cairn_hosted_room_join(cairn_room *room, cairn_session *session);
void cairn_hosted_room_leave(cairn_session *session);

// Puts the client in the state in which it was admitted: what it holds of the world is nothing any
// more.
void cairn_hosted_room_restart_member(const cairn_server_context *context, cairn_session *session);

// Begins a recording and a broadcast if these are wanted, the server has a place for them, and
// there is memory; the room has none (asserted).
void cairn_hosted_room_begin_recordings(cairn_recordings *recordings, cairn_recordings *broadcasts,
    cairn_room *room, bool recorded, bool broadcast);
// Ends the recording and the broadcast; the room continues.
void cairn_hosted_room_end_recordings(cairn_room *room);
