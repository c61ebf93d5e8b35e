// SPDX-License-Identifier: MIT
#pragma once

// Who is joined, and which bodies a joint keeps from colliding: keys in order. Made anew when
// joints change.

#include "sim/state/world.h"

void cairn_joined_collect(cairn_world *world);
// Slots.
bool cairn_joined(const cairn_near *near, uint32_t body_a, uint32_t body_b);
