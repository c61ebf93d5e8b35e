// SPDX-License-Identifier: MIT
// A client that behaves never meets the budget of payloads, and a flood does at once.
#include "tests/kit/test.h"

#include "base/random.h"
#include "server/session/payload_budget.h"
#include <cairn/types.h>

TEST("at 60 Hz a client may send a thousand payloads in a second, and as many at once") {
    const uint32_t per_s = cairn_payload_budget_per_s(60, false);
    cairn_payload_budget budget = {0};
    uint32_t taken = 0;
    for (uint32_t i = 0; i < 5000; ++i) {
        taken += cairn_payload_budget_spend(&budget, CAIRN_NS_PER_S, per_s) ? 1 : 0;
    }
    assert_int_equal(taken, 1000);
    for (uint32_t i = 0; i < 100000; ++i) { // for ten seconds
        const uint64_t now_ns = CAIRN_NS_PER_S + i * (CAIRN_NS_PER_S / 10000);
        taken += cairn_payload_budget_spend(&budget, now_ns, per_s) ? 1 : 0;
    }
    assert_in_range(taken, 10990, 11010);
}

// Inputs for each tick, an acknowledgement for each payload that it gets, and all of a network's
// standstill of five seconds at once.
TEST("a client that sends an input for each tick and acknowledges what it gets is never over it") {
    static const uint32_t rates_hz[] = {10, 60, 240};
    for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t per_s = cairn_payload_budget_per_s(rates_hz[k], false);
        cairn_random random = cairn_random_of(k + 1);
        cairn_payload_budget budget = {0};
        for (uint32_t tick = 0; tick < 100 * rates_hz[k]; ++tick) {
            const bool stood_still = cairn_random_below(&random, 10 * rates_hz[k]) == 0;
            const uint32_t inputs = stood_still ? 5 * rates_hz[k] : 1;
            const uint32_t acks = (uint32_t)cairn_random_below(&random, 2000 / rates_hz[k]);
            for (uint32_t i = 0; i < acks; ++i) {
                cairn_payload_budget_earn(&budget);
            }
            for (uint32_t i = 0; i < inputs + acks; ++i) {
                assert_true(cairn_payload_budget_spend(
                    &budget, tick * (CAIRN_NS_PER_S / rates_hz[k]), per_s));
            }
        }
    }
}

TEST("a client floods that exceeds its budget by as much again for five seconds") {
    const uint32_t per_s = cairn_payload_budget_per_s(60, false);
    for (uint32_t times = 1; times <= 5; times += 2) {
        cairn_payload_budget budget = {0};
        for (uint32_t i = 0; i < 8 * times * per_s; ++i) {
            const uint64_t now_ns = CAIRN_NS_PER_S + i * (CAIRN_NS_PER_S / (times * per_s));
            (void)cairn_payload_budget_spend(&budget, now_ns, per_s);
        }
        assert_int_equal(cairn_payload_budget_is_flooded(&budget), times >= 3);
    }
}

TEST("a client whose payloads come in bursts does not flood") {
    const uint32_t per_s = cairn_payload_budget_per_s(60, false);
    cairn_payload_budget budget = {0};
    for (uint32_t burst = 0; burst < 20; ++burst) {
        for (uint32_t i = 0; i < 5 * per_s; ++i) {
            (void)cairn_payload_budget_spend(&budget, (3 * burst + 1) * CAIRN_NS_PER_S, per_s);
        }
        assert_false(cairn_payload_budget_is_flooded(&budget));
    }
}

TEST("seconds without a flood begin the count again") {
    const uint32_t per_s = cairn_payload_budget_per_s(60, false);
    cairn_payload_budget budget = {0};
    for (uint32_t row = 1; row <= 3; ++row) { // four whole seconds each, then some calm ones
        for (uint32_t i = 0; i < 11 * 3 * per_s / 2; ++i) {
            const uint64_t now_ns = row * 10 * CAIRN_NS_PER_S + i * (CAIRN_NS_PER_S / (3 * per_s));
            (void)cairn_payload_budget_spend(&budget, now_ns, per_s);
        }
        assert_int_equal(budget.flooded_s, CAIRN_PAYLOAD_BUDGET_FLOOD_S - 1);
        assert_false(cairn_payload_budget_is_flooded(&budget));
    }
}

TEST("operators may send eight times as much") {
    assert_int_equal(cairn_payload_budget_per_s(60, true), 8000);
    assert_int_equal(cairn_payload_budget_per_s(10, false), 500);
}
