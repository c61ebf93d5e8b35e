// SPDX-License-Identifier: MIT
#pragma once

// One run of a scene: what its steps cost, stage by stage, and what was in the world meanwhile.

#include "bench/bench_scenes.h"
#include "workers/pool.h"

// Figures of a run, all in microseconds per step but the last three, which are means over the run.
typedef enum bench_figure {
    BENCH_STEP_MEAN = 0,
    BENCH_STEP_MEDIAN,
    BENCH_STEP_P99,
    BENCH_STEP_MAX,
    BENCH_STAGE_FIRST, // mean time of each cairn_stage, in their order
    BENCH_STAGE_REST = BENCH_STAGE_FIRST + CAIRN_STAGE_COUNT, // after the last stage
    BENCH_HASH,                                               // a full hash after a step, median
    BENCH_AWAKE,
    BENCH_CONTACTS,
    BENCH_POINTS,
    BENCH_FIGURE_COUNT
} bench_figure;

// Short and unique; the unit is "us" or "".
const char *bench_figure_name(bench_figure figure);
const char *bench_figure_unit(bench_figure figure);

typedef struct bench_run {
    double figures[BENCH_FIGURE_COUNT];
    cairn_hash128 hash; // of poses and velocities at the end
    uint32_t bodies;
    cairn_world_counters counters;
} bench_run;

// How a world is stepped; the bits must not depend on it.
typedef struct bench_manner {
    uint64_t steps;   // 0: as many as the scene has
    uint32_t lanes;   // 0: what suits the CPU
    cairn_pool *pool; // NULL: the caller alone
} bench_manner;

// The run without its figures.
void bench_step_alone(const bench_scene *scene, const bench_manner *manner);
bench_run bench_measure(const bench_scene *scene, const bench_manner *manner);
