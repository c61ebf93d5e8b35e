// SPDX-License-Identifier: MIT
#pragma once

// The cost of saving, restoring, hashing, encoding and stepping again.

#include "bench/measure.h"

typedef struct bench_state_figure {
    const char *scene;
    const char *name;
    const char *unit;
    bench_spread spread;
    double at_most; // upper bound; 0: none
} bench_state_figure;

#define BENCH_STATE_FIGURES_MAX 16

// Returns the number of figures.
uint32_t bench_state_measure(bench_state_figure out[BENCH_STATE_FIGURES_MAX]);
