// SPDX-License-Identifier: MIT
#pragma once

// The distance between two convex shapes, each seen as a core and a radius: all points within the
// radius of the core. The core of a sphere is its centre, that of a capsule its segment. A box,
// hull, cylinder or cone is shrunk by a skin, which becomes the radius, so that even shapes that
// overlap by less than their radii have a distance and a direction. A box or hull so rounded lies
// inside the real one.

#include "sim/math/vec.h"
#include "sim/shape/frustum.h"
#include "sim/shape/geometry.h"

typedef struct cairn_core {
    const cairn_geometry *geometry;
    const cairn_hull *hull;
    const cairn_vec3 *corners; // of a triangle, or of the part of one
    uint32_t corner_count;
    cairn_vec3 centre; // of the core of a box, cylinder or cone
    cairn_frustum frustum;
    cairn_vec3 half_extents;
    float scale;  // of the core of a hull, about its centre
    float radius; // m
} cairn_core;

// For every kind but the half-space, mesh and height field, and for a triangle, which has no skin.
// `skin`: m, at most half the least half width is used.
cairn_core cairn_core_of(const cairn_shape_view *shape, float skin);
// The greatest distance of a point of the core from `point`, which is in the frame of the shape: a
// bound, not exact.
float cairn_core_reach(const cairn_core *core, cairn_vec3 point);
// Half the least width of a shape; huge for a half-space, mesh, height field and triangle.
float cairn_shape_view_half_width(const cairn_shape_view *shape);
// The centre of the ball of that radius inside a shape; of a shape without a width, its origin.
cairn_vec3 cairn_shape_view_middle(const cairn_shape_view *shape);

// The face of a box or hull that is farthest below a point in the frame of the shape: its normal.
// Zero for other shapes, which have round sides or no inside.
cairn_vec3 cairn_shape_view_face_below(const cairn_shape_view *shape, cairn_vec3 point);

// Between the cores, not the shapes.
typedef struct cairn_core_distance {
    float distance; // m; no core point of one is closer to the other's than this; 0: they overlap
    cairn_vec3 normal; // unit, from a to b in the frame of a; zero if they overlap
} cairn_core_distance;

// The point of the core that is farthest along `direction`, in the frame of the shape.
cairn_vec3 cairn_core_support(const cairn_core *core, cairn_vec3 direction);
// In the frame of a. Gilbert, Johnson and Keerthi 1988. A distance above `enough` is a bound from
// below, exact to a ten thousandth or a fiftieth of `enough`; one below it may be too large by less
// than that leaves.
cairn_core_distance cairn_cores_distance(
    const cairn_core *a, const cairn_core *b, const cairn_pose *b_in_a, float enough);
// The height of the lowest point of b above the plane y = 0 of a half-space a; negative below.
float cairn_half_space_height(const cairn_core *b, const cairn_pose *b_in_a);
