// SPDX-License-Identifier: MIT
#pragma once

// A step, or what holds a world, written down as a system beside a copy of the world
// (sim/measure.c, sim/forces.c).

#include "sim/reference/solve.h"
#include "sim/state/world.h"

typedef struct cairn_measurement {
    cairn_world *before; // a copy, advanced up to the rows
    const cairn_world *after;
    void *memory;
    cairn_mlcp system;
    cairn_solve_work work;
    double *x; // impulses of the step, by row
    double *w; // velocities of the rows after it
    double *trial;
    double *exact;
    double (*change)[6]; // by body: the change of its velocity in the step
} cairn_measurement;

// Room for the rows of `before`; `exact`: and for solving them directly. False: no memory.
bool cairn_measurement_allocate(cairn_measurement *m, bool exact);
// Both what was allocated and the copy.
void cairn_measurement_destroy(cairn_measurement *m);
// Of the bodies that the step moves: joints in joint coordinates, which are no rows.
uint32_t cairn_measurement_articulated(const cairn_measurement *m);
