// SPDX-License-Identifier: MIT
#pragma once

// The triangle meshes and height fields of a room's world, and which of them each interpolating
// client was sent. They do not change while they exist, so the room keeps one copy for all.

#include <stdbool.h>
#include <stdint.h>

#include "server/replicate/shapes.h"
#include "server/session/context.h"
#include "server/session/session.h"
#include <cairn/sim.h>

typedef struct cairn_room_mesh {
    cairn_mesh_id id; // 0: this index is free, or its copy found no memory
    cairn_mesh_info info;
    uint32_t *words; // owned, as MESH messages have them
    uint32_t word_count;
} cairn_room_mesh;

typedef struct cairn_room_meshes {
    cairn_room_mesh *meshes; // owned, by index of id, as many as the world may have
    cairn_mesh_id *ids;      // owned; scratch
    uint8_t *wanted;         // owned; scratch, by index
    uint32_t capacity;
    uint32_t revision; // counts changes, from 1
} cairn_room_meshes;

// False: out of memory; destroying is allowed.
bool cairn_room_meshes_create(uint32_t capacity, const cairn_world *world, cairn_room_meshes *out);
void cairn_room_meshes_destroy(cairn_room_meshes *list);
// Copies meshes that the world has and the list has not, and frees those that are gone. Without
// memory for a copy it tries again at the next call.
void cairn_room_meshes_update(cairn_room_meshes *list, const cairn_world *world);
// After the world was replaced: equal ids may be other meshes.
void cairn_room_meshes_replace(cairn_room_meshes *list, const cairn_world *world);

// What one client was sent. `ids` is owned, has room for the meshes of the world, and is NULL for a
// world that may have none.
typedef struct cairn_meshes_sent {
    cairn_mesh_id *ids;      // by index; of a mesh in `partial`, too; 0: none
    uint32_t shape_messages; // of cairn_shapes_sent, when `revision` was reached
    uint32_t partial;        // index + 1 of the mesh that is under way; 0: none
    uint32_t first;          // of its words that were not sent yet
    uint32_t revision;       // of the list when all of it was sent
} cairn_meshes_sent;

// Sends the meshes that are new and the ids of those that are gone, as far as the link has room.
// With `shapes_sent` the client is sent the meshes that shapes which it has use, and no others.
void cairn_meshes_send(const cairn_server_context *context, cairn_session *session,
    const cairn_room_meshes *list, const cairn_room_shapes *shapes,
    const cairn_shapes_sent *shapes_sent, cairn_meshes_sent *sent);
