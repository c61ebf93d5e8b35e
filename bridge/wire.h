// SPDX-License-Identifier: MIT
#pragma once

// Between what travels (schema) and what the world takes and gives (sim). Pure conversions.

#include <stdbool.h>
#include <stdint.h>

#include "schema/messages.h"
#include <cairn/sim.h>

cairn_vec3 cairn_vec3_of_wire(cairn_wire_vec3 v);
cairn_wire_vec3 cairn_vec3_to_wire(cairn_vec3 v);
cairn_quat cairn_quat_of_wire(cairn_wire_quat q);
cairn_wire_quat cairn_quat_to_wire(cairn_quat q);

// Bits of cairn_wire_body.flags.
#define CAIRN_WIRE_BODY_AWAKE 1u
#define CAIRN_WIRE_BODY_KIND_SHIFT 1u
#define CAIRN_WIRE_BODY_KIND_MASK 3u
cairn_wire_body cairn_body_to_wire(const cairn_body_state *body);

// All bodies of the world in order of id index. Returns how many there are, writes at most
// `capacity`. `scratch` is the caller's room for `capacity` body states, so that nothing is
// allocated.
uint32_t cairn_world_wire_bodies(
    const cairn_world *world, cairn_body_state *scratch, cairn_wire_body *out, uint32_t capacity);
// The shape as a picture of it needs it; false for a stale id.
bool cairn_shape_to_wire(const cairn_world *world, cairn_shape_id shape, cairn_wire_shape *out);
// The corners of a shape that is a convex hull, in the shape's frame, and how many; 0 for any
// other.
uint32_t cairn_shape_corners_to_wire(
    const cairn_world *world, cairn_shape_id shape, cairn_wire_vec3 out[CAIRN_HULL_VERTICES_MAX]);

// CAIRN_OK, or why the world would not take it (cairn_command_check).
cairn_status cairn_command_of_wire(const cairn_wire_command *wire, cairn_command *out);
cairn_wire_command cairn_command_to_wire(const cairn_command *command);
// A player's input as the command of `slot`.
cairn_status cairn_command_of_input(
    const cairn_wire_input *input, uint32_t slot, cairn_command *out);
