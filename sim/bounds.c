// SPDX-License-Identifier: MIT
#include "sim/geometry.h"

#include "sim/vec.h"

// A half-space reaches past everything that has a place in a world, and is still finite.
#define HALF_SPACE_REACH 1e9f

static cairn_vec3 bounds_reach(const cairn_geometry *geometry, cairn_quat rotation) {
    const float r = geometry->radius;
    const cairn_mat3 turn = mat3_of_quat(rotation);
    switch (geometry->kind) {
    case CAIRN_SHAPE_SPHERE:
        return vec3(r, r, r);
    case CAIRN_SHAPE_CAPSULE: {
        const cairn_vec3 along = vec3_scale(vec3_abs(mat3_column(turn, 1)), geometry->half_height);
        return vec3_add(along, vec3(r, r, r));
    }
    case CAIRN_SHAPE_BOX:
        return mat3_apply(mat3_abs(turn), geometry->half_extents);
    default:
        return vec3(HALF_SPACE_REACH, HALF_SPACE_REACH, HALF_SPACE_REACH);
    }
}

cairn_aabb cairn_solid_aabb(const cairn_solid *solid, const cairn_pose *pose) {
    const cairn_vec3 reach = bounds_reach(solid->geometry, pose->rotation);
    return (cairn_aabb){.lower = vec3_clean(vec3_sub(pose->position, reach)),
        .upper = vec3_clean(vec3_add(pose->position, reach))};
}
