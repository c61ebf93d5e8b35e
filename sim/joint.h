// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state.h"

// Destroys every joint of the body, in order of slot.
void cairn_joint_destroy_of_body(cairn_world *world, uint32_t body);
// From the origin frame of the body in that slot to the world.
cairn_vec3 cairn_joint_anchor(const cairn_world *world, uint32_t body, cairn_vec3 anchor);
