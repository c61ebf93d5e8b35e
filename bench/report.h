// SPDX-License-Identifier: MIT
#pragma once

// Results as tables on standard output, as lines of comma-separated values, and as a chart.

#include <stdio.h>

#include "bench/measure.h"

#define BENCH_RESULTS_MAX 64

// Several runs of one scene with the same settings.
typedef struct bench_result {
    const bench_scene *scene;
    const char *series; // name of the settings
    uint32_t runs;
    bench_spread figures[BENCH_FIGURE_COUNT];
    bench_run last;
} bench_result;

void bench_report_steps_head(void);
// With the ratio of the mean times of a step in both results.
void bench_report_steps(const bench_result *result, const bench_result *first);
void bench_report_stages(const bench_result *results, uint32_t count);
void bench_report_state(const bench_state_figure *figures, uint32_t count);

// If `file` is NULL nothing is written.
void bench_csv_run(FILE *file, const bench_result *result, uint32_t number, const bench_run *run);
void bench_csv_state(FILE *file, const bench_state_figure *figures, uint32_t count);

// A bar for each scene and series. `beside` (may be NULL) is a file of lines "series,scene,ms" with
// other programs' figures. False, and a line on standard error, if a file cannot be
// read or the chart cannot be drawn.
bool bench_report_chart(
    const bench_result *results, uint32_t count, const char *beside, const char *path);
