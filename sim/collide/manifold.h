// SPDX-License-Identifier: MIT
#pragma once

// The narrow phase by pairs of kinds; cairn_collide_local (sim/shape/geometry.h) chooses among
// these. Each takes the kinds in the order of its name and fills *out with the points within
// `margin`, normal from the first to the second, in the frame that it names.

#include "sim/math/vec.h"
#include "sim/shape/geometry.h"
#include "sim/shape/hull.h"

// A sphere, or a capsule: the points within `radius` of the segment centre - half .. centre + half.
typedef struct cairn_local_capsule {
    cairn_vec3 centre;
    cairn_vec3 half; // zero for a sphere
    float radius;
} cairn_local_capsule;

// The closest points of the segments of two round shapes.
typedef struct cairn_closest_points {
    cairn_vec3 a;
    cairn_vec3 b;
} cairn_closest_points;
cairn_closest_points cairn_segments_closest_points(
    const cairn_local_capsule *a, const cairn_local_capsule *b);

// Appends a point; at most CAIRN_MANIFOLD_POINTS_MAX fit, more are our own mistake.
void cairn_manifold_add(
    cairn_manifold *manifold, cairn_vec3 position, float separation, uint32_t feature);

// Sphere and capsule in any combination: closest points of the two segments (Ericson 2004, section
// 5.1.9), or the two ends of their common stretch when they are nearly parallel.
void cairn_collide_capsules(
    const cairn_local_capsule *a, const cairn_local_capsule *b, float margin, cairn_manifold *out);

// `round` in the box's frame, as is the result; normal from the round shape to the box.
void cairn_collide_capsule_box(
    const cairn_local_capsule *round, cairn_vec3 half_extents, float margin, cairn_manifold *out);

// Round shape and plane in one frame, as is the result; normal from the shape to the solid.
void cairn_collide_capsule_plane(
    const cairn_local_capsule *round, const cairn_plane *plane, float margin, cairn_manifold *out);

// The box's corners on the face that looks most towards the plane, which is in the box's frame, as
// is the result; normal from the box to the solid.
void cairn_collide_box_plane(
    cairn_vec3 half_extents, const cairn_plane *plane, float margin, cairn_manifold *out);

// Separating axes, then clipping of the incident face or the closest points of two edges. In the
// frame of box a; `turn` and `offset` lead from b's frame there.
void cairn_collide_boxes(cairn_vec3 half_extents_a, cairn_vec3 half_extents_b,
    const cairn_mat3 *turn, cairn_vec3 offset, float margin, uint32_t *axis_hint,
    cairn_manifold *out);

// Two convex polyhedra, each a hull or a box: as for two boxes.
void cairn_collide_hulls(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_mat3 *turn, cairn_vec3 offset, float margin, uint32_t *axis_hint,
    cairn_manifold *out);

// `round` in the hull's frame, as is the result; normal from the round shape to the hull.
void cairn_collide_capsule_hull(
    const cairn_local_capsule *round, const cairn_hull *hull, float margin, cairn_manifold *out);

// The hull's lowest vertices, at most four; the plane in the hull's frame, as is the result; normal
// from the hull to the solid.
void cairn_collide_hull_plane(
    const cairn_hull *hull, const cairn_plane *plane, float margin, cairn_manifold *out);
