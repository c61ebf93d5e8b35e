// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

// Frees the slot and unlinks the shape from its body, whose mass the caller updates.
void cairn_shape_remove(cairn_world *world, uint32_t slot);
