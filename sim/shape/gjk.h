// SPDX-License-Identifier: MIT
#pragma once

// The distance of two convex cores, as that of the origin from their Minkowski difference (Gilbert,
// Johnson, Keerthi 1988). A shape is a core (a point, a segment, a box, the vertices of a hull, a
// cylinder or cone) and a radius around it. Pure functions of their arguments.

#include "sim/shape/frustum.h"

// Any shape but a half-space.
typedef struct cairn_convex_core {
    uint32_t kind;              // cairn_shape_kind
    cairn_vec3 half_extents;    // of a box; (0, half_height, 0) of a capsule; zero of a sphere
    const cairn_vec3 *vertices; // of a hull
    uint32_t vertex_count;
    cairn_frustum frustum; // half_height 0: another core
    cairn_vec3 centre;     // of the frustum
    float radius;
} cairn_convex_core;
cairn_convex_core cairn_convex_core_of(const cairn_shape_view *shape);
// The point of a core that is farthest along `direction`, in the core's own frame.
cairn_vec3 cairn_convex_core_support(const cairn_convex_core *core, cairn_vec3 direction);

// Both cores in the frame of a.
typedef struct cairn_gjk_pair {
    cairn_convex_core a;
    cairn_convex_core b;
    cairn_mat3 rotation; // from b's frame to a's
    cairn_vec3 offset;   // of b's frame in a's
} cairn_gjk_pair;

// Of two shapes with poses in one frame.
cairn_gjk_pair cairn_gjk_pair_of(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b);

typedef struct cairn_gjk_vertex {
    cairn_vec3 difference; // b - a
    cairn_vec3 a;
    cairn_vec3 b;
} cairn_gjk_vertex;

typedef struct cairn_gjk_simplex {
    uint32_t count; // 1 .. 4
    cairn_gjk_vertex vertices[4];
    float weights[4]; // of the point nearest to the origin; their sum is 1
} cairn_gjk_simplex;

// Starts from *s, which may hold the simplex of the same pair at an earlier offset (count 0: from
// nothing), and leaves there the simplex it ends with. Returns the nearest point of the difference;
// zero if the cores overlap.
cairn_vec3 cairn_gjk_nearest(const cairn_gjk_pair *pair, cairn_gjk_simplex *s);
// The nearest points of the cores.
void cairn_gjk_points(const cairn_gjk_simplex *s, cairn_vec3 *a, cairn_vec3 *b);
