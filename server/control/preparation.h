// SPDX-License-Identifier: MIT
#pragma once

// What a request needs before its verb is carried out and what takes longer the larger the world or
// its recording is: the encoding of a save, the world of a save that is loaded, a tick that is
// looked for in a recording, a scene's first state, the differences of two worlds, and for a world
// that a room will take its hash and what its recording gets. A task does it, one at a time; the
// request waits meanwhile, and the room goes on. What only the server's thread may copy is copied
// in several turns, one world in each, into memory that a task has found before.

#include <cairn/control.h>

#include "bridge/scene_world.h"
#include "server/control/verbs.h"
#include "sim/world/fork.h"

typedef struct cairn_control_preparation {
    cairn_server_task task; // first
    bool begun;             // for the request below
    bool copying;           // of worlds of rooms: the task has not started
    bool done;
    uint32_t client;
    uint64_t client_id;
    cairn_control_request request; // its texts are not kept

    const cairn_server_config *config;
    char room[CAIRN_ROOM_NAME_SIZE];
    uint32_t room_id;
    bool recorded;       // the room, or broadcast
    cairn_world_def def; // the room's settings
    cairn_scene scene;   // RESET: its memory is not this one's
    cairn_control_saves *saves;
    // Owned. SAVE and DIFF: a copy of the room's world. Otherwise the new one, or NULL.
    cairn_world *world;
    cairn_world *other;                // DIFF: owned, a copy of the other room's
    cairn_fork_size size_of[2];        // of the worlds that are copied
    uint32_t reserves;                 // how many
    bool copied[2];                    // `world`, `other`: false: memory for it
    cairn_world_population population; // of the new world
    cairn_saved_world saved;           // of the new world, for a recording
    cairn_state_history *states; // of a world that replaces the room's; owned; NULL: no memory
    uint8_t *bytes;              // SAVE: owned; NULL: no memory. LOAD: lent by the saves
    size_t size;
    cairn_slot_set players;   // the slots that have a player in the world
    cairn_hash128 root;       // of the room's world when it was copied
    cairn_hash128 other_root; // DIFF
    uint32_t copies;          // DIFF: that were made again
    cairn_status status;      // SEEK: CAIRN_NOT_FOUND: the recording does not have the tick
    const char *where;        // LOAD: what of the save is refused
    char error[CAIRN_SCENE_ERROR_SIZE]; // RESET: what of the scene is refused
    cairn_difference differences[CAIRN_CONTROL_DIFFERENCES_MAX];
    uint32_t difference_count; // DIFF: in all
    uint64_t tick;             // of the room's world when it was copied
} cairn_control_preparation;

// Whether the verb can be carried out now: nothing has to be prepared, or it has been. Otherwise
// begins it as soon as nothing else is being prepared. The room's job is not running.
bool cairn_control_prepare(cairn_control_preparation *preparation, cairn_server *server,
    cairn_room *room, cairn_control_saves *saves, const cairn_control_asked *asked);
// Whether the verb replaces the room's world.
bool cairn_control_replaces_world(uint32_t verb);
// The other room of a DIFF; NULL: not one. Its job may run.
cairn_room *cairn_control_other_room(cairn_server *server, const cairn_control_request *request);
// Whether it is the one of this request.
bool cairn_control_preparation_is_of(
    const cairn_control_preparation *preparation, const cairn_control_asked *asked);
// *copy becomes a copy of `from`: *copied tells if it is a world or memory for one (NULL: neither).
// CAIRN_OUT_OF_MEMORY: *copy is NULL.
cairn_status cairn_control_copy_world(const cairn_world *from, cairn_world **copy, bool *copied);
// Frees what nobody took and makes place for the next one. Its task is not out (asserted).
void cairn_control_preparation_end(cairn_control_preparation *preparation);

// To free a large world and its earlier states takes long: a task does it. NULL is allowed.
void cairn_control_dispose_of(
    cairn_server *server, cairn_world *world, cairn_state_history *states);
