// SPDX-License-Identifier: MIT
// The first byte is the number of bodies in the baseline, or, from 128 on, of words; the rest is
// the payload. The payload is refused, or gives what our own payload reproduces exactly.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "schema/delta.h"
#include "tests/kit/exact.h"

enum { BODIES_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t make_baseline(cairn_snapshot_body *bodies, uint8_t count) {
    count %= BODIES_MAX / 2;
    for (uint32_t i = 0; i < count; ++i) {
        bodies[i] = (cairn_snapshot_body){.id = 3 * i + 2,
            .flags = i % 6,
            .position = {.x = (float)i, .y = 0.5f},
            .rotation = {.w = 1.0f}};
    }
    return count;
}

static void expect_exact(const cairn_snapshot_body *baseline, uint32_t baseline_count,
    const cairn_snapshot_body *bodies, uint32_t count) {
    uint8_t payload[BODIES_MAX * 80];
    cairn_snapshot_body again[BODIES_MAX];
    uint32_t again_count;
    const size_t size =
        cairn_delta_encode(baseline, baseline_count, bodies, count, payload, sizeof payload);
    CAIRN_ASSERT(size > 0);
    CAIRN_ASSERT(cairn_delta_apply(baseline, baseline_count, payload, size, again, BODIES_MAX,
                     &again_count, NULL) == CAIRN_OK);
    CAIRN_ASSERT(again_count == count && memcmp(again, bodies, count * sizeof *bodies) == 0);
}

static void apply_words(uint32_t count, const uint8_t *bytes, size_t size) {
    uint32_t before[128];
    uint32_t after[128];
    uint32_t again[128];
    uint8_t packed[6 * 128];
    for (uint32_t i = 0; i < count; ++i) {
        before[i] = i * 0x01000193u;
    }
    uint8_t *exact = kit_exact_copy(bytes, size);
    if (cairn_words_apply(before, count, exact, size, after) == CAIRN_OK) {
        const size_t own = cairn_words_encode(before, after, count, packed, sizeof packed);
        CAIRN_ASSERT(cairn_words_apply(before, count, packed, own, again) == CAIRN_OK);
        CAIRN_ASSERT(memcmp(after, again, count * sizeof *after) == 0);
    }
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    if (data[0] >= 128) {
        apply_words(data[0] - 128u, data + 1, size - 1);
        return 0;
    }
    cairn_snapshot_body baseline[BODIES_MAX];
    cairn_snapshot_body result[BODIES_MAX];
    const uint32_t baseline_count = make_baseline(baseline, data[0]);
    uint32_t count;
    uint8_t *exact = kit_exact_copy(data + 1, size - 1);
    if (cairn_delta_apply(baseline, baseline_count, exact, size - 1, result, BODIES_MAX, &count,
            NULL) == CAIRN_OK) {
        expect_exact(baseline, baseline_count, result, count);
    }
    free(exact);
    return 0;
}
