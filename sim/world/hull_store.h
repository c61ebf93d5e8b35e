// SPDX-License-Identifier: MIT
#pragma once

// Private to the room: the hulls of a world. The state holds their vertices; everything else of
// them (cairn_hull) follows from these and is kept beside it, by slot.

#include "sim/state/world.h"

// The slot of a live hull, CAIRN_INDEX_NONE otherwise.
uint32_t cairn_hull_slot(const cairn_world *world, cairn_hull_id hull);
// Makes the hulls ready that differ from what they were made ready from.
void cairn_hulls_derive(cairn_world *world);
// Whether a hull made from these vertices has just them, bit for bit: what cairn_hull_create stored
// and nothing else.
bool cairn_hull_vertices_ok(const cairn_hull_vertices *points);
