// SPDX-License-Identifier: MIT
#pragma once

// The incident face of a box cut to the reference face of another, with contact identifiers made of
// the edges that meet in each point (Catto 2005, section 7.2).

#include <stdint.h>

#include "sim/vec.h"

// A quadrilateral gains at most one corner at each of four cuts.
#define CAIRN_CLIP_POINTS_MAX 8

typedef struct cairn_clip_point {
    cairn_vec3 position;
    uint32_t edge; // label of the edge that leaves this point; the one that enters it belongs to
                   // the point before
} cairn_clip_point;

typedef struct cairn_clip_polygon {
    uint32_t count;
    cairn_clip_point points[CAIRN_CLIP_POINTS_MAX];
} cairn_clip_polygon;

// Keeps what lies within |position[axis]| <= limit for sign +1 or -1 (Sutherland, Hodgman 1974).
// The edge that the cut makes is labelled `edge`.
cairn_clip_polygon cairn_clip_polygon_cut(
    const cairn_clip_polygon *polygon, uint32_t axis, float sign, float limit, uint32_t edge);

// Chooses at most `CAIRN_MANIFOLD_POINTS_MAX` of `count` points (at most CAIRN_CLIP_POINTS_MAX)
// that span about the same patch across `normal`: the deepest, the farthest from it, and the
// farthest to either side of the line between. Each choice passes over a point only for a clearly
// better one, so that nearly equal points do not take turns. Writes indices in increasing order,
// returns how many.
uint32_t cairn_patch_reduce(const cairn_vec3 *positions, const float *separations, uint32_t count,
    cairn_vec3 normal, uint32_t chosen[4]);
