// SPDX-License-Identifier: MIT
#pragma once

// What the laboratory's methods share: options, outcomes, vectors to work in, the residual and the
// stop rules. Each method has a file; all take the impulses to start from and leave their own. No
// method allocates, and all end after a bounded number of operations, with an outcome that is the
// same on every machine.

#include "sim/reference/lemke.h"
#include "sim/reference/mlcp.h"
#include <cairn/types.h>

// Vectors of one number for each row that methods work in.
#define CAIRN_SOLVE_VECTORS 12

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
    uint32_t failed; // components that the direct method left as they were; of MPRGP 1 if it found
                     // that rows contradict each other, and left no impulse
} cairn_solve_report;

// What the direct method needs (sim/reference/direct.h).
typedef struct cairn_direct {
    cairn_lemke lemke;
    uint32_t *rows;   // of the component: row of the system; free ones first
    double *whole;    // A of the component, by rows of STRIDE
    double *reduced;  // A with free rows eliminated
    double *offset;   // q, then reduced
    double *impulse;  // by row of the component
    double *velocity; // w
    double *base;     // impulse at which the variables are 0
    struct cairn_direct_variable *variables;
    double *axes;      // two by row: of friction, at its first row
    uint32_t *row_var; // by row of the component: its variable; NONE
    bool *slides;      // by row: the first of friction that slides
    uint32_t row_count;
    uint32_t free_count;
    uint32_t variable_count;
    double regular;
    bool singular; // a set of up to three rows was
} cairn_direct;

typedef struct cairn_solve_work {
    double *vectors[CAIRN_SOLVE_VECTORS];
    cairn_direct direct; // its rows are NULL unless it is for CAIRN_SOLVER_DIRECT
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
