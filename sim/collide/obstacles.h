// SPDX-License-Identifier: MIT
#pragma once

// What stands in the way of fast bodies: shapes that no impulse moves, without sensors; and
// bullets.
//
// The pair cache must have the pairs of a fast body with the obstacles that its motion may lead to.
// Its fat AABB need not contain the whole motion for that: as a rule nothing is there. So each fat
// AABB has a clearance, m: it may grow by that much without meeting the fat AABB of an obstacle
// that it does not meet already. A fat AABB that meets none has as much room, which the next one of
// the shape inherits: a body that falls for a second looks for obstacles a few times, not every
// fourth tick. Like the cache, clearances and rooms are derived, and no result depends on them.
//
// A bullet is swept against all bodies, and the motion of a fast one counts as well. So while there
// are fast bullets, the motion of each fast body is compared with theirs: what it meets must not
// depend on how far its fat AABB happens to reach.

#include "sim/shape/geometry.h"
#include "sim/state/world.h"

#define CAIRN_CLEARANCE_UNKNOWN (-1.0f) // less than any motion

// Lists the obstacles of the state.
void cairn_obstacles_list(cairn_world *world);
// Reads their fat AABBs, from which clearances are found.
void cairn_obstacles_read_boxes(cairn_pair_cache *cache);
// Finds the clearance and the room of the shape's fat AABB; with many obstacles there is none.
void cairn_clearance_find(const cairn_pair_cache *cache, uint32_t slot);
// After obstacles have new fat AABBs: those that had left theirs.
void cairn_clearances_reduce(cairn_pair_cache *cache);
// Whether the cache must have the pairs of this swept AABB of a shape, which the fat AABB does not
// contain: it meets a bullet, or an obstacle with which the shape is not paired yet.
bool cairn_obstacle_must_list(const cairn_world *world, uint32_t slot, const cairn_aabb *swept);
