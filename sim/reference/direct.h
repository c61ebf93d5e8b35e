// SPDX-License-Identifier: MIT
#pragma once

// The direct method, CAIRN_SOLVER_DIRECT: the reference that others are compared with. Each
// component of the system is solved by itself, exactly up to rounding.
//
// * One, two or three rows of contact without friction by their matrix (f = lambda / Gamma): the
//   first set of rows in a fixed order that carries load and lets no other row approach.
// * All others: rows without bounds are eliminated, and the rest is a linear complementarity
//   problem for Lemke's algorithm. Friction is a pyramid in the form of Stewart and Trinkle (1996)
//   with four directions, of which one is turned to where the contact slides, so that a contact
//   that slides has Coulomb's friction exactly.
// * Redundant rows (a table on four legs) have many solutions: A is enlarged by a small multiple of
//   the unit matrix, which selects the one of least norm, and two more solutions around the one
//   before take its error away (proximal point method, Rockafellar 1976).
// * A contact that slides in the solution gets the friction of sliding if that is lower than the
//   one for sticking, and the component is solved again.

#include "sim/reference/method.h"

// Rows of a component, at most.
#define CAIRN_DIRECT_ROWS_MAX 512

void cairn_direct_allocate(cairn_direct *d, cairn_arena *from);
// Components that it cannot solve keep their impulses, and are counted.
cairn_solve_report cairn_direct_solve(cairn_mlcp *system, cairn_solve_work *work, double *x);
