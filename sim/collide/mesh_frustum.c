// SPDX-License-Identifier: MIT

// A cylinder or cone against one triangle: the points that it has with the triangle's plane, as far
// as they are above the triangle; and corners of the triangle under its discs, where the surface is
// convex.

#include "base/assert.h"
#include "sim/collide/mesh_shapes.h"

// A corner this deep in a disc, as a fraction of the height, comes through its side.
#define CORNER_DEPTH_FRACTION 0.25f

#define FEATURE_CORNER (1u << 30)

static bool is_above(const cairn_local_triangle *triangle, cairn_vec3 point) {
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_vec3 side = local_triangle_side(triangle, i);
        const cairn_vec3 outward = vec3_cross(side, triangle->normal);
        // What is exactly above an edge is above both of its triangles, in spite of rounding.
        if (vec3_dot(outward, vec3_sub(point, triangle->corners[i])) >
            1e-5f * vec3_length_squared(side)) {
            return false;
        }
    }
    return true;
}

static void add_corners(const cairn_mesh_pair *pair, const cairn_frustum *frustum,
    const cairn_local_triangle *triangle, cairn_mesh_points *points) {
    for (uint32_t i = 0; i < 6; ++i) {
        const cairn_vec3 corner = triangle->corners[i % 3];
        const bool top = i >= 3;
        const float radius = top ? frustum->top : frustum->bottom;
        const float gap = (top ? corner.y : 0.0f - corner.y) - frustum->half_height;
        const cairn_vec3 normal = vec3(0.0f, top ? -1.0f : 1.0f, 0.0f);
        const float slack = 0.01f * vec3_length(local_triangle_side(triangle, i % 3));
        if (gap <= pair->margin && gap > 0.0f - CORNER_DEPTH_FRACTION * frustum->half_height &&
            corner.x * corner.x + corner.z * corner.z <= radius * radius &&
            cairn_mesh_corner_may_touch(pair, triangle, i % 3, normal, slack)) {
            cairn_mesh_points_add(points,
                mesh_point_to_mesh(pair, vec3_add_scaled(corner, normal, 0.5f * gap)),
                mat3_apply(pair->rotation, normal), gap,
                FEATURE_CORNER | (triangle->source->index * 8 + i));
        }
    }
}

void cairn_collide_frustum_triangle(const cairn_mesh_pair *pair, const cairn_frustum *frustum,
    const cairn_local_triangle *triangle, cairn_mesh_points *points) {
    const cairn_plane plane = {
        .normal = triangle->normal, .offset = vec3_dot(triangle->normal, triangle->corners[0])};
    if (0.0f - plane.offset < 0.0f) { // the middle is behind it
        return;
    }
    uint32_t hint = 0;
    cairn_manifold found = {.point_count = 0};
    cairn_collide_frustum_plane(frustum, &plane, pair->margin, &hint, &found);
    for (uint32_t i = 0; i < found.point_count; ++i) {
        const cairn_manifold_point *point = &found.points[i];
        if (is_above(triangle, point->position)) {
            cairn_mesh_points_add(points, mesh_point_to_mesh(pair, point->position),
                mat3_apply(pair->rotation, triangle->normal), point->separation, point->feature);
        }
    }
    add_corners(pair, frustum, triangle, points);
}
