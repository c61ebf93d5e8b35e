// SPDX-License-Identifier: MIT
#pragma once

// Shapes without a world: what a sphere, capsule, box or half-space is, weighs, and how two of them
// touch. Pure functions of their arguments; order of the two shapes is the caller's and fixed
// (lower shape index first), so results need no symmetry.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/sim.h>

typedef struct cairn_geometry {
    uint32_t kind;           // cairn_shape_kind
    cairn_vec3 half_extents; // box
    float radius;            // sphere, capsule
    float half_height;       // capsule, along local y
    cairn_hull_id hull;      // hull: the world's, 0 for the other kinds
} cairn_geometry;

// A convex hull made ready for use (sim/shape/hull.h).
typedef struct cairn_hull cairn_hull;

// What a shape is: a geometry, and the hull that it names when its kind is CAIRN_SHAPE_HULL.
typedef struct cairn_shape_view {
    const cairn_geometry *geometry;
    const cairn_hull *hull; // NULL for the other kinds
} cairn_shape_view;

typedef struct cairn_aabb {
    cairn_vec3 lower;
    cairn_vec3 upper;
} cairn_aabb;

// Mass properties about the geometry's own centre (its local origin), axes local. A half-space has
// none.
typedef struct cairn_mass {
    float mass;        // kg
    cairn_vec3 centre; // m
    float inertia[6];  // kg m^2 about `centre`: xx, yy, zz, xy, xz, yz
} cairn_mass;
cairn_mass cairn_shape_view_mass(const cairn_shape_view *solid, float density);

cairn_aabb cairn_shape_view_aabb(const cairn_shape_view *solid, const cairn_pose *pose);

// One touching pair: up to four points that share a normal.
typedef struct cairn_manifold_point {
    cairn_vec3 position; // midway between the two surfaces
    float separation;    // m, negative inside
    uint32_t feature;    // identifies the point from step to step: incident edges (Catto 2005, 7.2)
} cairn_manifold_point;

#define CAIRN_MANIFOLD_POINTS_MAX 4

typedef struct cairn_manifold {
    cairn_vec3 normal; // unit, from a to b
    uint32_t point_count;
    cairn_manifold_point points[CAIRN_MANIFOLD_POINTS_MAX];
} cairn_manifold;

// Fills *out, in the frame of shape a, with the points whose separation is at most `margin` (>= 0);
// point_count 0 when there are none. `b_in_a` is the pose of b in the frame of a. `axis_hint` is
// the pair's persistent word (0 at first): box against box keeps its separating axis there and
// leaves it only for a clearly better one, so that features do not flip (Catto 2006). The word that
// comes out, put in again at the same pose, comes out again with the same bits in *out.
void cairn_collide_local(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pose *b_in_a, float margin, uint32_t *axis_hint, cairn_manifold *out);

// The same for two poses in the world, *out in the world's frame and without -0.
void cairn_collide(const cairn_shape_view *a, const cairn_pose *pose_a, const cairn_shape_view *b,
    const cairn_pose *pose_b, float margin, uint32_t *axis_hint, cairn_manifold *out);

bool cairn_shape_view_overlap(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b);

// True when the segment origin .. origin + translation meets the solid; fraction in [0, 1]. A
// start inside: fraction 0 and the reversed direction.
bool cairn_shape_view_ray_cast(const cairn_shape_view *solid, const cairn_pose *pose,
    cairn_vec3 origin, cairn_vec3 translation, float *fraction, cairn_vec3 *normal);
