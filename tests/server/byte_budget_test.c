// SPDX-License-Identifier: MIT
// A client gets at most 20 times the bytes that it sends by asking, and now and then one state
// more.
#include "tests/kit/test.h"

#include "base/random.h"
#include "server/session/byte_budget.h"
#include <cairn/types.h>

#define SECONDS 300

TEST("the bytes asked for are at most twenty times those that were sent for them") {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        cairn_random random = cairn_random_of(seed);
        cairn_byte_budget budget = {0};
        uint64_t in[SECONDS] = {0};
        uint64_t out[SECONDS] = {0};
        uint64_t refused = 0;
        for (uint64_t at_ns = 0; at_ns < SECONDS * CAIRN_NS_PER_S;
             at_ns += 1 + cairn_random_below(&random, CAIRN_NS_PER_S / 2)) {
            const uint64_t second = at_ns / CAIRN_NS_PER_S;
            const uint64_t sent = cairn_random_below(&random, second % 40 < 20 ? 1000 : 10);
            cairn_byte_budget_receive(&budget, at_ns, sent);
            in[second] += sent;
            const uint64_t asked = cairn_random_below(&random, 100000);
            const bool granted = cairn_byte_budget_spend(&budget, at_ns, asked);
            out[second] += granted ? asked : 0;
            refused += granted ? 0 : 1;
        }
        assert_true(refused > 10);
        // What is sent in one second may be paid for by what came up to nine seconds before.
        for (uint32_t i = 9; i + 10 <= SECONDS; ++i) {
            uint64_t sums[2] = {0};
            for (uint32_t k = i - 9; k < i + 10; ++k) {
                sums[0] += in[k];
                sums[1] += k >= i ? out[k] : 0;
            }
            assert_true(sums[1] <= 20 * sums[0]);
        }
    }
}

TEST("a client that was silent for long has nothing left to ask for") {
    for (uint64_t silence_s = 1; silence_s <= 30; ++silence_s) {
        cairn_byte_budget budget = {0};
        for (uint64_t second = 0; second < 10; ++second) {
            cairn_byte_budget_receive(&budget, second * CAIRN_NS_PER_S, 1);
        }
        // Of the ten seconds of the window the last ones are left.
        const uint64_t left = silence_s < 10 ? 10 - silence_s : 0;
        const uint64_t now_ns = (9 + silence_s) * CAIRN_NS_PER_S;
        assert_false(cairn_byte_budget_spend(&budget, now_ns, 20 * left + 1));
        assert_true(cairn_byte_budget_spend(&budget, now_ns, 20 * left));
    }
}

TEST("a state is owed after ten seconds, then after twice as long each time") {
    static const uint64_t waits_s[] = {0, 10, 20, 40, 80, 80};
    cairn_byte_budget budget = {0};
    uint64_t now_ns = 1000 * CAIRN_NS_PER_S;
    for (size_t i = 0; i < sizeof waits_s / sizeof *waits_s; ++i) {
        now_ns += waits_s[i] * CAIRN_NS_PER_S;
        if (waits_s[i] > 0) {
            assert_false(cairn_byte_budget_spend_state(&budget, now_ns - 1, 1u << 20));
        }
        assert_true(cairn_byte_budget_spend_state(&budget, now_ns, 1u << 20));
        assert_false(cairn_byte_budget_spend_state(&budget, now_ns, 1u << 20));
    }
    now_ns += 80 * CAIRN_NS_PER_S + 2 * CAIRN_BYTE_BUDGET_STATE_NS_MAX;
    assert_true(cairn_byte_budget_spend_state(&budget, now_ns, 1u << 20));
    assert_true(cairn_byte_budget_spend_state(&budget, now_ns + 10 * CAIRN_NS_PER_S, 1u << 20));
}

TEST("a state that is paid for leaves the owed one for later") {
    cairn_byte_budget budget = {0};
    cairn_byte_budget_receive(&budget, 0, 100);
    assert_true(cairn_byte_budget_spend_state(&budget, 0, 2000));
    assert_true(cairn_byte_budget_spend_state(&budget, 0, 2000));
    assert_false(cairn_byte_budget_spend_state(&budget, 0, 2000));
}

TEST("four worlds are owed at once for joins, and then one in ten seconds") {
    cairn_byte_budget budget = {0};
    uint64_t now_ns = 1000 * CAIRN_NS_PER_S;
    for (uint32_t i = 0; i < CAIRN_BYTE_BUDGET_JOINS; ++i) {
        assert_true(cairn_byte_budget_spend_join(&budget, now_ns, 1u << 20));
    }
    for (uint32_t i = 0; i < 3; ++i) {
        assert_false(cairn_byte_budget_spend_join(&budget, now_ns, 1u << 20));
        now_ns += CAIRN_BYTE_BUDGET_JOIN_NS;
        assert_false(cairn_byte_budget_spend_join(&budget, now_ns - 1, 1u << 20));
        assert_true(cairn_byte_budget_spend_join(&budget, now_ns, CAIRN_BYTE_BUDGET_JOIN_SIZE));
    }
    assert_false(cairn_byte_budget_spend_join(&budget, now_ns, 0)); // of whatever size
}

TEST("the worlds of joins that are owed in any time are bounded in bytes") {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        cairn_random random = cairn_random_of(seed);
        cairn_byte_budget budget = {0};
        uint64_t bytes = 0;
        uint64_t refused = 0;
        const uint64_t most = 1 + cairn_random_below(&random, CAIRN_BYTE_BUDGET_JOIN_SIZE);
        for (uint64_t at_ns = 0; at_ns < 60 * CAIRN_NS_PER_S;
             at_ns += 1 + cairn_random_below(&random, CAIRN_NS_PER_S / 100)) {
            const uint64_t size = cairn_random_below(&random, most + 1);
            const bool owed = cairn_byte_budget_spend_join(&budget, at_ns, size);
            bytes += owed ? size : 0;
            refused += owed ? 0 : 1;
        }
        assert_true(refused > 0 || most < 1000);
        assert_true(bytes <= (CAIRN_BYTE_BUDGET_JOINS + 6) * CAIRN_BYTE_BUDGET_JOIN_SIZE);
    }
}

TEST("a budget is worth as much as a new one when it has expired, and not before") {
    const uint64_t now_ns = 1000 * CAIRN_NS_PER_S;
    cairn_byte_budget budget = {0};
    assert_int_equal(cairn_byte_budget_expiry_ns(&budget), 0);
    cairn_byte_budget_receive(&budget, now_ns, 1000);
    assert_int_equal(cairn_byte_budget_expiry_ns(&budget), 0);
    assert_true(cairn_byte_budget_spend(&budget, now_ns, 1));
    assert_int_equal(cairn_byte_budget_expiry_ns(&budget), now_ns + 10 * CAIRN_NS_PER_S);
    assert_true(cairn_byte_budget_spend_join(&budget, now_ns, 1u << 20));
    assert_true(cairn_byte_budget_spend_join(&budget, now_ns, 1u << 20));
    assert_int_equal(cairn_byte_budget_expiry_ns(&budget), now_ns + 20 * CAIRN_NS_PER_S);
    assert_true(cairn_byte_budget_spend_state(&budget, now_ns, 1u << 20));
    assert_int_equal(cairn_byte_budget_expiry_ns(&budget),
        now_ns + CAIRN_BYTE_BUDGET_STATE_NS + 2 * CAIRN_BYTE_BUDGET_STATE_NS_MAX);
}
