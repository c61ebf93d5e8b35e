// SPDX-License-Identifier: MIT
#pragma once

// The PGS solver: rows of velocity constraints solved by projected Gauss-Seidel in its sequential
// impulse form, with Baumgarte stabilisation (Catto 2005). It is here for the results of that
// paper; the default solver is sim/soft_step. It solves constraint by constraint, without lanes and
// on one thread, in the order of the constraint graph.

#include "sim/pgs/workspace.h"

void cairn_pgs_allocate(cairn_pgs *pgs, cairn_arena *from, const cairn_world_def *def);

// The parts of a step. Velocities from forces; fills the solver's bodies.
void cairn_pgs_integrate_forces(cairn_world *world);
// Collects the active contacts and joints, solves them, and stores the accumulated impulses.
void cairn_pgs_solve(cairn_world *world);
// Solved velocities into the block, and poses from velocities; a body whose next state is invalid
// is disabled at its last valid one.
void cairn_pgs_integrate_positions(cairn_world *world);
