// SPDX-License-Identifier: MIT
#pragma once

// Triangle meshes and height fields, from MESH messages, by index of id.

#include <stdint.h>

#include "schema/messages.h"
#include <cairn/status.h>

typedef struct cairn_shown_mesh {
    cairn_mesh_id id; // 0: free
    uint32_t kind;    // cairn_mesh_kind
    uint32_t vertex_count;
    uint32_t triangle_count;
    uint32_t columns;
    uint32_t rows;
    float spacing_x;
    float spacing_z;
    uint32_t *words; // owned; as the messages have them; NULL: there was no room
    uint32_t word_count;
    uint32_t received; // words
} cairn_shown_mesh;

typedef struct cairn_mesh_list {
    cairn_shown_mesh *meshes; // owned, CAIRN_MESHES_MAX from the first message on
    size_t size;              // bytes of all words
    size_t size_max;
    uint32_t revision; // changes whenever a mesh has arrived or is gone
} cairn_mesh_list;

void cairn_mesh_list_destroy(cairn_mesh_list *list);
void cairn_mesh_list_clear(cairn_mesh_list *list);
// Takes a checked message. CAIRN_CAPACITY: the list has no room for the mesh and leaves it out.
// CAIRN_WRONG_STATE: the piece does not follow those before it, which a server never does; ignored.
cairn_status cairn_mesh_list_take(cairn_mesh_list *list, const cairn_mesh_message *message);
// The mesh with this id; NULL: not in the list, or not all of it has arrived.
const cairn_shown_mesh *cairn_mesh_list_find(const cairn_mesh_list *list, cairn_mesh_id id);
