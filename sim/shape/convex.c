// SPDX-License-Identifier: MIT
#include "sim/shape/convex.h"

#include "base/assert.h"

// Bit i of a corner's number is set on the positive side of axis i; face 2 i + 1 lies on the
// negative side of axis i.
static const uint16_t box_face_first[7] = {0, 4, 8, 12, 16, 20, 24};
static const uint8_t box_corners[24] = {
    1, 3, 7, 5, 0, 4, 6, 2, 2, 6, 7, 3, 0, 1, 5, 4, 4, 5, 7, 6, 0, 2, 3, 1};
static const cairn_hull_edge box_edges[12] = {{0, 1, 3, 5}, {0, 2, 5, 1}, {0, 4, 1, 3},
    {1, 3, 0, 5}, {1, 5, 3, 0}, {2, 3, 5, 2}, {2, 6, 2, 1}, {3, 7, 0, 2}, {4, 5, 4, 3},
    {4, 6, 1, 4}, {5, 7, 4, 0}, {6, 7, 2, 4}};

static cairn_convex_view view_of_box(cairn_vec3 half, cairn_convex_box *storage) {
    CAIRN_ASSERT(half.x > 0.0f && half.y > 0.0f && half.z > 0.0f);
    for (uint32_t i = 0; i < 8; ++i) {
        storage->vertices[i] = vec3((i & 1u) != 0 ? half.x : 0.0f - half.x,
            (i & 2u) != 0 ? half.y : 0.0f - half.y, (i & 4u) != 0 ? half.z : 0.0f - half.z);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        const uint32_t axis = i / 2;
        const float side = i % 2 == 0 ? 1.0f : -1.0f;
        storage->planes[i] = (cairn_plane){
            .normal = vec3_along_axis(axis, side), .offset = vec3_component(half, axis)};
    }
    return (cairn_convex_view){.vertex_count = 8,
        .face_count = 6,
        .edge_count = 12,
        .vertices = storage->vertices,
        .planes = storage->planes,
        .face_first = box_face_first,
        .corners = box_corners,
        .edges = box_edges,
        .centre = vec3_zero(),
        .inner = float_min(half.x, float_min(half.y, half.z))};
}

cairn_convex_view cairn_convex_view_of(const cairn_shape_view *shape, cairn_convex_box *storage) {
    if (shape->geometry->kind == CAIRN_SHAPE_BOX) {
        return view_of_box(shape->geometry->half_extents, storage);
    }
    CAIRN_ASSERT(shape->geometry->kind == CAIRN_SHAPE_HULL);
    const cairn_hull *hull = shape->hull;
    CAIRN_ASSERT(hull != NULL && hull->face_count >= 4);
    return (cairn_convex_view){.vertex_count = hull->vertex_count,
        .face_count = hull->face_count,
        .edge_count = hull->edge_count,
        .vertices = hull->vertices,
        .planes = hull->planes,
        .face_first = hull->face_first,
        .corners = hull->corners,
        .edges = hull->edges,
        .centre = hull->centre,
        .inner = hull->inner};
}
