// SPDX-License-Identifier: MIT
#pragma once

// The distribution of times, in fixed memory: four buckets for each doubling, so a percentile is at
// most a quarter too high and never too low.

#include <stdint.h>

#define CAIRN_HISTOGRAM_BUCKETS 256

typedef struct cairn_histogram {
    uint64_t count;
    uint64_t max;
    uint64_t sum;
    uint64_t buckets[CAIRN_HISTOGRAM_BUCKETS];
} cairn_histogram;

void cairn_histogram_add(cairn_histogram *histogram, uint64_t value);
// Adds the values of `other`.
void cairn_histogram_merge(cairn_histogram *histogram, const cairn_histogram *other);
// The smallest bound of a bucket that at least `per_mille` of 1000 values do not exceed, at most
// the maximum; 0 without values.
uint64_t cairn_histogram_percentile(const cairn_histogram *histogram, uint32_t per_mille);
// below[i]: how many values are less than 2 to the power of `log2` + i, 2 .. 63.
void cairn_histogram_count_below(
    const cairn_histogram *histogram, uint32_t log2, uint32_t count, uint64_t *below);
