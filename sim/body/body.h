// SPDX-License-Identifier: MIT
#pragma once

// One body of a world: what the stages of a step and the public functions do to it.

#include "sim/state/world.h"

// The slot of a live body, CAIRN_INDEX_NONE otherwise.
uint32_t cairn_body_slot(const cairn_world *world, cairn_body_id body);
cairn_body_id cairn_body_id_at(const cairn_world *world, uint32_t slot);

// Wakes a dynamic body, marks any other as disturbed, so that the next step updates its pairs. Does
// nothing to a body that is not enabled.
void cairn_body_wake(cairn_world *world, uint32_t slot);

// Mass, centre of mass and inertia (about the centre, body axes) of its shapes; zero without mass.
typedef struct cairn_mass_sum {
    float mass;
    cairn_vec3 centre;
    cairn_sym3 inertia;
} cairn_mass_sum;
cairn_mass_sum cairn_body_sum_of_shapes(const cairn_world *world, uint32_t slot);
// Mass, centre of mass and inertia from its shapes, in order of index, unless they were set. The
// origin stays where it is.
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

// Targets of kinematic bodies (cairn_body_set_target), called if world->targets_set. When a step
// has run its rules: bodies that reached theirs in the step before stop. When it has moved the
// bodies: those that had one have reached it.
void cairn_body_targets_begin(cairn_world *world);
void cairn_body_targets_end(cairn_world *world);

// Moves the active bodies that take no impulses: kinematic ones, and dynamic ones without mass.
void cairn_kinematic_bodies_integrate(cairn_world *world);
