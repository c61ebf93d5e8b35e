// SPDX-License-Identifier: MIT
#include "sim/shape/geometry.h"

#include "base/check.h"
#include "sim/math/limits.h"
#include "sim/math/vec.h"

cairn_geometry cairn_geometry_of_def(const cairn_shape_def *def) {
    const bool box = def->kind == CAIRN_SHAPE_BOX;
    const bool has_height = def->kind == CAIRN_SHAPE_CAPSULE || def->kind == CAIRN_SHAPE_CYLINDER ||
                            def->kind == CAIRN_SHAPE_CONE;
    const bool has_radius = def->kind == CAIRN_SHAPE_SPHERE || has_height;
    return (cairn_geometry){.kind = def->kind,
        .half_extents = vec3_select(box, def->half_extents, vec3_zero()),
        .radius = has_radius ? def->radius : 0.0f,
        .half_height = has_height ? def->half_height : 0.0f,
        .hull = def->kind == CAIRN_SHAPE_HULL ? def->hull : 0,
        .mesh =
            def->kind == CAIRN_SHAPE_MESH || def->kind == CAIRN_SHAPE_HEIGHT_FIELD ? def->mesh : 0};
}

static cairn_status size_check(float size) {
    return cairn_check_float(size, CAIRN_SHAPE_SIZE_MIN, CAIRN_SHAPE_SIZE_MAX);
}

cairn_status cairn_geometry_check(const cairn_geometry *geometry) {
    cairn_status status = CAIRN_OK;
    switch (geometry->kind) {
    case CAIRN_SHAPE_SPHERE:
        return size_check(geometry->radius);
    case CAIRN_SHAPE_CAPSULE:
    case CAIRN_SHAPE_CYLINDER:
    case CAIRN_SHAPE_CONE:
        status = size_check(geometry->radius);
        return status != CAIRN_OK ? status : size_check(geometry->half_height);
    case CAIRN_SHAPE_BOX:
        status = size_check(geometry->half_extents.x);
        status = status != CAIRN_OK ? status : size_check(geometry->half_extents.y);
        return status != CAIRN_OK ? status : size_check(geometry->half_extents.z);
    case CAIRN_SHAPE_HALF_SPACE:
    case CAIRN_SHAPE_HULL:
    case CAIRN_SHAPE_MESH:
    case CAIRN_SHAPE_HEIGHT_FIELD:
        return CAIRN_OK;
    default:
        return CAIRN_INVALID_ARGUMENT;
    }
}
