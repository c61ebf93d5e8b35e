// SPDX-License-Identifier: MIT
#pragma once

// Lemke's algorithm (1965; Cottle, Pang, Stone 1992, section 4.4) for dense linear complementarity
// problems: z >= 0, w = M z + p >= 0, z.w = 0. The ratio test is lexicographic, so degenerate
// problems do not cycle. For the matrices of contact with friction (copositive) the path ends in a
// solution if there is one.

#include <stdint.h>

#include "base/arena.h"

// A contact point with friction takes three rows and six variables.
#define CAIRN_LEMKE_SIZE_MAX 1024

typedef struct cairn_lemke {
    uint32_t size;     // of the problem
    uint32_t pivots;   // of the last solution
    double *matrix;    // M, by rows of CAIRN_LEMKE_SIZE_MAX; set by the caller
    double *vector;    // p; set by the caller
    double *z;         // the solution
    double *table;     // scratch: w, z, the covering variable, the right-hand side
    uint32_t *basis;   // by row: the variable that is basic
    uint32_t *tied;    // rows of one ratio
    uint32_t *nonzero; // columns of the pivot row
} cairn_lemke;

void cairn_lemke_allocate(cairn_lemke *lemke, cairn_arena *from);
// CAIRN_SOLVE_STOPPED, or CAIRN_SOLVE_RAY, _PIVOTS or _INVALID, when z is not a solution.
uint32_t cairn_lemke_solve(cairn_lemke *lemke);
