// SPDX-License-Identifier: MIT
#pragma once

// What the narrow phase reads of a convex polyhedron: a hull, or a box, whose corners and faces are
// made on the spot and whose edges are a table.

#include "sim/shape/hull.h"

typedef struct cairn_convex_view {
    uint32_t vertex_count;
    uint32_t face_count;
    uint32_t edge_count;
    const cairn_vec3 *vertices;
    const cairn_plane *planes;
    const uint8_t *face_first;
    const uint8_t *corners;
    const cairn_hull_edge *edges;
    cairn_vec3 centre;
    float inner; // no face is nearer to the centre
} cairn_convex_view;

// Where a box keeps what its polytope points to.
typedef struct cairn_convex_box {
    cairn_vec3 vertices[8];
    cairn_plane planes[6];
} cairn_convex_box;

// `store` is used for a box and must last as long as the result. For hulls and boxes only.
cairn_convex_view cairn_convex_view_of(const cairn_shape_view *solid, cairn_convex_box *store);

// The greatest reach of the vertices along `direction`.
static inline float cairn_convex_view_support(const cairn_convex_view *p, cairn_vec3 direction) {
    float reach = vec3_dot(p->vertices[0], direction);
    for (uint32_t i = 1; i < p->vertex_count; ++i) {
        reach = float_max(reach, vec3_dot(p->vertices[i], direction));
    }
    return reach;
}
