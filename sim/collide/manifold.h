// SPDX-License-Identifier: MIT
#pragma once

// Contact manifolds of the narrow phase: up to four points that share a normal.

#include "sim/collide/clip.h"
#include "sim/math/limits.h"
#include "sim/math/vec.h"

typedef struct cairn_manifold_point {
    cairn_vec3 position; // midway between the two surfaces
    float separation;    // m, negative inside
    uint32_t feature;    // identifies the point from step to step: incident edges (Catto 2005, 7.2)
} cairn_manifold_point;

typedef struct cairn_manifold {
    cairn_vec3 normal; // unit, from a to b
    uint32_t point_count;
    cairn_manifold_point points[CAIRN_MANIFOLD_POINTS_MAX];
} cairn_manifold;

// The manifolds of a shape and a mesh or height field.
typedef struct cairn_manifold_set {
    uint32_t count;
    cairn_manifold manifolds[CAIRN_MANIFOLD_SET_MAX]; // each has points
} cairn_manifold_set;

// Appends a point; the manifold must not be full.
void cairn_manifold_add(
    cairn_manifold *manifold, cairn_vec3 position, float separation, uint32_t feature);

// Chooses at most CAIRN_MANIFOLD_POINTS_MAX of `count` points (at most CAIRN_CLIP_POINTS_MAX) that
// span about the same contact area: the deepest, the farthest from it, and the farthest to either
// side of the line between these two. A point replaces an earlier one only if it is clearly better,
// so that nearly equal points do not alternate. Writes indices in increasing order, returns how
// many.
uint32_t cairn_manifold_reduce(
    const cairn_clip_point *points, uint32_t count, uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX]);
