// SPDX-License-Identifier: MIT
#pragma once

// The incident face of one shape cut to the reference face of another, in the plane of the
// reference face, with contact identifiers made of the edges that meet in each point (Catto 2005,
// section 7.2).

#include <stdint.h>

#include "sim/math/vec.h"

// Each cut adds at most one corner: 32 of a hull's face, 32 edges of the other's.
#define CAIRN_CLIP_POINTS_MAX 64

typedef struct cairn_clip_point {
    float x, y;    // in the plane of the reference face
    float height;  // above that plane
    uint32_t edge; // label of the edge that leaves this point; the one that enters it belongs to
                   // the point before
} cairn_clip_point;

typedef struct cairn_clip_polygon {
    uint32_t count;
    cairn_clip_point points[CAIRN_CLIP_POINTS_MAX];
} cairn_clip_polygon;

// Keeps of `from` what lies where x * right + y * up <= limit (Sutherland, Hodgman 1974). The edge
// that the cut makes is labelled `edge`.
typedef struct cairn_clip_line {
    float right;
    float up;
    float limit;
    uint32_t edge;
} cairn_clip_line;
void cairn_clip_polygon_cut(
    const cairn_clip_polygon *from, const cairn_clip_line *cut, cairn_clip_polygon *to);

// Copies the points at most `margin` above the plane to `low`; their `edge` becomes the whole of
// their feature: `feature`, the edge that enters the point, and in the lowest `edge_bits` bits the
// one that leaves it. Returns how many.
uint32_t cairn_clip_keep_below(const cairn_clip_polygon *polygon, float margin, uint32_t feature,
    uint32_t edge_bits, cairn_clip_point *low);

// Chooses at most CAIRN_MANIFOLD_POINTS_MAX of `count` points (at most CAIRN_CLIP_POINTS_MAX) that
// span about the same patch: the deepest, the farthest from it, and the farthest to either side of
// the line between. Each choice passes over a point only for a clearly better one, so that nearly
// equal points do not take turns. Writes indices in increasing order, returns how many.
uint32_t cairn_manifold_reduce(const cairn_clip_point *points, uint32_t count, uint32_t chosen[4]);
