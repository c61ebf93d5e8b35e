// SPDX-License-Identifier: MIT
#pragma once

// Clips the incident face of one shape to the reference face of another, in the plane of the
// reference face. The feature of a point is made of the edges that meet in it (Catto 2005, section
// 7.2).

#include <stdint.h>

#include "sim/math/vec.h"

// Each line adds at most one corner: 32 corners of one hull's face, 32 edges of the other's.
#define CAIRN_CLIP_POINTS_MAX 64

typedef struct cairn_clip_point {
    float x, y;    // in the plane of the reference face
    float height;  // above that plane
    uint32_t edge; // label of the edge that leaves this point; the point before has the label of
                   // the edge that enters it
} cairn_clip_point;

typedef struct cairn_clip_polygon {
    uint32_t count;
    cairn_clip_point points[CAIRN_CLIP_POINTS_MAX];
} cairn_clip_polygon;

// Keeps the part of a polygon where x * right + y * up <= limit (Sutherland, Hodgman 1974). The new
// edge along that line gets the label `edge`.
typedef struct cairn_clip_line {
    float right;
    float up;
    float limit;
    uint32_t edge;
} cairn_clip_line;
void cairn_clip_polygon_cut(
    const cairn_clip_polygon *from, const cairn_clip_line *line, cairn_clip_polygon *to);

// Copies the points at most `margin` above the plane to `low`. Their `edge` becomes their feature:
// `feature`, the edge that enters the point, and in the lowest `edge_bits` bits the one that leaves
// it. Returns how many.
uint32_t cairn_clip_keep_below(const cairn_clip_polygon *polygon, float margin, uint32_t feature,
    uint32_t edge_bits, cairn_clip_point *low);
