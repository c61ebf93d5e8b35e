// SPDX-License-Identifier: MIT
#pragma once

// The distance between two convex shapes, and the time at which a moving one meets another. The
// distance is that of their cores (sim/shape/gjk.h); a cast advances by steps that cannot pass a
// contact (conservative advancement, Mirtich 1996). Pure functions of their arguments.

#include "sim/math/vec.h"
#include "sim/shape/gjk.h"

typedef struct cairn_distance {
    float distance;     // m, of the surfaces; 0 if they overlap
    float gap;          // the same, but negative if radii overlap and cores do not
    bool cores_overlap; // then gap, normal and points mean nothing
    cairn_vec3 normal;  // unit, from a to b
    cairn_vec3 point_a; // on the surface of a, nearest to b
    cairn_vec3 point_b;
} cairn_distance;

// Poses and results in the world. Half-spaces may be a, not b; meshes and height fields neither
// (sim/query/mesh_distance.h).
cairn_distance cairn_shape_distance(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b);

// Whether b, moved from `pose_b` by `translation` without turning, meets a, and at which fraction.
// `point` is on a's surface, `normal` points from a to b. If they overlap at the start the fraction
// is 0, the normal is the reversed direction (up without a direction), and the point is b's
// position. Shapes that only touch and move apart do not meet. b is no half-space.
bool cairn_shape_cast(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b, cairn_vec3 translation, float *fraction,
    cairn_vec3 *normal, cairn_vec3 *point);
