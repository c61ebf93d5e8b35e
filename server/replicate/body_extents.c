// SPDX-License-Identifier: MIT
#include "server/replicate/body_extents.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "bridge/snapshot.h"

bool cairn_body_extents_create(cairn_body_extents *extents, uint32_t body_capacity) {
    *extents = (cairn_body_extents){.capacity = body_capacity};
    extents->half_extents = calloc(body_capacity, sizeof *extents->half_extents);
    return extents->half_extents != NULL;
}

void cairn_body_extents_destroy(cairn_body_extents *extents) {
    free(extents->half_extents);
    *extents = (cairn_body_extents){0};
}

static void include_point(cairn_vec3 *half, cairn_vec3 p) {
    half->x = cairn_float_max(half->x, cairn_float_abs(p.x));
    half->y = cairn_float_max(half->y, cairn_float_abs(p.y));
    half->z = cairn_float_max(half->z, cairn_float_abs(p.z));
}

// A box around a shape in its own frame. Surfaces and half-spaces belong to bodies that stand.
static cairn_vec3 shape_extents(const cairn_world *world, const cairn_snapshot_shape *shape) {
    const float r = shape->radius, h = shape->half_height;
    cairn_vec3 half = {0};
    cairn_vec3 corners[CAIRN_HULL_VERTICES_MAX];
    switch (shape->kind) {
    case CAIRN_SHAPE_SPHERE:
        return (cairn_vec3){r, r, r};
    case CAIRN_SHAPE_CAPSULE:
        return (cairn_vec3){r, h + r, r};
    case CAIRN_SHAPE_CYLINDER:
    case CAIRN_SHAPE_CONE:
        return (cairn_vec3){r, h, r};
    case CAIRN_SHAPE_BOX:
        return shape->half_extents;
    case CAIRN_SHAPE_HULL:
        for (uint32_t i = cairn_shape_corners_read(world, shape->id, corners); i-- > 0;) {
            include_point(&half, corners[i]);
        }
        return half;
    default:
        return half;
    }
}

static void include_shape(
    cairn_vec3 *half, const cairn_world *world, const cairn_snapshot_shape *shape) {
    const cairn_vec3 own = shape_extents(world, shape);
    for (uint32_t corner = 0; corner < 8; ++corner) {
        const cairn_vec3 p = {
            corner & 1 ? own.x : -own.x, corner & 2 ? own.y : -own.y, corner & 4 ? own.z : -own.z};
        include_point(half, cairn_vec3_add(shape->position, cairn_quat_rotate(shape->rotation, p)));
    }
}

void cairn_body_extents_update(cairn_body_extents *extents, const cairn_quantisation *quantisation,
    const cairn_world *world, const cairn_room_shapes *shapes) {
    if (extents->revision == shapes->revision) {
        return;
    }
    memset(extents->half_extents, 0, extents->capacity * sizeof *extents->half_extents);
    for (uint32_t i = 0; i < shapes->count; ++i) {
        const uint32_t index = cairn_id_index(shapes->shapes[i].body);
        CAIRN_ASSERT(index < extents->capacity);
        include_shape(&extents->half_extents[index], world, &shapes->shapes[i]);
    }
    for (uint32_t i = 0; i < extents->capacity; ++i) {
        extents->half_extents[i] = cairn_snapshot_extents(quantisation, extents->half_extents[i]);
    }
    extents->revision = shapes->revision;
}
