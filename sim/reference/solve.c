// SPDX-License-Identifier: MIT
#include "sim/reference/solve.h"

#include "base/assert.h"
#include "sim/reference/direct.h"

void cairn_solve_allocate(
    cairn_solve_work *work, cairn_arena *from, uint32_t row_capacity, bool direct) {
    for (uint32_t i = 0; i < CAIRN_SOLVE_VECTORS; ++i) {
        work->vectors[i] = cairn_arena_take(from, row_capacity, sizeof(double));
    }
    work->direct = (cairn_direct){.rows = NULL};
    if (direct) {
        cairn_direct_allocate(&work->direct, from);
    }
}

cairn_solve_report cairn_solve(
    cairn_mlcp *system, const cairn_solve_options *options, cairn_solve_work *work, double *x) {
    cairn_iteration progress = {.options = options, .work = work};
    cairn_solve_report report = {.outcome = CAIRN_SOLVE_STOPPED};
    if (system->row_count == 0) {
        return report;
    }
    switch (options->solver) {
    case CAIRN_SOLVER_DIRECT:
        return cairn_direct_solve(system, work, x);
    case CAIRN_SOLVER_SPLIT:
        report.outcome = cairn_solve_split(system, &progress, x);
        break;
    case CAIRN_SOLVER_GRADIENT:
    case CAIRN_SOLVER_APGD:
        report.outcome = cairn_solve_gradient(system, &progress, x);
        break;
    case CAIRN_SOLVER_MPRGP:
        report.outcome = cairn_solve_mprgp(system, &progress, x);
        report.failed = report.outcome == CAIRN_SOLVE_INCONSISTENT ? 1 : 0;
        break;
    default:
        CAIRN_ASSERT(options->solver == CAIRN_SOLVER_PSOR);
        report.outcome = cairn_solve_sweeps(system, &progress, x);
        break;
    }
    report.iterations = progress.iteration;
    for (uint32_t i = 0; i < system->row_count; ++i) {
        if (!(x[i] <= CAIRN_MLCP_UNBOUNDED && x[i] >= -CAIRN_MLCP_UNBOUNDED)) {
            report.outcome = CAIRN_SOLVE_INVALID;
        }
    }
    return report;
}
