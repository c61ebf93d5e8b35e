// SPDX-License-Identifier: MIT
// What is allowed a few times in an hour, to a client and to all.
#include "tests/kit/test.h"

#include "server/session/hour_budget.h"

#define EACH 3
#define ALL 8

static bool spend(cairn_hour_budget *budget, uint64_t client_id, uint64_t now_ns) {
    return cairn_hour_budget_spend(budget, client_id, now_ns, EACH, ALL);
}

TEST("a client has its number in an hour, and all together have theirs") {
    cairn_hour_budget budget = {0};
    uint64_t now_ns = CAIRN_NS_PER_S;
    for (uint64_t client = 1; client <= 2; ++client) {
        for (uint32_t i = 0; i < EACH; ++i) {
            assert_true(spend(&budget, client, ++now_ns));
        }
        assert_false(spend(&budget, client, ++now_ns));
    }
    assert_true(spend(&budget, 3, ++now_ns));
    assert_true(spend(&budget, 3, ++now_ns));
    assert_false(spend(&budget, 4, ++now_ns)); // there were eight
    assert_int_equal(budget.count, ALL);       // what was refused is not spent
}

TEST("an hour later it is allowed again, one by one") {
    const uint64_t begin_ns = CAIRN_NS_PER_S;
    const uint64_t later_ns = begin_ns + CAIRN_HOUR_BUDGET_NS;
    cairn_hour_budget budget = {0};
    for (uint32_t i = 0; i < EACH; ++i) {
        assert_true(spend(&budget, 7, begin_ns + i));
    }
    assert_false(spend(&budget, 7, later_ns - 1));
    for (uint32_t i = 0; i < EACH; ++i) {
        assert_true(spend(&budget, 7, later_ns + i));
        assert_false(spend(&budget, 7, later_ns + i));
    }
}

TEST("as many as are remembered are counted") {
    cairn_hour_budget budget = {0};
    for (uint32_t round = 0; round < 2; ++round) {
        const uint64_t now_ns = CAIRN_NS_PER_S + round * CAIRN_HOUR_BUDGET_NS;
        uint32_t count = 0;
        for (uint64_t client = 0; client < 2 * CAIRN_HOUR_BUDGET_MAX; ++client) {
            count += cairn_hour_budget_spend(&budget, client, now_ns, 1, CAIRN_HOUR_BUDGET_MAX);
        }
        assert_int_equal(count, CAIRN_HOUR_BUDGET_MAX);
    }
}
