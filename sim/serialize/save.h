// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

// Makes the world's state that of a block with the same def, which need not be the world's own but
// may be its spare one: writes only what differs, marks it for the hash, and derives what follows.
void cairn_state_restore(cairn_world *world, const cairn_state *from);
