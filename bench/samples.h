// SPDX-License-Identifier: MIT
#pragma once

// Times of one operation, measured repeatedly.

#include <stddef.h>
#include <stdint.h>

typedef struct bench_samples {
    uint64_t *times_ns;
    size_t count;
    size_t capacity;
} bench_samples;

// Ends the program when out of memory.
bench_samples bench_samples_create(size_t capacity);
void bench_samples_destroy(bench_samples *s);
void bench_samples_add(bench_samples *s, uint64_t time_ns);

typedef struct bench_summary {
    double mean_us;
    double median_us;
    double p99_us;
    double max_us;
} bench_summary;

bench_summary bench_samples_summary(bench_samples *s); // sorts them; zeros when there are none

// The median of some figures, and the least and greatest of them.
typedef struct bench_spread {
    double median;
    double low;
    double high;
} bench_spread;

bench_spread bench_spread_of(double *figures, size_t count); // sorts them
