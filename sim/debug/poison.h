// SPDX-License-Identifier: MIT
#pragma once

#include <cairn/sim.h>

// Overwrites everything that is not live state with `byte`: scratch, caches, free slots. No hash
// and no later step may depend on it; tests and cairn-replay check that.
void cairn_world_poison(cairn_world *world, unsigned char byte);
