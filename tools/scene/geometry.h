// SPDX-License-Identifier: MIT
#pragma once

// Triangles of shapes, for pictures of a world in other programs.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/sim.h>

typedef struct cairn_triangles {
    cairn_vec3 *vertices;
    uint32_t vertex_count, vertex_capacity;
    uint32_t *indices; // three for each triangle, counter-clockwise seen from outside
    uint32_t index_count, index_capacity;
    bool out_of_memory;
} cairn_triangles;

// The surface of a shape in its own frame, appended. A half-space becomes a square of 200 m.
void cairn_triangles_of_shape(
    const cairn_world *world, const cairn_shape_def *shape, cairn_triangles *out);
void cairn_triangles_destroy(cairn_triangles *triangles);
