// SPDX-License-Identifier: MIT
#pragma once

// The narrow phase by pairs of kinds; cairn_collide (sim/geometry.h) chooses among these. Each
// takes the kinds in the order of its name, fills *out with the points within `margin`, normal from
// the first to the second, and leaves rounding of signs and lengths to cairn_collide.

#include "sim/geometry.h"
#include "sim/vec.h"

// A sphere, or a capsule: the points within `radius` of the segment centre - half .. centre + half.
typedef struct cairn_round {
    cairn_vec3 centre;
    cairn_vec3 half; // zero for a sphere
    float radius;
} cairn_round;

// In the frame of `pose`, which for the sake of precision is relative to the other shape.
cairn_round cairn_round_of(const cairn_geometry *geometry, cairn_pose pose);

// Appends a point; at most CAIRN_MANIFOLD_POINTS_MAX fit, more are our own mistake.
void cairn_manifold_add(
    cairn_manifold *manifold, cairn_vec3 position, float separation, uint32_t feature);

// Sphere and capsule in any combination: closest points of the two segments (Ericson 2004, section
// 5.1.9), or the two ends of their common stretch when they are nearly parallel.
void cairn_collide_round(
    const cairn_round *a, const cairn_round *b, float margin, cairn_manifold *out);

// `round` in the box's frame, as is the result; normal from the round shape to the box.
void cairn_collide_round_box(
    const cairn_round *round, cairn_vec3 half_extents, float margin, cairn_manifold *out);

// `round` in the frame of the half-space (solid below y = 0), as is the result.
void cairn_collide_round_half_space(const cairn_round *round, float margin, cairn_manifold *out);

// The box's corners on the face that looks most towards the plane; frame of the half-space.
void cairn_collide_box_half_space(
    cairn_vec3 half_extents, cairn_pose pose, float margin, cairn_manifold *out);

// Separating axes, then clipping of the incident face or the closest points of two edges. In the
// frame of box a; `b` is the pose of box b there.
void cairn_collide_box(cairn_vec3 half_extents_a, cairn_vec3 half_extents_b, cairn_pose b,
    float margin, uint32_t *axis_hint, cairn_manifold *out);
