// SPDX-License-Identifier: MIT
#pragma once

#include "sim/constraint/joint_angle.h"
#include "sim/state/world.h"

// Destroys every joint of the body, in order of slot.
void cairn_joint_destroy_of_body(cairn_world *world, uint32_t body);
// Whether joints of that kind (cairn_joint_kind) have axes and normals.
bool cairn_joint_has_axes(uint32_t kind);
// Unit vectors across each other, each within CAIRN_AXES_SLACK, and bounds in order.
bool cairn_joint_axes_ok(const cairn_joint *joint);
// From the origin frame of the body in that slot to the world.
cairn_vec3 cairn_joint_anchor(const cairn_world *world, uint32_t body, cairn_vec3 anchor);
// World axes of the joint in that slot, of a kind that has them.
axes_lanes cairn_joint_axes(const cairn_world *world, uint32_t slot);
