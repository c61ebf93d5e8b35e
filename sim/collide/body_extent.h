// SPDX-License-Identifier: MIT
#pragma once

// How large a body is and how far it moves, as the pair cache needs to know it. Each function
// writes only what the cache has of that body and its shapes.

#include "sim/shape/geometry.h"
#include "sim/state/world.h"

// The minimum extent of shapes of bodies that do not move.
#define CAIRN_HUGE_EXTENT 1e9f

// Half the least width.
float cairn_minimum_extent(cairn_aabb aabb);
// Measures the body and its shapes, which may be new.
void cairn_body_measure(const cairn_world *world, uint32_t body);
// How exactly its reference pose tells its rotation. Fine where that is a lever: of a large body,
// of one that impulses do not move, on which others slide, and of one with several shapes, of which
// one must not come within the contact margin a tick before another.
cairn_packed_precision cairn_body_reference_precision(const cairn_world *world, uint32_t body);
// Whether the body is so near to its reference pose that it need not be moved.
bool cairn_body_within_recycling_distance(const cairn_world *world, uint32_t body);
// The AABB of a shape through the predicted motion of its body in this step; at the reference pose
// if the body is not fast.
cairn_aabb cairn_body_swept_aabb(const cairn_world *world, uint32_t slot);
