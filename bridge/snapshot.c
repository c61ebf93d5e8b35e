// SPDX-License-Identifier: MIT
#include "bridge/snapshot.h"

#include "base/assert.h"

cairn_snapshot_body cairn_snapshot_body_of(const cairn_body_state *body) {
    CAIRN_ASSERT(body->kind <= CAIRN_BODY_DYNAMIC && body->awake <= 1);
    return (cairn_snapshot_body){
        .id = body->id,
        .flags = (body->awake != 0 ? CAIRN_SNAPSHOT_BODY_AWAKE : 0u) |
                 body->kind << CAIRN_SNAPSHOT_BODY_KIND_SHIFT |
                 (body->enabled == 0 ? CAIRN_SNAPSHOT_BODY_DISABLED : 0u) |
                 body->teleports << CAIRN_SNAPSHOT_BODY_TELEPORTS_SHIFT |
                 (body->owner == CAIRN_SLOT_NONE ? 0u : body->owner + 1)
                     << CAIRN_SNAPSHOT_BODY_OWNER_SHIFT,
        .position = body->position,
        .rotation = body->rotation,
        .linear_velocity = body->linear_velocity,
        .angular_velocity = body->angular_velocity,
        .user = body->user,
    };
}

uint32_t cairn_world_snapshot_bodies(const cairn_world *world, cairn_body_state *scratch,
    cairn_snapshot_body *out, uint32_t capacity) {
    CAIRN_ASSERT((scratch != NULL && out != NULL) || capacity == 0);
    const uint32_t count = cairn_world_bodies(world, scratch, capacity);
    for (uint32_t i = 0; i < count && i < capacity; ++i) {
        out[i] = cairn_snapshot_body_of(&scratch[i]);
    }
    return count;
}

bool cairn_snapshot_shape_read(
    const cairn_world *world, cairn_shape_id shape, cairn_snapshot_shape *out) {
    cairn_shape_def def;
    cairn_body_id body;
    if (cairn_shape_read(world, shape, &def, &body) != CAIRN_OK ||
        (def.flags & CAIRN_SHAPE_SENSOR) != 0) {
        return false;
    }
    *out = (cairn_snapshot_shape){
        .id = shape,
        .body = body,
        .kind = def.kind,
        .half_extents = def.half_extents,
        .radius = def.radius,
        .half_height = def.half_height,
        .position = def.pose.position,
        .rotation = def.pose.rotation,
        .mesh = def.mesh,
    };
    return true;
}

uint32_t cairn_shape_corners_read(
    const cairn_world *world, cairn_shape_id shape, cairn_vec3 out[CAIRN_HULL_VERTICES_MAX]) {
    cairn_shape_def def;
    cairn_body_id body;
    uint32_t count = 0;
    if (cairn_shape_read(world, shape, &def, &body) != CAIRN_OK || def.kind != CAIRN_SHAPE_HULL ||
        cairn_hull_read(world, def.hull, out, &count) != CAIRN_OK) {
        return 0;
    }
    return count;
}
