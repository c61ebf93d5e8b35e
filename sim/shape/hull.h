// SPDX-License-Identifier: MIT
#pragma once

// A convex polyhedron made ready for use: its corners, and what follows from them. Made from a
// cloud of points by trying every plane through three of them, which for so few points is quick
// enough and has no order of insertion to depend on. A pure function of the points.

#include "sim/math/vec.h"
#include "sim/shape/geometry.h"

// Euler: with V corners there are at most 3 V - 6 edges and 2 V - 4 faces.
#define CAIRN_HULL_EDGES_MAX (3 * CAIRN_HULL_VERTICES_MAX - 6)
#define CAIRN_HULL_FACES_MAX (2 * CAIRN_HULL_VERTICES_MAX - 4)

// The solid half of space below normal . p = offset.
typedef struct cairn_plane {
    cairn_vec3 normal; // unit
    float offset;
} cairn_plane;

// Seen from outside, `left` and `right` are the faces beside the way from vertex `from` to `to`.
typedef struct cairn_hull_edge {
    uint8_t from, to;
    uint8_t left, right;
} cairn_hull_edge;

struct cairn_hull {
    uint32_t vertex_count;
    uint32_t face_count;
    uint32_t edge_count;
    cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX];
    cairn_plane planes[CAIRN_HULL_FACES_MAX]; // outward; no vertex is above
    // Face i has the vertices corners[face_first[i]] .. corners[face_first[i + 1] - 1], counter
    // clockwise seen from outside.
    uint8_t face_first[CAIRN_HULL_FACES_MAX + 1];
    uint8_t corners[2 * CAIRN_HULL_EDGES_MAX];
    cairn_hull_edge edges[CAIRN_HULL_EDGES_MAX];
    cairn_vec3 centre; // of mass
    float inner;       // m, the centre's distance from the nearest face
    float outer;       // m, no vertex is farther from the centre
    float volume;      // m^3
    float inertia[6];  // of density 1 about `centre`: xx, yy, zz, xy, xz, yz
};

// Fills *out with the convex hull of `count` points. The vertices are the points that are corners,
// in the order given: interior, doubled and in-plane ones are dropped, and faces that bend by less
// than the rounding of coordinates are one. NULL, or the reason for a refusal (static text); *out
// is then undefined.
const char *cairn_hull_build(const cairn_vec3 *points, uint32_t count, cairn_hull *out);

// cairn_hull_build again and again until the vertices stay, so that from them alone the same hull
// is built.
const char *cairn_hull_build_stable(const cairn_vec3 *points, uint32_t count, cairn_hull *out);

// Volume, centre, inertia, and how far the faces and the vertices are from the centre.
void cairn_hull_measure(cairn_hull *hull);
