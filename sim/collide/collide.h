// SPDX-License-Identifier: MIT
#pragma once

// The narrow phase: two shapes of any kind. The order of the two is the caller's and fixed (lower
// shape index first), so results need not be symmetric.

#include "sim/collide/manifold.h"
#include "sim/shape/geometry.h"

// Fills *out, in the frame of shape a, with the points whose separation is at most `margin` (>= 0);
// point_count 0 when there are none. `b_in_a` is the pose of b in the frame of a. `axis_hint` is
// the pair's persistent word (0 at first): boxes and hulls store their separating axis there and
// replace it only by a clearly better one, so that features do not flip (Catto 2006). The word that
// comes out, passed in again at the same pose, comes out again with the same bits in *out.
void cairn_collide_local(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pose *b_in_a, float margin, uint32_t *axis_hint, cairn_manifold *out);

// The same for two poses in the world, *out in the world's frame and without -0.
void cairn_collide(const cairn_shape_view *a, const cairn_pose *pose_a, const cairn_shape_view *b,
    const cairn_pose *pose_b, float margin, uint32_t *axis_hint, cairn_manifold *out);

bool cairn_collide_overlap(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b);
