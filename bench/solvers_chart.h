// SPDX-License-Identifier: MIT
#pragma once

// Curves over logarithmic axes as an SVG, two panels in a row.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct bench_line {
    const char *name;
    const double *x;
    const double *y;
    uint32_t count;
} bench_line;

typedef struct bench_panel {
    const char *title;
    const char *x_title;
    const bench_line *lines;
    uint32_t line_count;
} bench_panel;

// False: the file cannot be written.
bool bench_solvers_chart(const char *path, const bench_panel *panels, uint32_t count);
