// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "base/histogram.h"

TEST("merged distributions are that of all values") {
    for (uint32_t bits = 1; bits <= 63; ++bits) {
        cairn_histogram parts[2] = {0};
        cairn_histogram whole = {0};
        for (uint64_t i = 0; i < 200; ++i) {
            const uint64_t value = (i * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits);
            cairn_histogram_add(&parts[i % 3 == 0 ? 1 : 0], value);
            cairn_histogram_add(&whole, value);
        }
        cairn_histogram_merge(&parts[0], &parts[1]);
        assert_memory_equal(&parts[0], &whole, sizeof whole);
    }
}

TEST("merging one without values changes nothing") {
    cairn_histogram some = {0};
    const cairn_histogram none = {0};
    cairn_histogram_add(&some, 7);
    const cairn_histogram before = some;
    cairn_histogram_merge(&some, &none);
    assert_memory_equal(&some, &before, sizeof some);
}
