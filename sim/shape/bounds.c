// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "sim/shape/geometry.h"

#include "sim/math/vec.h"
#include "sim/shape/hull.h"

// Extent of a half-space: larger than every valid position, and still finite.
#define HALF_SPACE_EXTENT 1e9f

static cairn_vec3 half_extents_of(const cairn_geometry *geometry, cairn_quat rotation) {
    const float r = geometry->radius;
    const cairn_mat3 axes = mat3_of_quat(rotation);
    switch (geometry->kind) {
    case CAIRN_SHAPE_SPHERE:
        return vec3(r, r, r);
    case CAIRN_SHAPE_CAPSULE: {
        const cairn_vec3 along = vec3_scale(vec3_abs(mat3_column(axes, 1)), geometry->half_height);
        return vec3_add(along, vec3(r, r, r));
    }
    case CAIRN_SHAPE_BOX:
        return mat3_apply(mat3_abs(axes), geometry->half_extents);
    default:
        CAIRN_ASSERT(geometry->kind == CAIRN_SHAPE_HALF_SPACE);
        return vec3(HALF_SPACE_EXTENT, HALF_SPACE_EXTENT, HALF_SPACE_EXTENT);
    }
}

// A hull need not contain the origin of its frame.
static cairn_aabb aabb_of_hull(const cairn_hull *hull, const cairn_pose *pose) {
    CAIRN_ASSERT(hull->vertex_count > 0);
    const cairn_mat3 rotation = mat3_of_quat(pose->rotation);
    cairn_vec3 lower = mat3_apply(rotation, hull->vertices[0]);
    cairn_vec3 upper = lower;
    for (uint32_t i = 1; i < hull->vertex_count; ++i) {
        const cairn_vec3 vertex = mat3_apply(rotation, hull->vertices[i]);
        lower = vec3_min(lower, vertex);
        upper = vec3_max(upper, vertex);
    }
    return (cairn_aabb){.lower = vec3_clean(vec3_add(pose->position, lower)),
        .upper = vec3_clean(vec3_add(pose->position, upper))};
}

cairn_aabb cairn_shape_view_aabb(const cairn_shape_view *shape, const cairn_pose *pose) {
    if (shape->geometry->kind == CAIRN_SHAPE_HULL) {
        return aabb_of_hull(shape->hull, pose);
    }
    const cairn_vec3 extent = half_extents_of(shape->geometry, pose->rotation);
    return (cairn_aabb){.lower = vec3_clean(vec3_sub(pose->position, extent)),
        .upper = vec3_clean(vec3_add(pose->position, extent))};
}
