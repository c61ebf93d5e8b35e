// SPDX-License-Identifier: MIT
#pragma once

// The narrow phase by pairs of kinds; cairn_collide_local (sim/geometry.h) chooses among these.
// Each takes the kinds in the order of its name and fills *out with the points within `margin`,
// normal from the first to the second, in the frame that it names.

#include "sim/geometry.h"
#include "sim/vec.h"

// A sphere, or a capsule: the points within `radius` of the segment centre - half .. centre + half.
typedef struct cairn_round {
    cairn_vec3 centre;
    cairn_vec3 half; // zero for a sphere
    float radius;
} cairn_round;

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

// The solid half of space below normal . p = offset.
typedef struct cairn_plane {
    cairn_vec3 normal;
    float offset;
} cairn_plane;

// Round shape and plane in one frame, as is the result; normal from the shape to the solid.
void cairn_collide_round_plane(
    const cairn_round *round, const cairn_plane *plane, float margin, cairn_manifold *out);

// The box's corners on the face that looks most towards the plane, which is in the box's frame, as
// is the result; normal from the box to the solid.
void cairn_collide_box_plane(
    cairn_vec3 half_extents, const cairn_plane *plane, float margin, cairn_manifold *out);

// Separating axes, then clipping of the incident face or the closest points of two edges. In the
// frame of box a; `turn` and `offset` lead from b's frame there.
void cairn_collide_box(cairn_vec3 half_extents_a, cairn_vec3 half_extents_b, const cairn_mat3 *turn,
    cairn_vec3 offset, float margin, uint32_t *axis_hint, cairn_manifold *out);
