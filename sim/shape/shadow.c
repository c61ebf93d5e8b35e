// SPDX-License-Identifier: MIT

// The area that a shape shows in one direction: that of its shadow on a plane across it.

#include "base/assert.h"
#include "sim/shape/hull.h"

#define PI 3.14159265f

static float shadow_of_box(cairn_vec3 half_extents, cairn_vec3 direction) {
    const cairn_vec3 d = vec3_abs(direction);
    const cairn_vec3 e = half_extents;
    return 4.0f * (d.x * e.y * e.z + d.y * e.x * e.z + d.z * e.x * e.y);
}

// Half the area of all faces, each as the direction sees it: of a convex solid every line across
// the shadow meets two faces.
static float shadow_of_hull(const cairn_hull *hull, cairn_vec3 direction) {
    float sum = 0.0f;
    for (uint32_t face = 0; face < hull->face_count; ++face) {
        const uint32_t first = hull->face_first[face];
        const cairn_vec3 corner = hull->vertices[hull->corners[first]];
        cairn_vec3 area = vec3_zero(); // twice the area, along the normal
        for (uint32_t i = first + 1; i + 1 < hull->face_first[face + 1]; ++i) {
            const cairn_vec3 b = vec3_sub(hull->vertices[hull->corners[i]], corner);
            const cairn_vec3 c = vec3_sub(hull->vertices[hull->corners[i + 1]], corner);
            area = vec3_add(area, vec3_cross(b, c));
        }
        sum += float_abs(vec3_dot(area, direction));
    }
    return 0.25f * sum;
}

float cairn_shape_view_shadow(const cairn_shape_view *shape, cairn_vec3 direction) {
    const cairn_geometry *geometry = shape->geometry;
    const float r = geometry->radius;
    const cairn_pose identity = pose_identity();
    switch (geometry->kind) {
    case CAIRN_SHAPE_SPHERE:
        return PI * r * r;
    case CAIRN_SHAPE_CAPSULE: {
        const float sine = float_sqrt(float_max(1.0f - direction.y * direction.y, 0.0f));
        return PI * r * r + 4.0f * r * geometry->half_height * sine;
    }
    case CAIRN_SHAPE_CYLINDER: {
        const float sine = float_sqrt(float_max(1.0f - direction.y * direction.y, 0.0f));
        return PI * r * r * float_abs(direction.y) + 4.0f * r * geometry->half_height * sine;
    }
    case CAIRN_SHAPE_BOX:
        return shadow_of_box(geometry->half_extents, direction);
    case CAIRN_SHAPE_HULL:
        CAIRN_ASSERT(shape->hull != NULL);
        return shadow_of_hull(shape->hull, direction);
    default: {
        const cairn_aabb box = cairn_shape_view_aabb(shape, &identity);
        return shadow_of_box(vec3_scale(vec3_sub(box.upper, box.lower), 0.5f), direction);
    }
    }
}
