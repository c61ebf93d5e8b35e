// SPDX-License-Identifier: MIT
#pragma once

// The dense array of solver bodies.

#include "sim/state/world.h"

// Assigns solver bodies: first those that take impulses, in order of slot; then one static body
// that stands for all that do not move; then kinematic ones that move.
void cairn_solver_bodies_assign(cairn_world *world);
// Reads the bodies that take impulses from the state, and marks as invalid those that their forces
// would take out of range.
void cairn_solver_bodies_gather(cairn_world *world);
// Disables the bodies that are marked as invalid. Returns whether there were any.
bool cairn_solver_bodies_disable_invalid(cairn_world *world);
// Clears the forces and torques, which last for one step.
void cairn_solver_bodies_clear_forces(cairn_world *world);
// Applies forces and damping; after the first substep also the impulses of the last one again.
void cairn_solver_bodies_integrate_velocities(cairn_world *world, bool first);
// Moves the bodies by their velocities for one substep.
void cairn_solver_bodies_integrate_positions(cairn_world *world);
// Writes poses and velocities to the state. A body whose result is invalid stays where it was and
// is disabled.
void cairn_solver_bodies_scatter(cairn_world *world);
