// SPDX-License-Identifier: MIT
#pragma once

// Surfaces of triangles: a mesh with a tree over its triangles and its neighbours by edge, and a
// height field, whose triangles are generated from its samples. A surface is one-sided: its front
// is where the corners of a triangle run counter-clockwise. Samples, vertices and indices are in
// the state; everything else here follows from them.

#include "sim/math/vec.h"
#include "sim/shape/geometry.h"

// Words of derived data for each word of stored data: a triangle has three words of indices, and 12
// of nodes, neighbours and order; a vertex has three, and needs three while a mesh is built.
#define CAIRN_MESH_DERIVED_FACTOR 4

#define CAIRN_TRIANGLE_NONE UINT32_MAX

// A node of the tree. The left child of an inner node follows it.
typedef struct cairn_mesh_node {
    cairn_vec3 lower;
    uint32_t first; // of a leaf: its first triangle in `order`; else: the right child
    cairn_vec3 upper;
    uint32_t count; // triangles of a leaf; 0: an inner node
} cairn_mesh_node;

struct cairn_mesh {
    uint32_t kind;              // cairn_mesh_kind; 0: none in this slot
    cairn_hash128 derived_from; // of the data
    cairn_aabb bounds;
    uint32_t triangle_count; // of a height field: with those of holes
    // A mesh.
    uint32_t vertex_count;
    const cairn_vec3 *vertices;
    const uint32_t *indices; // three for each triangle
    cairn_mesh_node *nodes;
    uint32_t *order;
    uint32_t *neighbours; // across edge i of triangle t: 3 t + i; edge i goes from corner i
    // A height field. Cell (column, row) has the triangles 2 (row (columns - 1) + column), +1.
    const float *heights; // row by row
    uint32_t columns;
    uint32_t rows;
    float spacing_x; // m, between columns
    float spacing_z; // between rows
};

typedef struct cairn_triangle {
    uint32_t index;
    cairn_vec3 corners[3]; // counter-clockwise seen from the front
    cairn_vec3 normal;     // unit, to the front
} cairn_triangle;

// The smallest height of a triangle over its longest side, as a fraction of that side. A triangle
// below it has no area.
#define CAIRN_TRIANGLE_HEIGHT_MIN 1e-5f
bool cairn_triangle_has_area(cairn_vec3 a, cairn_vec3 b, cairn_vec3 c);

// Why these arrays are no mesh or height field: static text, NULL if they are. Triangles without
// area are no reason.
const char *cairn_mesh_arrays_refusal(
    const cairn_vec3 *vertices, uint32_t vertex_count, const uint32_t *indices, uint32_t count);
const char *cairn_heights_refusal(
    const float *heights, uint32_t columns, uint32_t rows, float spacing_x, float spacing_z);

// Fills what follows from vertices and indices, which must be valid. `memory`: 12 words for each
// triangle and 3 for each vertex.
void cairn_mesh_derive(cairn_mesh *mesh, uint32_t *memory);
// Sets where nodes, neighbours and order lie in `memory`.
void cairn_mesh_place(cairn_mesh *mesh, uint32_t *memory);
// The same for a height field, which needs no memory.
void cairn_height_field_derive(cairn_mesh *field);

// False for a triangle of a height field that is a hole.
bool cairn_mesh_triangle(const cairn_mesh *mesh, uint32_t index, cairn_triangle *out);

// How two triangles meet in an edge.
typedef enum cairn_triangle_edge_kind {
    CAIRN_TRIANGLE_EDGE_OPEN = 0, // there is no other triangle
    CAIRN_TRIANGLE_EDGE_CONVEX,   // the surface bends away from its front
    CAIRN_TRIANGLE_EDGE_SMOOTH,   // flat or concave: nothing touches the edge but not a face beside
                                  // it
} cairn_triangle_edge_kind;
typedef struct cairn_triangle_edge {
    cairn_triangle_edge_kind kind;
    cairn_vec3 far_corner; // of the other triangle: the one that is not on the edge
} cairn_triangle_edge;
cairn_triangle_edge cairn_mesh_edge(
    const cairn_mesh *mesh, const cairn_triangle *triangle, uint32_t edge);

// Calls `visit` for each triangle whose box overlaps `box`, in the frame of the surface, in an
// order that depends on the surface alone. Stops when `visit` returns false.
typedef bool cairn_triangle_visitor(void *context, const cairn_triangle *triangle);
void cairn_mesh_visit(
    const cairn_mesh *mesh, const cairn_aabb *box, cairn_triangle_visitor *visit, void *context);

// Calls `visit` for each triangle that a box, moved from `centre` by `translation`, may meet before
// the fraction `bound`. What it returns is the new bound; the cast ends if that is negative. Some
// triangles come twice.
typedef float cairn_cast_visitor(void *context, const cairn_triangle *triangle);
void cairn_mesh_cast(const cairn_mesh *mesh, cairn_vec3 centre, cairn_vec3 half_extents,
    cairn_vec3 translation, float bound, cairn_cast_visitor *visit, void *context);
