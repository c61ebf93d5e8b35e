// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

// Destroys every joint of the body, in order of slot.
void cairn_joint_destroy_of_body(cairn_world *world, uint32_t body);
// Whether axes and normals are unit vectors perpendicular to each other, within CAIRN_AXES_SLACK,
// and limits in order; zero in joints without axes.
bool cairn_joint_axes_ok(const cairn_joint *joint);
