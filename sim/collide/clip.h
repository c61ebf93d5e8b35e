// SPDX-License-Identifier: MIT
#pragma once

// Clips the incident face of one shape to the reference face of another, in the plane of the
// reference face. The feature of a point is made of the edges that meet in it (Catto 2005, section
// 7.2).

#include <stdint.h>

#include "sim/math/vec.h"

// Each line adds at most one corner: 128 corners of one hull's face, 128 edges of the other's.
#define CAIRN_CLIP_POINTS_MAX 256

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

// How the edges that meet in a point make its feature.
typedef struct cairn_clip_feature {
    uint32_t faces;     // the higher bits
    uint32_t edge_bits; // the lower bits hold two edges of this many bits each: first the one that
                        // enters the point
    bool reversed;      // or, with this, first the one that leaves it
} cairn_clip_feature;
// Copies the points at most `margin` above the plane to `low`. Their `edge` becomes their feature.
// Returns how many.
uint32_t cairn_clip_keep_below(const cairn_clip_polygon *polygon, float margin,
    const cairn_clip_feature *feature, cairn_clip_point *low);

// The least height; CAIRN_CLIP_NO_POINT if there is no point.
#define CAIRN_CLIP_NO_POINT 3e38f
static inline float cairn_clip_lowest(const cairn_clip_point *points, uint32_t count) {
    float lowest = CAIRN_CLIP_NO_POINT;
    for (uint32_t i = 0; i < count; ++i) {
        lowest = float_min(lowest, points[i].height);
    }
    return lowest;
}
