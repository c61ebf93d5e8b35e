// SPDX-License-Identifier: MIT
#pragma once

// The joints of a world as pairs of bodies, and which of these a joint keeps from colliding: sorted
// keys in the pair cache, built again when joints change.

#include "sim/state/world.h"

void cairn_joint_filter_build(cairn_world *world);
// Whether a joint keeps the two bodies, given as slots, from colliding.
bool cairn_joint_filter_rejects(const cairn_pair_cache *cache, uint32_t body_a, uint32_t body_b);
