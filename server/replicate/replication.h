// SPDX-License-Identifier: MIT
#pragma once

// What clients are sent of their room after a batch of ticks. A client that interpolates gets the
// shapes, then snapshots. One that simulates gets the full state in pieces, then every tick's
// commands and root. The command log is kept until it has caught up; if it falls behind the log
// later it gets a new state. What finds no room
// in the reliable stream waits for the next batch, so nothing is lost and nothing blocks.

#include <stdbool.h>
#include <stdint.h>

#include "schema/input_payload.h"
#include "server/replicate/game_messages.h"
#include "server/replicate/interest.h"
#include "server/replicate/meshes.h"
#include "server/replicate/shapes.h"
#include "server/replicate/snapshots.h"
#include "server/replicate/state_transfer.h"
#include "server/replicate/tick_stream.h"
#include "server/replicate/view.h"
#include "server/replicate/world_events.h"
#include "server/session/context.h"
#include "server/session/session.h"

// Of a room.
typedef struct cairn_room_replication {
    cairn_baselines *baselines; // owned
    cairn_room_shapes shapes;
    cairn_room_meshes meshes;
    cairn_state_source state;
    cairn_tick_records tick_records;
    cairn_room_interest interest; // zero until a client has a view
    uint32_t views;               // clients that have one
    uint32_t shown;               // clients that are shown snapshots
} cairn_room_replication;

// Of a client; zero at first.
typedef struct cairn_session_replication {
    cairn_shapes_sent shapes;
    cairn_meshes_sent meshes;
    cairn_snapshots_sent snapshots;
    cairn_view *view; // owned; NULL: it is sent the snapshots that all share
    cairn_state_transfer_progress state;
    cairn_ticks_sent ticks;
    cairn_world_events_sent events;
    cairn_game_sent game;
} cairn_session_replication;

// For a room that has its world; room->replication points to zeros. `runner`: of its tasks.
// CAIRN_OUT_OF_MEMORY: destroying is allowed.
cairn_status cairn_room_replication_create(cairn_room *room, cairn_task_runner *runner);
void cairn_room_replication_destroy(cairn_room *room);
// The room's world was replaced: forgets the former, also for all members, as if each had just been
// admitted.
void cairn_room_replication_replace(cairn_room *room);
// The world as it is becomes the newest snapshot if a member is shown snapshots; otherwise those
// that are held are dropped, and the answer is false.
bool cairn_room_replication_take_snapshot(cairn_room *room);

// The client is about to join `room`: allocates what depends on the room. False: out of
// memory.
bool cairn_replication_open(cairn_session *session, const cairn_room *room);
// The client is about to leave its room.
void cairn_replication_close(cairn_session *session);
// As if the client had just been admitted to its room.
void cairn_replication_reset(cairn_session *session);
// Takes the acknowledgements of an input message; those that name what does not exist are ignored.
void cairn_replication_acknowledge(cairn_session *session, const cairn_input_head *input);
// Whether the client acknowledged its first snapshot or tick.
bool cairn_replication_holds_world(const cairn_session *session);
// Why the server cannot send the client a state that it could follow: a static text. NULL: the
// server can, or the reliable stream has no room yet to tell the client.
const char *cairn_replication_refusal(const cairn_session *session);
// The first tick that the command log must keep for the client, which has not caught up with its
// state. UINT64_MAX: the client needs no more ticks than the log always keeps.
uint64_t cairn_replication_kept_tick(
    const cairn_server_context *context, const cairn_session *session);
// Sends what is due. `snapshot`: the room has a snapshot that the client should get.
void cairn_replication_advance(
    const cairn_server_context *context, cairn_session *session, bool snapshot);
