// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "base/random.h"

TEST("the same seed gives the same sequence") {
    cairn_random a = cairn_random_of(5);
    cairn_random b = cairn_random_of(5);
    cairn_random c = cairn_random_of(6);
    for (int i = 0; i < 100; ++i) {
        const uint64_t value = cairn_random_next(&a);
        assert_true(value == cairn_random_next(&b));
        assert_true(value != cairn_random_next(&c));
    }
}

TEST("a counter based value depends on each counter and its place") {
    const uint64_t base = cairn_random_at(1, 2, 3, 4);
    assert_true(base == cairn_random_at(1, 2, 3, 4));
    assert_true(base != cairn_random_at(2, 2, 3, 4));
    assert_true(base != cairn_random_at(1, 3, 3, 4));
    assert_true(base != cairn_random_at(1, 2, 4, 4));
    assert_true(base != cairn_random_at(1, 2, 3, 5));
    assert_true(base != cairn_random_at(1, 3, 2, 4));
    assert_true(base != cairn_random_at(2, 1, 3, 4));
    assert_true(base != cairn_random_at(1, 2, 4, 3));
}

TEST("neighbouring counters differ in half of their bits") {
    uint64_t flipped = 0;
    for (uint64_t tick = 0; tick < 4096; ++tick) {
        uint64_t both = cairn_random_at(9, tick, 1, 0) ^ cairn_random_at(9, tick + 1, 1, 0);
        for (; both != 0; both &= both - 1) {
            flipped += 1;
        }
    }
    // 4096 * 64 fair coins: mean 131072, standard deviation 256.
    assert_in_range(flipped, 131072 - 6 * 256, 131072 + 6 * 256);
}

TEST("a value below a bound is always below it") {
    const uint64_t bounds[] = {
        1, 2, 3, 10, 255, 256, UINT64_C(1) << 32, (UINT64_C(1) << 63) + 1, UINT64_MAX};
    cairn_random random = cairn_random_of(3);
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; ++i) {
        for (int round = 0; round < 1000; ++round) {
            assert_true(cairn_random_below(&random, bounds[i]) < bounds[i]);
        }
    }
}

// With this bound a plain remainder gives the lower half twice as often as the upper one.
TEST("values below a large bound are equally likely") {
    const uint64_t bound = (UINT64_C(1) << 63) + (UINT64_C(1) << 62);
    int lower = 0;
    cairn_random random = cairn_random_of(4);
    for (int round = 0; round < 30000; ++round) {
        lower += cairn_random_below(&random, bound) < bound / 3;
    }
    // A third of 30000, six standard deviations of 82; the plain remainder gives 15000.
    assert_in_range(lower, 10000 - 492, 10000 + 492);
}

TEST("values below a small bound are equally likely") {
    int seen[7] = {0};
    cairn_random random = cairn_random_of(8);
    for (int round = 0; round < 70000; ++round) {
        seen[cairn_random_below(&random, 7)] += 1;
    }
    for (int i = 0; i < 7; ++i) {
        assert_in_range(seen[i], 10000 - 6 * 93, 10000 + 6 * 93);
    }
}

TEST("a unit float is in range and exact") {
    cairn_random random = cairn_random_of(11);
    double sum = 0.0;
    for (int round = 0; round < 100000; ++round) {
        const float unit = cairn_random_unit(&random);
        const float scaled = unit * 16777216.0f;
        assert_true(unit >= 0.0f && unit < 1.0f);
        assert_true((float)(uint32_t)scaled == scaled);
        sum += (double)unit;
    }
    assert_true(sum > 49400.0 && sum < 50600.0);
}
