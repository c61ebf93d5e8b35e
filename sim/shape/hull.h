// SPDX-License-Identifier: MIT
#pragma once

// A convex polyhedron with its vertices, faces and edges. It is built from a cloud of points by
// trying every plane through three of them, except through pairs that other points surround. That
// is fast enough for so few points and does not depend on an order of insertion. A pure function of
// the points.

#include "sim/math/vec.h"
#include "sim/shape/geometry.h"

// Euler: with V corners there are at most 3 V - 6 edges and 2 V - 4 faces.
#define CAIRN_HULL_EDGES_MAX (3 * CAIRN_HULL_VERTICES_MAX - 6)
#define CAIRN_HULL_FACES_MAX (2 * CAIRN_HULL_VERTICES_MAX - 4)

// The half-space below the plane normal . p = offset.
typedef struct cairn_plane {
    cairn_vec3 normal; // unit
    float offset;
} cairn_plane;

// Seen from outside, `left` and `right` are the faces beside the line from vertex `from` to `to`.
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
    uint16_t face_first[CAIRN_HULL_FACES_MAX + 1];
    uint8_t corners[2 * CAIRN_HULL_EDGES_MAX];
    cairn_hull_edge edges[CAIRN_HULL_EDGES_MAX];
    cairn_vec3 centre; // of mass
    float inner;       // m, the centre's distance from the nearest face
    float outer;       // m, no vertex is farther from the centre
    float volume;      // m^3
    float inertia[6];  // of density 1 about `centre`: xx, yy, zz, xy, xz, yz
};

// Fills *out with the convex hull of `count` points. Its vertices are the points that are corners,
// in the order given: interior points, duplicates and points inside a face are dropped, and faces
// whose angle is within the rounding of coordinates are merged. Returns NULL, or the reason for a
// refusal (static text); *out is then undefined.
const char *cairn_hull_build(const cairn_vec3 *points, uint32_t count, cairn_hull *out);

// Repeats cairn_hull_build until the vertices no longer change, so that they alone give the same
// hull.
const char *cairn_hull_build_stable(const cairn_vec3 *points, uint32_t count, cairn_hull *out);

// Computes volume, centre, inertia, and the distances of faces and vertices from the centre.
void cairn_hull_measure(cairn_hull *hull);
