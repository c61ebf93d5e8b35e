// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

// Numbers the dense bodies: first those that impulses move, in order of slot; then one ground for
// all that neither moves nor is moved; then what moves by itself.
void cairn_solver_bodies_assign(cairn_world *world);
// Fills those that impulses move; what its forces would make unsound is marked as lost.
void cairn_solver_bodies_gather(cairn_world *world);
// Disables the bodies marked as invalid; true if there was any.
bool cairn_solver_bodies_disable_invalid(cairn_world *world);
// Forces and torques are used up.
void cairn_solver_bodies_clear_forces(cairn_world *world);
// Forces and damping of a substep, and, but for the first, the impulses of the last one again.
void cairn_solver_bodies_integrate_velocities(cairn_world *world, bool first);
// How far the velocities carry the bodies in a substep.
void cairn_solver_bodies_integrate_positions(cairn_world *world);
// New poses and velocities into the block; what has become unsound is disabled where it was.
void cairn_solver_bodies_scatter(cairn_world *world);
