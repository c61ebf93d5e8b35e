// SPDX-License-Identifier: MIT
#pragma once

#include "sim/shape/hull.h"
#include "sim/state/slots.h"
#include "sim/state/world.h"

// Frees the slot and unlinks it from its body, whose mass is left to the caller.
void cairn_shape_remove(cairn_world *world, uint32_t slot);
cairn_shape_id cairn_shape_id_at(const cairn_world *world, uint32_t slot);
cairn_pose cairn_shape_world_pose(const cairn_world *world, uint32_t slot);

// What the narrow phase and the queries take. A hull that the geometry names must live.
static inline cairn_shape_view cairn_shape_view_of(
    const cairn_world *world, const cairn_geometry *geometry) {
    const bool has_hull = geometry->kind == CAIRN_SHAPE_HULL;
    return (cairn_shape_view){.geometry = geometry,
        .hull = has_hull ? &world->hulls[cairn_id_index(geometry->hull)] : NULL};
}
static inline cairn_shape_view cairn_shape_view_at(const cairn_world *world, uint32_t slot) {
    return cairn_shape_view_of(world, &world->state.shapes[slot].geometry);
}

// Kind and sizes, with what the kind does not use zeroed.
cairn_geometry cairn_geometry_of_def(const cairn_shape_def *def);
// CAIRN_OK, CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE; whether a hull lives is asked elsewhere.
cairn_status cairn_geometry_check(const cairn_geometry *geometry);
