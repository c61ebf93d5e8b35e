// SPDX-License-Identifier: MIT
#pragma once

// The queries of distance.h for all shapes: those of a mesh or height field are by its triangles,
// which its tree finds.

#include "sim/query/distance.h"

// As cairn_shape_distance; a may be a mesh or height field. A shape that a triangle passes through
// has distance 0; the side does not matter.
cairn_distance cairn_query_distance(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b);
// As cairn_shape_cast; a may be a mesh or height field. Triangles whose front b does not approach,
// or whose front b's centre is not on, do not count.
bool cairn_query_cast(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b, cairn_vec3 translation, float *fraction,
    cairn_vec3 *normal, cairn_vec3 *point);
// Whether b touches a triangle of a, from either side. b may be a half-space.
bool cairn_mesh_overlaps(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b);
