// SPDX-License-Identifier: MIT
#pragma once

// What may hang on what.

#include "sim/state/world.h"

// Whether the body is a link: an articulated joint names it.
bool cairn_body_is_link(const cairn_world *world, cairn_body_id body);
// Whether the joint of a valid def may be made, as include/cairn/articulation.h says.
cairn_status cairn_articulated_joint_check(const cairn_world *world, const cairn_joint_def *def);
