// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

// Rebuilds what follows from the arrays that have changed: shape lists, hulls, free-slot hints.
// Drops the pair cache and the manifolds, and forgets events.
void cairn_world_derive(cairn_world *world, const bool changed[CAIRN_ARRAY_COUNT]);
