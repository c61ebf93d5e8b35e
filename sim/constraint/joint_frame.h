// SPDX-License-Identifier: MIT
#pragma once

// The anchors and axes of a joint in the world, and the angles between the axes.

#include "sim/state/world.h"

// Each body's axis and zero direction, world axes; unit, and perpendicular to each other.
typedef struct cairn_joint_frame {
    cairn_vec3 axis_a, normal_a;
    cairn_vec3 axis_b, normal_b;
} cairn_joint_frame;

// Whether joints of that kind (cairn_joint_kind) have axes and normals.
static inline bool cairn_joint_has_axes(uint32_t kind) {
    return kind >= CAIRN_JOINT_HINGE && kind <= CAIRN_JOINT_GEAR;
}
// From the origin frame of the body in that slot to the world.
cairn_vec3 cairn_joint_anchor(const cairn_world *world, uint32_t body, cairn_vec3 anchor);
// Of the joint in that slot, of a kind that has axes.
cairn_joint_frame cairn_joint_frame_of(const cairn_world *world, uint32_t slot);
// rad, see sim/constraint/joint_angle.h.
float cairn_joint_swing(const cairn_joint_frame *frame);
float cairn_joint_twist(const cairn_joint_frame *frame);
// The twist, at most half a turn from the middle of the limits.
float cairn_joint_twist_near(const cairn_joint_frame *frame, float lower, float upper);
