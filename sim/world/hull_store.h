// SPDX-License-Identifier: MIT
#pragma once

// The hulls of a world. The state holds their vertices. Everything else (cairn_hull) is derived
// from these and stored beside the state, by slot.

#include "sim/state/world.h"

// The slot of a live hull, CAIRN_INDEX_NONE otherwise.
uint32_t cairn_hull_slot(const cairn_world *world, cairn_hull_id hull);
// Rebuilds each hull whose vertices in the state differ from those it was built from.
void cairn_hulls_derive(cairn_world *world);
// Whether the hull of these vertices has exactly these vertices, bit for bit, as is true of all
// that cairn_hull_create stores.
bool cairn_hull_vertices_ok(const cairn_hull_vertices *points);
