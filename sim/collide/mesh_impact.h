// SPDX-License-Identifier: MIT
#pragma once

// When a moving shape meets a mesh or height field (sim/collide/impact.h): the first of the impacts
// with its triangles, from the front.

#include "sim/collide/impact.h"

// As cairn_impact_find; one of the two is a mesh or height field.
bool cairn_mesh_impact_find(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pair_pose *start, const cairn_pair_motion *motion, float depth, cairn_impact *out);
