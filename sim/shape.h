// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state.h"

// Frees the slot and unlinks it from its body, whose mass is left to the caller.
void cairn_shape_remove(cairn_world *world, uint32_t slot);
cairn_shape_id cairn_shape_id_at(const cairn_world *world, uint32_t slot);
cairn_pose cairn_shape_world_pose(const cairn_world *world, uint32_t slot);

// What the narrow phase and the queries take.
static inline cairn_solid cairn_shape_solid(const cairn_world *world, uint32_t slot) {
    return (cairn_solid){.geometry = &world->state.shapes[slot].geometry, .hull = NULL};
}

// Kind and sizes, with what the kind does not use zeroed.
cairn_geometry cairn_geometry_of_def(const cairn_shape_def *def);
// CAIRN_OK, CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE.
cairn_status cairn_geometry_check(const cairn_geometry *geometry);
