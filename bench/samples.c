// SPDX-License-Identifier: MIT
#include "bench/samples.h"

#include <stdio.h>
#include <stdlib.h>

bench_samples bench_samples_create(size_t capacity) {
    bench_samples s = {.times_ns = calloc(capacity, sizeof(uint64_t)), .capacity = capacity};
    if (s.times_ns == NULL) {
        fprintf(stderr, "bench: no memory for %zu samples\n", capacity);
        exit(1);
    }
    return s;
}

void bench_samples_destroy(bench_samples *s) {
    free(s->times_ns);
    *s = (bench_samples){.count = 0};
}

void bench_samples_add(bench_samples *s, uint64_t time_ns) {
    if (s->count < s->capacity) {
        s->times_ns[s->count] = time_ns;
        s->count += 1;
    }
}

static int compare_times(const void *a, const void *b) {
    const uint64_t first = *(const uint64_t *)a;
    const uint64_t second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

bench_summary bench_samples_summary(bench_samples *s) {
    if (s->count == 0) {
        return (bench_summary){.mean_us = 0.0};
    }
    qsort(s->times_ns, s->count, sizeof *s->times_ns, compare_times);
    double sum = 0.0;
    for (size_t i = 0; i < s->count; ++i) {
        sum += (double)s->times_ns[i];
    }
    return (bench_summary){.mean_us = sum / (double)s->count / 1e3,
        .median_us = (double)s->times_ns[s->count / 2] / 1e3,
        .p99_us = (double)s->times_ns[s->count * 99 / 100] / 1e3,
        .max_us = (double)s->times_ns[s->count - 1] / 1e3};
}

static int compare_figures(const void *a, const void *b) {
    const double first = *(const double *)a;
    const double second = *(const double *)b;
    return (first > second) - (first < second);
}

bench_spread bench_spread_of(double *figures, size_t count) {
    qsort(figures, count, sizeof *figures, compare_figures);
    return (bench_spread){
        .median = figures[count / 2], .low = figures[0], .high = figures[count - 1]};
}
