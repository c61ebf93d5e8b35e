// SPDX-License-Identifier: MIT
#pragma once

// The narrow phase by pairs of shape kinds; sim/collide/collide.c chooses among these functions.
// Each takes the kinds in the order of its name and appends to *out the points within `margin`. The
// normal points from the first shape to the second.

#include "sim/collide/manifold.h"
#include "sim/shape/frustum.h"
#include "sim/shape/geometry.h"
#include "sim/shape/hull.h"

// A capsule in some frame: the points within `radius` of the segment centre - half .. centre +
// half. A sphere is a capsule whose `half` is zero.
typedef struct cairn_local_capsule {
    cairn_vec3 centre;
    cairn_vec3 half;
    float radius;
} cairn_local_capsule;

// The point of the segment at the parameter s in [-1, 1].
static inline cairn_vec3 cairn_local_capsule_at(const cairn_local_capsule *capsule, float s) {
    return vec3_add_scaled(capsule->centre, capsule->half, s);
}

// The closest points of two segments.
typedef struct cairn_closest_points {
    cairn_vec3 a;
    cairn_vec3 b;
} cairn_closest_points;
cairn_closest_points cairn_segments_closest_points(
    const cairn_local_capsule *a, const cairn_local_capsule *b);

// Two capsules: the closest points of their segments (Ericson 2004, section 5.1.9), or the two ends
// of the part that they have side by side if they are nearly parallel.
void cairn_collide_capsules(
    const cairn_local_capsule *a, const cairn_local_capsule *b, float margin, cairn_manifold *out);

// In the frame of the box.
void cairn_collide_capsule_box(
    const cairn_local_capsule *capsule, cairn_vec3 half_extents, float margin, cairn_manifold *out);

// In the frame of the hull.
void cairn_collide_capsule_hull(
    const cairn_local_capsule *capsule, const cairn_hull *hull, float margin, cairn_manifold *out);

// Capsule and plane in one frame.
void cairn_collide_capsule_plane(const cairn_local_capsule *capsule, const cairn_plane *plane,
    float margin, cairn_manifold *out);

// In the frame of the box: the corners of the face that is most parallel to the plane.
void cairn_collide_box_plane(
    cairn_vec3 half_extents, const cairn_plane *plane, float margin, cairn_manifold *out);

// In the frame of the hull: its lowest vertices, at most four.
void cairn_collide_hull_plane(
    const cairn_hull *hull, const cairn_plane *plane, float margin, cairn_manifold *out);

// Separating axes, then clipping of the incident face or the closest points of two edges. In the
// frame of box a; `rotation` and `offset` transform from b's frame to a's.
void cairn_collide_boxes(cairn_vec3 half_extents_a, cairn_vec3 half_extents_b,
    const cairn_mat3 *rotation, cairn_vec3 offset, float margin, uint32_t *axis_hint,
    cairn_manifold *out);

// A cylinder or cone and a plane in the frame of the frustum. The hint remembers the lowest point
// of the rim.
void cairn_collide_frustum_plane(const cairn_frustum *frustum, const cairn_plane *plane,
    float margin, uint32_t *axis_hint, cairn_manifold *out);

// Two shapes of which at least one is a cylinder or cone and none is a half-space: the normals of
// faces and discs, and the direction between the nearest points. In the frame of a; `rotation` and
// `offset` transform from b's frame to a's.
void cairn_collide_frustum(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_mat3 *rotation, cairn_vec3 offset, float margin, uint32_t *axis_hint,
    cairn_manifold *out);

// Two convex polyhedra, each a hull or a box: as for two boxes.
void cairn_collide_hulls(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_mat3 *rotation, cairn_vec3 offset, float margin, uint32_t *axis_hint,
    cairn_manifold *out);
