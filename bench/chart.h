// SPDX-License-Identifier: MIT
#pragma once

// Bars in groups as one SVG file: a group for each scene, a bar for each series. Scenes differ by
// more than a factor of ten, so each group has a scale of its own and each bar its number.

#include <stdbool.h>
#include <stdint.h>

#define BENCH_CHART_SERIES_MAX 8

typedef struct bench_bar {
    double value; // not positive: there is none
    double low;   // what the value ranged over; equal to it when unknown
    double high;
} bench_bar;

typedef struct bench_chart {
    const char *title;
    const char *note; // one line below the title
    const char *unit;
    uint32_t series_count;
    const char *series[BENCH_CHART_SERIES_MAX];
    uint32_t group_count;
    const char *const *groups;
    const bench_bar *bars; // group by group, series_count in each
} bench_chart;

// False when the file cannot be written.
bool bench_chart_write(const bench_chart *chart, const char *path);
