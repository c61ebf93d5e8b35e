// SPDX-License-Identifier: MIT
#pragma once

// A convex polyhedron as the narrow phase reads it: a hull, or a box, whose vertices and planes are
// computed and whose edges come from a table.

#include "sim/shape/hull.h"

typedef struct cairn_convex_view {
    uint32_t vertex_count;
    uint32_t face_count;
    uint32_t edge_count;
    const cairn_vec3 *vertices;
    const cairn_plane *planes;
    const uint16_t *face_first;
    const uint8_t *corners;
    const cairn_hull_edge *edges;
    cairn_vec3 centre;
    float inner; // m, radius of the inscribed ball about the centre
} cairn_convex_view;

// The memory that the view of a box points into.
typedef struct cairn_convex_box {
    cairn_vec3 vertices[8];
    cairn_plane planes[6];
} cairn_convex_box;

// For hulls and boxes only. The view of a box points into *storage.
cairn_convex_view cairn_convex_view_of(const cairn_shape_view *shape, cairn_convex_box *storage);

// The greatest coordinate of the vertices along `direction`.
static inline float cairn_convex_view_support(const cairn_convex_view *p, cairn_vec3 direction) {
    float support = vec3_dot(p->vertices[0], direction);
    for (uint32_t i = 1; i < p->vertex_count; ++i) {
        support = float_max(support, vec3_dot(p->vertices[i], direction));
    }
    return support;
}
