// SPDX-License-Identifier: MIT
#pragma once

// One body of a world: what the stages of a step and the public functions do to it.

#include "sim/state/world.h"

// The slot of a live body, CAIRN_INDEX_NONE otherwise.
uint32_t cairn_body_slot(const cairn_world *world, cairn_body_id body);
cairn_body_id cairn_body_id_at(const cairn_world *world, uint32_t slot);

// Wakes a dynamic body, marks any other as disturbed, so that the next step updates its pairs.
void cairn_body_wake(cairn_world *world, uint32_t slot);

// Mass, centre of mass and inertia from its shapes, in order of index. The origin stays where it
// is.
void cairn_body_update_mass(cairn_world *world, uint32_t slot);
// Clears force and torque, which act for one step. Writes only if there is something to clear: as a
// rule this part of a body stays clean in the cache.
void cairn_body_clear_forces(cairn_world *world, uint32_t slot);
// The next step takes the body's pose as its reference pose and updates all its pairs.
void cairn_body_reset_reference_pose(cairn_world *world, uint32_t slot);
// Moves the body by its velocities; disables it instead if it would become invalid.
void cairn_body_integrate(cairn_world *world, uint32_t slot, float h);
// Stops the body where it is, makes it static, and counts it.
void cairn_body_disable(cairn_world *world, uint32_t slot);
// Whether velocities and pose are finite and within CAIRN_VALID_DISTANCE and CAIRN_VALID_SPEED.
bool cairn_motion_valid(const cairn_motion *motion);

// Moves the active bodies that take no impulses: kinematic ones, and dynamic ones without mass.
void cairn_kinematic_bodies_integrate(cairn_world *world);
