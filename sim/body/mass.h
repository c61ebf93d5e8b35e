// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

// Mass, centre of mass and inertia of a body from its shapes, in order of index. The origin stays
// where it is.
void cairn_body_update_mass(cairn_world *world, uint32_t slot);
