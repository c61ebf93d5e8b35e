// SPDX-License-Identifier: MIT
#include "base/histogram.h"

#include "base/assert.h"

// 0 .. 3 have a bucket each. Above, the two bits below the highest bit choose one of four.
static uint32_t bucket_of(uint64_t value) {
    if (value < 4) {
        return (uint32_t)value;
    }
    uint32_t shift = 0;
    while ((value >> shift) >= 8) {
        shift += 1;
    }
    return 4 * shift + (uint32_t)(value >> shift);
}

static uint64_t bucket_top(uint32_t bucket) {
    CAIRN_ASSERT(bucket < CAIRN_HISTOGRAM_BUCKETS);
    if (bucket < 4) {
        return bucket;
    }
    uint32_t shift = bucket / 4 - 1;
    uint64_t lowest = (uint64_t)(bucket % 4 + 4) << shift;
    return lowest + (((uint64_t)1 << shift) - 1);
}

void cairn_histogram_add(cairn_histogram *histogram, uint64_t value) {
    const uint32_t bucket = bucket_of(value);
    CAIRN_ASSERT(bucket < CAIRN_HISTOGRAM_BUCKETS && value <= bucket_top(bucket));
    histogram->buckets[bucket] += 1;
    histogram->count += 1;
    histogram->sum += value;
    histogram->max = value > histogram->max ? value : histogram->max;
}

void cairn_histogram_merge(cairn_histogram *histogram, const cairn_histogram *other) {
    const uint32_t last = bucket_of(other->max); // no value is in a later one
    for (uint32_t i = 0; i <= last; ++i) {
        histogram->buckets[i] += other->buckets[i];
    }
    histogram->count += other->count;
    histogram->sum += other->sum;
    histogram->max = other->max > histogram->max ? other->max : histogram->max;
}

uint64_t cairn_histogram_percentile(const cairn_histogram *histogram, uint32_t per_mille) {
    CAIRN_ASSERT(per_mille <= 1000);
    uint64_t wanted =
        histogram->count / 1000 * per_mille + (histogram->count % 1000 * per_mille + 999) / 1000;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < CAIRN_HISTOGRAM_BUCKETS; ++i) {
        seen += histogram->buckets[i];
        if (seen >= wanted && seen > 0) {
            uint64_t top = bucket_top(i);
            return top < histogram->max ? top : histogram->max;
        }
    }
    return histogram->max;
}

// The four buckets of a doubling are whole ones, so the counts are exact.
void cairn_histogram_count_below(
    const cairn_histogram *histogram, uint32_t log2, uint32_t count, uint64_t *below) {
    CAIRN_ASSERT(log2 >= 2 && log2 + count <= 64);
    uint64_t sum = 0;
    uint32_t bucket = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t end = 4 * (log2 + i - 1); // the bucket of 2 to the power of log2 + i
        for (; bucket < end; ++bucket) {
            sum += histogram->buckets[bucket];
        }
        below[i] = sum;
    }
}
