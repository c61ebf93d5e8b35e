// SPDX-License-Identifier: MIT

// Two methods that visit block after block. Projected Gauss-Seidel with over-relaxation (PSOR;
// Catto 2005, algorithm 4, where it is 1) applies each change at once. Mass splitting (Tonge,
// Benevolenski, Voroshilov 2012) lets all groups work at the same time: a body that n groups act on
// is n bodies with an n-th of its mass, each group solves its own, and the velocities of the parts
// are averaged, which is the same as applying the sum of all impulses to the whole body.

#include "sim/reference/method.h"

#include <string.h>

#include "base/assert.h"

// The velocities that the rows of a group see, and by how much lighter its bodies are.
typedef struct view {
    double *velocity[2]; // changes since the start
    double weights[2];
} view;

static double velocity_along(const cairn_mlcp *system, uint32_t row, const view *v) {
    const double sum =
        system->columns.offset[row] + cairn_mlcp_along(&system->columns, 0, row, v->velocity[0]);
    return sum + cairn_mlcp_along(&system->columns, 1, row, v->velocity[1]);
}

static void apply(const cairn_mlcp *system, uint32_t row, view *v, double impulse) {
    for (uint32_t side = 0; side < 2; ++side) {
        const double scaled = v->weights[side] * impulse;
        for (uint32_t k = 0; k < 6; ++k) {
            v->velocity[side][k] += system->columns.response[side][k][row] * scaled;
        }
    }
}

static double weighted_diagonal(const cairn_mlcp *system, uint32_t row, const view *v) {
    const cairn_mlcp_columns *columns = &system->columns;
    return v->weights[0] * columns->part[0][row] + v->weights[1] * columns->part[1][row] +
           columns->softness[row];
}

// The rows one after the other.
static void visit_bounds(const cairn_mlcp *system, const cairn_mlcp_block *block,
    double over_relaxation, view *v, double *x) {
    const cairn_mlcp_columns *columns = &system->columns;
    for (uint32_t i = block->first; i < block->first + block->count; ++i) {
        const double w = velocity_along(system, i, v) + columns->softness[i] * x[i];
        const double before = x[i];
        const double step = over_relaxation * cairn_mlcp_inverse(weighted_diagonal(system, i, v));
        x[i] = before - step * w;
        x[i] = x[i] < columns->lower[i] ? columns->lower[i] : x[i];
        x[i] = x[i] > columns->upper[i] ? columns->upper[i] : x[i];
        apply(system, i, v, x[i] - before);
    }
}

// All rows of friction at once, then the projection. In a cone one step for all of them: half of
// the trace is at least half of the largest eigenvalue, so it converges (Tasora and Anitescu 2011).
static void visit_vector(const cairn_mlcp *system, const cairn_mlcp_block *block,
    double over_relaxation, view *v, double *x) {
    const bool cone = block->kind == CAIRN_MLCP_CONE;
    const uint32_t first = block->first;
    double before[CAIRN_MLCP_BLOCK_ROWS_MAX];
    double *impulses = &x[block->first];
    double trace = 0.0;
    for (uint32_t i = 0; i < block->count; ++i) {
        before[i] = impulses[i];
        trace += weighted_diagonal(system, first + i, v);
    }
    for (uint32_t i = 0; i < block->count; ++i) {
        const double diagonal = cone ? 0.5 * trace : weighted_diagonal(system, first + i, v);
        const double w =
            velocity_along(system, first + i, v) + system->columns.softness[first + i] * before[i];
        impulses[i] = before[i] - over_relaxation * cairn_mlcp_inverse(diagonal) * w;
    }
    cairn_mlcp_project_block(system, block, x);
    for (uint32_t i = 0; i < block->count; ++i) {
        apply(system, first + i, v, impulses[i] - before[i]);
    }
}

static void visit_group(const cairn_mlcp *system, uint32_t index, bool reverse,
    double over_relaxation, view *v, double *x) {
    const cairn_mlcp_group *group = &system->groups[index];
    for (uint32_t k = 0; k < group->block_count; ++k) {
        const uint32_t at = reverse ? group->block_count - 1 - k : k;
        const cairn_mlcp_block *block = &system->blocks[group->block_first + at];
        for (uint32_t visit = 0; visit < block->visits; ++visit) {
            if (block->kind == CAIRN_MLCP_BOUNDS) {
                visit_bounds(system, block, over_relaxation, v, x);
            } else {
                visit_vector(system, block, over_relaxation, v, x);
            }
        }
    }
}

uint32_t cairn_solve_sweeps(cairn_mlcp *system, cairn_iteration *progress, double *x) {
    const cairn_solve_options *options = progress->options;
    double none[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    uint32_t outcome = CAIRN_SOLVE_COUNT;
    bool done = false;
    cairn_mlcp_project(system, x);
    cairn_mlcp_respond(system, x);
    while (!done) {
        const bool reverse = options->symmetric != 0 && progress->iteration % 2 == 1;
        cairn_iteration_begin(progress, system, x);
        for (uint32_t k = 0; k < system->group_count; ++k) {
            const uint32_t g = reverse ? system->group_count - 1 - k : k;
            const cairn_mlcp_group *group = &system->groups[g];
            view v = {.weights = {1.0, 1.0}};
            v.velocity[0] =
                group->body_a == CAIRN_MLCP_FIXED ? none : system->change[group->body_a];
            v.velocity[1] =
                group->body_b == CAIRN_MLCP_FIXED ? none : system->change[group->body_b];
            visit_group(system, g, reverse, options->over_relaxation, &v, x);
        }
        done = cairn_iteration_done(progress, system, x, &outcome);
    }
    return outcome;
}

typedef struct split {
    const cairn_mlcp *system;
    double over_relaxation;
    double *x;
} split;

// Groups read the velocities of the bodies and write their own impulses.
static void split_part(const void *context, uint32_t begin, uint32_t end) {
    const split *s = context;
    for (uint32_t g = begin; g < end; ++g) {
        const cairn_mlcp_group *group = &s->system->groups[g];
        const uint32_t bodies[2] = {group->body_a, group->body_b};
        double copies[2][6];
        view v = {.velocity = {copies[0], copies[1]}, .weights = {0.0, 0.0}};
        memset(copies, 0, sizeof copies);
        for (uint32_t side = 0; side < 2; ++side) {
            if (bodies[side] != CAIRN_MLCP_FIXED) {
                memcpy(copies[side], s->system->change[bodies[side]], sizeof copies[side]);
                v.weights[side] = (double)s->system->body_groups[bodies[side]];
            }
        }
        visit_group(s->system, g, false, s->over_relaxation, &v, s->x);
    }
}

uint32_t cairn_solve_split(cairn_mlcp *system, cairn_iteration *progress, double *x) {
    const split s = {
        .system = system, .over_relaxation = progress->options->over_relaxation, .x = x};
    uint32_t outcome = CAIRN_SOLVE_COUNT;
    bool done = false;
    cairn_mlcp_project(system, x);
    while (!done) {
        cairn_iteration_begin(progress, system, x);
        cairn_mlcp_respond(system, x);
        cairn_mlcp_run(system, split_part, &s, system->group_count);
        done = cairn_iteration_done(progress, system, x, &outcome);
    }
    return outcome;
}
