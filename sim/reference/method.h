// SPDX-License-Identifier: MIT
#pragma once

// What the laboratory's methods share: options, outcomes, vectors to work in, the residual and the
// stop rules. Each method has a file; all take the impulses to start from and leave their own. No
// method allocates, and all end after a bounded number of operations, with an outcome that is the
// same on every machine.

#include "sim/reference/mlcp.h"
#include <cairn/types.h>

// Vectors of one number for each row that methods work in.
#define CAIRN_SOLVE_VECTORS 12

typedef enum cairn_solve_outcome {
    CAIRN_SOLVE_STOPPED = 0,      // the stop rule holds; of a direct method: solved
    CAIRN_SOLVE_COUNT = 1,        // all iterations are used up
    CAIRN_SOLVE_TOO_LARGE = 2,    // a component of the system has more rows than the method takes
    CAIRN_SOLVE_RAY = 3,          // Lemke's path ended in a ray
    CAIRN_SOLVE_PIVOTS = 4,       // Lemke's path was longer than the bound
    CAIRN_SOLVE_INCONSISTENT = 5, // rows without bounds contradict each other
    CAIRN_SOLVE_INVALID = 6,      // not a number
} cairn_solve_outcome;

typedef struct cairn_solve_options {
    uint32_t solver;     // cairn_solver, from CAIRN_SOLVER_DIRECT on
    uint32_t iterations; // at most
    uint32_t stop_rule;  // cairn_stop_rule
    uint32_t symmetric;  // 0 or 1: every second sweep in reverse
    double tolerance;    // of the stop rule
    double over_relaxation;
    // Called after each iteration; NULL: not.
    void (*observe)(void *context, uint32_t iteration, const double *x);
    void *context;
} cairn_solve_options;

typedef struct cairn_solve_report {
    uint32_t outcome;    // cairn_solve_outcome: the first that is not CAIRN_SOLVE_STOPPED
    uint32_t iterations; // of a direct method: pivots
    uint32_t failed;     // components that the direct method left as they were
} cairn_solve_report;

typedef struct cairn_direct cairn_direct; // sim/reference/direct.h

typedef struct cairn_solve_work {
    double *vectors[CAIRN_SOLVE_VECTORS];
    cairn_direct *direct; // NULL: not for CAIRN_SOLVER_DIRECT
} cairn_solve_work;

// How far x is from a solution, row by row: |x - P(x - w / d)| * d, where P projects to the bounds
// and d is the diagonal of A. A velocity, m/s or rad/s; 0 exactly for solutions. The largest is
// returned. `w` and `trial` are overwritten: w = A x + q.
double cairn_natural_residual(cairn_mlcp *system, const double *x, double *w, double *trial);
// The same for velocities w that are given.
double cairn_natural_residual_of(
    const cairn_mlcp *system, const double *x, const double *w, double *trial);

// ---- For the methods

typedef struct cairn_iteration {
    const cairn_solve_options *options;
    cairn_solve_work *work;
    uint32_t iteration;
} cairn_iteration;

// Before and after each iteration; the second is true if the method must stop. They use the last
// four vectors of the work.
void cairn_iteration_begin(cairn_iteration *progress, const cairn_mlcp *system, const double *x);
bool cairn_iteration_done(
    cairn_iteration *progress, cairn_mlcp *system, const double *x, uint32_t *outcome);

uint32_t cairn_solve_sweeps(cairn_mlcp *system, cairn_iteration *progress, double *x); // sweeps.c
uint32_t cairn_solve_split(cairn_mlcp *system, cairn_iteration *progress, double *x);  // sweeps.c
uint32_t cairn_solve_gradient(
    cairn_mlcp *system, cairn_iteration *progress, double *x);                        // gradient.c
uint32_t cairn_solve_mprgp(cairn_mlcp *system, cairn_iteration *progress, double *x); // mprgp.c
