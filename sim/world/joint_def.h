// SPDX-License-Identifier: MIT
#pragma once

// Joint defs and the state of joints.

#include "sim/world/world.h"

// Everything but the bodies.
cairn_status cairn_joint_def_check(const cairn_joint_def *def);
// Fields of a checked def. What the solver has stored stays as it is.
void cairn_joint_set_base(cairn_joint *joint, const cairn_joint_def *def);
void cairn_joint_drive_set(cairn_joint_drive *drive, const cairn_joint_def *def);
// `drive` is NULL for a plain joint.
void cairn_joint_def_of(
    const cairn_joint *joint, const cairn_joint_drive *drive, cairn_joint_def *def);

bool cairn_joint_def_uses_motor(const cairn_joint_def *def);
bool cairn_joint_def_uses_limits(const cairn_joint_def *def);
bool cairn_joint_def_uses_spring(const cairn_joint_def *def);
bool cairn_joint_def_uses_target(const cairn_joint_def *def);
bool cairn_joint_def_uses_hertz(const cairn_joint_def *def);

// Destroys joints in the step that breaks them, and adds an event for each.
void cairn_joints_break(cairn_world *world);
