// SPDX-License-Identifier: MIT
#include "sim/reference/method.h"

#include <string.h>

// Vectors of cairn_iteration.
#define BEFORE (CAIRN_SOLVE_VECTORS - 4) // x before the iteration
#define CHANGE (CAIRN_SOLVE_VECTORS - 3) // |change of x| by the last iteration
#define RESIDUAL (CAIRN_SOLVE_VECTORS - 2)
#define TRIAL (CAIRN_SOLVE_VECTORS - 1)

typedef struct residual_part {
    const cairn_mlcp *system;
    const double *x;
    const double *w;
    double *trial;
} residual_part;

// One step for all rows of a block, so that the projection is the nearest point.
static double block_diagonal(const cairn_mlcp *system, const cairn_mlcp_block *block) {
    double most = 0.0;
    for (uint32_t i = block->first; i < block->first + block->count; ++i) {
        const double diagonal = system->columns.diagonal[i];
        most = diagonal > most ? diagonal : most;
    }
    return most;
}

static void try_block(const residual_part *p, const cairn_mlcp_block *block) {
    const double common = block_diagonal(p->system, block);
    for (uint32_t i = block->first; i < block->first + block->count; ++i) {
        const bool alone = block->kind == CAIRN_MLCP_BOUNDS;
        const double diagonal = alone ? p->system->columns.diagonal[i] : common;
        p->trial[i] = p->x[i] - p->w[i] * cairn_mlcp_inverse(diagonal);
    }
    cairn_mlcp_project_block(p->system, block, p->trial);
    for (uint32_t i = block->first; i < block->first + block->count; ++i) {
        const bool alone = block->kind == CAIRN_MLCP_BOUNDS;
        p->trial[i] = (p->trial[i] - p->x[i]) * (alone ? p->system->columns.diagonal[i] : common);
    }
}

// Lengths first: they follow the normal impulses of x, which the other blocks then overwrite.
static void residual_of_groups(const void *context, uint32_t begin, uint32_t end) {
    const residual_part *p = context;
    for (uint32_t g = begin; g < end; ++g) {
        const cairn_mlcp_group *group = &p->system->groups[g];
        for (uint32_t pass = 0; pass < 2; ++pass) {
            for (uint32_t i = 0; i < group->block_count; ++i) {
                const cairn_mlcp_block *block = &p->system->blocks[group->block_first + i];
                if ((block->kind == CAIRN_MLCP_LENGTH) == (pass == 0)) {
                    try_block(p, block);
                }
            }
        }
    }
}

static double magnitude(double value) {
    return value < 0.0 ? 0.0 - value : value;
}

double cairn_natural_residual(cairn_mlcp *system, const double *x, double *w, double *trial) {
    cairn_mlcp_residual(system, x, w);
    return cairn_natural_residual_of(system, x, w, trial);
}

double cairn_natural_residual_of(
    const cairn_mlcp *system, const double *x, const double *w, double *trial) {
    const residual_part p = {.system = system, .x = x, .w = w, .trial = trial};
    memcpy(trial, x, system->row_count * sizeof *trial);
    cairn_mlcp_run(system, residual_of_groups, &p, system->group_count);
    double most = 0.0;
    for (uint32_t i = 0; i < system->row_count; ++i) {
        // NaN counts as larger than every bound.
        most = magnitude(trial[i]) <= most ? most : magnitude(trial[i]);
    }
    return most;
}

void cairn_iteration_begin(cairn_iteration *progress, const cairn_mlcp *system, const double *x) {
    memcpy(progress->work->vectors[BEFORE], x, system->row_count * sizeof *x);
}

// Whether the change of every row is at most `bound`, or that fraction of its last change.
static bool changes_within(
    const cairn_iteration *progress, uint32_t count, const double *x, bool fraction) {
    const double *before = progress->work->vectors[BEFORE];
    double *change = progress->work->vectors[CHANGE];
    bool within = !fraction || progress->iteration > 1;
    for (uint32_t i = 0; i < count; ++i) {
        const double now = magnitude(x[i] - before[i]);
        const double bound = progress->options->tolerance * (fraction ? change[i] : 1.0);
        within = within && (now <= bound);
        change[i] = now;
    }
    return within;
}

bool cairn_iteration_done(
    cairn_iteration *progress, cairn_mlcp *system, const double *x, uint32_t *outcome) {
    const cairn_solve_options *options = progress->options;
    double **vectors = progress->work->vectors;
    bool stop = false;
    progress->iteration += 1;
    if (options->observe != NULL) {
        options->observe(options->context, progress->iteration, x);
    }
    if (options->stop_rule == CAIRN_STOP_RESIDUAL) {
        stop = cairn_natural_residual(system, x, vectors[RESIDUAL], vectors[TRIAL]) <=
               options->tolerance;
    } else if (options->stop_rule != CAIRN_STOP_COUNT) {
        const bool fraction = options->stop_rule == CAIRN_STOP_PROGRESS;
        stop = changes_within(progress, system->row_count, x, fraction);
    }
    *outcome = stop ? CAIRN_SOLVE_STOPPED : CAIRN_SOLVE_COUNT;
    return stop || progress->iteration >= options->iterations;
}
