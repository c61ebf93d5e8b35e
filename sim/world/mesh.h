// SPDX-License-Identifier: MIT
#pragma once

// The meshes and height fields of a world. The state holds their data in blocks; trees and
// neighbours (sim/shape/mesh.h) are derived from it and stored beside it.

#include "sim/shape/mesh.h"
#include "sim/state/world.h"

// The slot of a live mesh or height field, CAIRN_INDEX_NONE otherwise.
uint32_t cairn_mesh_slot(const cairn_state *state, cairn_mesh_id mesh);
// Words of derived data that a world of that def has room for.
size_t cairn_meshes_derived_words(const cairn_world_def *def);
// Derives what is not derived from the present data yet.
void cairn_meshes_derive(cairn_world *world);
// Copies what is derived into a fork, which has the same state.
void cairn_meshes_copy(cairn_world *to, const cairn_world *from);

// Whether header `slot` fits its kind and the blocks, and shares no block with another.
bool cairn_mesh_header_ok(const cairn_state *state, uint32_t slot);
// Whether the data is such as create stores, bit for bit.
bool cairn_mesh_data_ok(const cairn_state *state, uint32_t slot);
// Whether the blocks end with the last one in use, and those between meshes are zero.
bool cairn_mesh_blocks_ok(const cairn_state *state);
// Whether what is derived belongs to the data.
bool cairn_meshes_ok(const cairn_world *world);
