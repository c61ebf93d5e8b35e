// SPDX-License-Identifier: MIT
#pragma once

// One run of a scene: the cost of its steps by stage, and the contents of the world. Then the cost
// of operations on the state.

#include <stddef.h>

#include "bench/bench_scenes.h"
#include "workers/pool.h"

// Figures of a run in microseconds per step. The last three are means over the run.
typedef enum bench_figure {
    BENCH_STEP_MEAN = 0,
    BENCH_STEP_MEDIAN,
    BENCH_STEP_P99,
    BENCH_STEP_MAX,
    BENCH_STAGE_FIRST, // mean time of each cairn_stage, in their order
    BENCH_STAGE_REST = BENCH_STAGE_FIRST + CAIRN_STAGE_COUNT, // after the last stage
    BENCH_HASH,                                               // a full hash after a step, median
    BENCH_CPU_MAIN, // mean processor time of the thread that steps the world
    BENCH_CPU_ALL,  // of all threads together
    BENCH_AWAKE,
    BENCH_CONTACTS,
    BENCH_POINTS,
    BENCH_FIGURE_COUNT
} bench_figure;

// Short and unique.
extern const char *const bench_figure_names[BENCH_FIGURE_COUNT];

// The median of some figures, and the least and greatest of them.
typedef struct bench_spread {
    double median;
    double low;
    double high;
} bench_spread;

bench_spread bench_spread_of(double *figures, size_t count); // sorts them

typedef struct bench_run {
    double figures[BENCH_FIGURE_COUNT];
    cairn_hash128 hash; // of poses and velocities at the end
    uint32_t bodies;
    cairn_world_counters counters;
} bench_run;

// How a step is executed; the result must not depend on it.
typedef struct bench_execution {
    uint64_t steps;   // 0: as many as the scene has
    uint32_t lanes;   // 0: the CPU's
    cairn_pool *pool; // NULL: the calling thread alone
} bench_execution;

// Runs the scene without measuring it.
void bench_step_alone(const bench_scene *scene, const bench_execution *execution);
bench_run bench_measure(const bench_scene *scene, const bench_execution *execution);

// The cost of saving, restoring, hashing, encoding and stepping again (state_cost.c).
typedef struct bench_state_figure {
    const char *scene;
    const char *name;
    const char *unit;
    bench_spread spread;
    double at_most; // upper bound; 0: none
} bench_state_figure;

#define BENCH_STATE_FIGURES_MAX 40

// Returns the number of figures.
uint32_t bench_state_measure(bench_state_figure out[BENCH_STATE_FIGURES_MAX]);
