// SPDX-License-Identifier: MIT

// Projected gradient descent (CAIRN_SOLVER_GRADIENT) and Nesterov's acceleration of it with
// adaptive restart (CAIRN_SOLVER_APGD; Mazhar, Heyn, Negrut, Tasora 2015, algorithm 1). Both
// minimise f(x) = x.A x / 2 + q.x over the impulses that the bounds allow. With cones this is the
// convex problem whose solution is the step's; with lengths, which follow the normal impulses, it
// is a fixed point that need not be a minimum.
//
// Impulses are scaled by the square root of the diagonal of A, one factor for each block,
// so that light and heavy bodies converge alike and projections stay nearest
// points. The step 1 / L is found by backtracking.

#include "sim/reference/method.h"

#include <string.h>

#include "base/assert.h"
#include <cairn/math.h>

#define BACKTRACKS_MAX 40

typedef struct descent {
    cairn_mlcp *system;
    double *scale; // by row: 1 / the diagonal of the block
    const double *from;
    const double *gradient;
    double *to;
    double step;
} descent;

static void scale_blocks(const void *context, uint32_t begin, uint32_t end) {
    const descent *d = context;
    for (uint32_t b = begin; b < end; ++b) {
        const cairn_mlcp_block *block = &d->system->blocks[b];
        double most = 0.0;
        for (uint32_t i = block->first; i < block->first + block->count; ++i) {
            const double diagonal = d->system->columns.diagonal[i];
            most = diagonal > most ? diagonal : most;
            if (block->kind == CAIRN_MLCP_BOUNDS) {
                d->scale[i] = cairn_mlcp_inverse(diagonal);
            }
        }
        for (uint32_t i = block->first;
             block->kind != CAIRN_MLCP_BOUNDS && i < block->first + block->count; ++i) {
            d->scale[i] = cairn_mlcp_inverse(most);
        }
    }
}

static void step_part(const void *context, uint32_t begin, uint32_t end) {
    const descent *d = context;
    for (uint32_t i = begin; i < end; ++i) {
        d->to[i] = d->from[i] - d->step * d->scale[i] * d->gradient[i];
    }
}

// to = P(from - step * scale * gradient)
static void step_down(
    descent *d, const double *from, const double *gradient, double step, double *to) {
    d->from = from;
    d->gradient = gradient;
    d->step = step;
    d->to = to;
    cairn_mlcp_run(d->system, step_part, d, d->system->row_count);
    cairn_mlcp_project(d->system, to);
}

typedef struct momentum {
    const double *now;
    const double *before;
    double *out;
    double factor;
} momentum;

static void momentum_part(const void *context, uint32_t begin, uint32_t end) {
    const momentum *m = context;
    for (uint32_t i = begin; i < end; ++i) {
        m->out[i] = m->now[i] + m->factor * (m->now[i] - m->before[i]);
    }
}

typedef struct change {
    const double *now;
    const double *before;
    const double *scale;
    double *difference;
    double *scaled; // NULL: not wanted
} change;

static void change_part(const void *context, uint32_t begin, uint32_t end) {
    const change *c = context;
    for (uint32_t i = begin; i < end; ++i) {
        c->difference[i] = c->now[i] - c->before[i];
        if (c->scaled != NULL) {
            c->scaled[i] = c->scale[i] > 0.0 ? c->difference[i] / c->scale[i] : 0.0;
        }
    }
}

// Whether 1 / step is too small a bound of the curvature along to - from: A(d).d > d.d / step in
// the scaled norm. `difference` and `product` are scratch.
static bool too_far(descent *d, double *difference, double *product) {
    cairn_mlcp *system = d->system;
    const change c = {.now = d->to,
        .before = d->from,
        .scale = d->scale,
        .difference = difference,
        .scaled = product};
    cairn_mlcp_run(system, change_part, &c, system->row_count);
    const double square = cairn_mlcp_dot(system, difference, product);
    cairn_mlcp_multiply(system, difference, product);
    return cairn_mlcp_dot(system, difference, product) * d->step > square * (1.0 + 1e-12);
}

// The next factor of Nesterov's sequence, and how much of the last step is repeated.
static double next_theta(double theta, double *factor) {
    const double square = theta * theta;
    const double next = 0.5 * (theta * cairn_double_sqrt(square + 4.0) - square);
    *factor = theta * (1.0 - theta) / (square + next);
    return next;
}

uint32_t cairn_solve_gradient(cairn_mlcp *system, cairn_iteration *progress, double *x) {
    double **v = progress->work->vectors;
    double *y = v[0], *next = v[1], *gradient = v[2], *difference = v[3], *scale = v[4];
    // The trial vector of the stop rule is free between two iterations.
    double *product = v[CAIRN_SOLVE_VECTORS - 1];
    const size_t size = system->row_count * sizeof *x;
    const bool accelerated = progress->options->solver == CAIRN_SOLVER_APGD;
    descent d = {.system = system, .scale = scale};
    double step = 1.0, theta = 1.0, factor = 0.0;
    uint32_t outcome = CAIRN_SOLVE_COUNT;
    bool done = false;
    cairn_mlcp_run(system, scale_blocks, &d, system->block_count);
    cairn_mlcp_project(system, x);
    memcpy(y, x, size);
    while (!done) {
        cairn_iteration_begin(progress, system, x);
        cairn_mlcp_residual(system, y, gradient);
        step_down(&d, y, gradient, step, next);
        for (uint32_t i = 0; i < BACKTRACKS_MAX && too_far(&d, difference, product); ++i) {
            step *= 0.5;
            step_down(&d, y, gradient, step, next);
        }
        theta = next_theta(theta, &factor);
        const change c = {.now = next, .before = x, .difference = difference};
        cairn_mlcp_run(system, change_part, &c, system->row_count);
        if (!accelerated || cairn_mlcp_dot(system, gradient, difference) > 0.0) {
            theta = 1.0;
            factor = 0.0;
        }
        const momentum m = {.now = next, .before = x, .out = y, .factor = factor};
        cairn_mlcp_run(system, momentum_part, &m, system->row_count);
        memcpy(x, next, size);
        step *= 1.0 / 0.9;
        done = cairn_iteration_done(progress, system, x, &outcome);
    }
    return outcome;
}
