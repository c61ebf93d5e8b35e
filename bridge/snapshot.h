// SPDX-License-Identifier: MIT
#pragma once

// What clients are sent of a world: its bodies and shapes.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/sim.h>

cairn_snapshot_body cairn_snapshot_body_of(const cairn_body_state *body);

// All bodies of the world in order of id index. Returns how many there are, writes at most
// `capacity`. `scratch` has space for `capacity` body states, so that nothing is allocated.
uint32_t cairn_world_snapshot_bodies(const cairn_world *world, cairn_body_state *scratch,
    cairn_snapshot_body *out, uint32_t capacity);
// False for a stale id, and for a sensor, which has no look.
bool cairn_snapshot_shape_read(
    const cairn_world *world, cairn_shape_id shape, cairn_snapshot_shape *out);
// The vertices of a shape that is a convex hull, in the shape's frame; returns how many there are,
// 0 for any other shape.
uint32_t cairn_shape_corners_read(
    const cairn_world *world, cairn_shape_id shape, cairn_vec3 out[CAIRN_HULL_VERTICES_MAX]);
