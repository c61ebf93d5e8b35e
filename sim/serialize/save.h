// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

// Copies the state of another block with the same def, such as the spare one, into the world.
// Writes only what differs, marks it in the hash cache, and rebuilds derived data.
void cairn_state_restore(cairn_world *world, const cairn_state *from);
