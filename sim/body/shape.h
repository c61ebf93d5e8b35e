// SPDX-License-Identifier: MIT
#pragma once

// One shape of a world, by slot.

#include "base/assert.h"
#include "sim/shape/hull.h"
#include "sim/shape/mesh.h"
#include "sim/state/slots.h"
#include "sim/state/world.h"

static inline cairn_shape_id cairn_shape_id_at(const cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(slot < world->state.settings->shape_slots);
    return cairn_slot_id(world->state.shape_ids, slot);
}
static inline cairn_pose cairn_shape_world_pose(const cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, slot));
    const cairn_shape *shape = &world->state.shapes[slot];
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, shape->body));
    const cairn_motion *motion = &world->state.motions[shape->body];
    const cairn_pose frame = {.position = motion->origin, .rotation = motion->rotation};
    return pose_multiply(frame, shape->pose);
}

// What the narrow phase and the queries read. A hull or mesh that the geometry names must exist.
static inline cairn_shape_view cairn_shape_view_of(
    const cairn_world *world, const cairn_geometry *geometry) {
    const bool has_hull = geometry->kind == CAIRN_SHAPE_HULL;
    return (cairn_shape_view){.geometry = geometry,
        .hull = has_hull ? &world->hulls[cairn_id_index(geometry->hull)] : NULL,
        .mesh = geometry->mesh != 0 ? &world->meshes[cairn_id_index(geometry->mesh)] : NULL};
}
static inline cairn_shape_view cairn_shape_view_at(const cairn_world *world, uint32_t slot) {
    return cairn_shape_view_of(world, &world->state.shapes[slot].geometry);
}
