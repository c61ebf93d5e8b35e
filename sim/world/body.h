// SPDX-License-Identifier: MIT
#pragma once

// Private to the room: what the parts of a world do to each other's bodies.

#include "base/check.h"
#include "sim/state/world.h"

// The slot of a live body, CAIRN_INDEX_NONE otherwise.
uint32_t cairn_body_slot(const cairn_world *world, cairn_body_id body);
cairn_body_id cairn_body_id_at(const cairn_world *world, uint32_t slot);

// Wakes a dynamic body, marks any other as disturbed, so that the next step looks at its pairs.
void cairn_body_wake(cairn_world *world, uint32_t slot);
// Wakes the bodies in touch with it as of the last step, and those joined to it.
void cairn_body_wake_neighbours(cairn_world *world, uint32_t slot);

// Mass, centre and inertia from its shapes, in order of index. The origin stays where it is.
void cairn_body_update_mass(cairn_world *world, uint32_t slot);

// The inverse of a positive definite matrix by way of one of about unit size (the determinant of a
// pebble's inertia is smaller than the smallest float); zero for a matrix without an inverse.
cairn_sym3 cairn_sym3_inverse_scaled(cairn_sym3 m);

// Whether velocities and pose are finite and within the sound limits.
bool cairn_motion_valid(const cairn_motion *motion);

// Force and torque are used up. Written only when there is something to forget: as a rule the cold
// part of a body stays clean.
void cairn_body_forget_forces(cairn_world *world, uint32_t slot);
// It is anchored where it then is by the next step, which looks at all its pairs.
void cairn_body_reset_reference_pose(cairn_world *world, uint32_t slot);
// Puts it to rest where it is, static from now on, and counts it.
void cairn_body_disable(cairn_world *world, uint32_t slot);
