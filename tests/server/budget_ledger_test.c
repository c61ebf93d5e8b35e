// SPDX-License-Identifier: MIT
// What clients that left have used of their budgets of bytes.
#include "tests/kit/test.h"

#include "server/session/budget_ledger.h"
#include <cairn/types.h>

#define NOW_NS (1000 * CAIRN_NS_PER_S)
#define RECORDS 8

static cairn_budget_ledger ledger;

static void begin(void) {
    assert_true(cairn_budget_ledger_create(RECORDS, &ledger));
}

AFTER_EACH {
    cairn_budget_ledger_destroy(&ledger);
}

// The budget of a client that has had so many worlds.
static cairn_client_budget joined(cairn_client_budget budget, uint32_t worlds, uint64_t now_ns) {
    for (uint32_t i = 0; i < worlds; ++i) {
        assert_true(cairn_byte_budget_spend_join(&budget.bytes, now_ns, 1u << 20));
    }
    return budget;
}

static void put_joined(uint64_t client_id, uint32_t worlds, uint64_t now_ns) {
    const cairn_client_budget budget = joined((cairn_client_budget){0}, worlds, now_ns);
    cairn_budget_ledger_put(&ledger, client_id, &budget, now_ns);
}

// How many worlds the client is owed at once. It keeps its budget.
static uint32_t owed(uint64_t client_id, uint64_t now_ns) {
    const cairn_client_budget budget = cairn_budget_ledger_take(&ledger, client_id, now_ns);
    cairn_client_budget used = budget;
    uint32_t count = 0;
    while (count < 100 && cairn_byte_budget_spend_join(&used.bytes, now_ns, 1u << 20)) {
        ++count;
    }
    cairn_budget_ledger_put(&ledger, client_id, &budget, now_ns);
    return count;
}

TEST("a client that leaves and connects again has what is left of its budget, and others theirs") {
    begin();
    put_joined(7, 3, NOW_NS);
    put_joined(0, 1, NOW_NS);
    assert_int_equal(owed(7, NOW_NS), 1);
    assert_int_equal(owed(0, NOW_NS), 3);
    assert_int_equal(owed(8, NOW_NS), 4);
    assert_int_equal(owed(7, NOW_NS + CAIRN_BYTE_BUDGET_JOIN_NS), 2);
    assert_int_equal(owed(7, NOW_NS + 3 * CAIRN_BYTE_BUDGET_JOIN_NS), 4);
}

TEST("a record is taken once and put once, however often the client connects") {
    begin();
    for (uint32_t i = 0; i < 3 * RECORDS; ++i) {
        put_joined(7, 1 + i % 4, NOW_NS + i);
    }
    assert_int_equal(ledger.lost_until_ns, 0);
    (void)cairn_budget_ledger_take(&ledger, 7, NOW_NS + 100);
    assert_int_equal(owed(7, NOW_NS + 100), 4);
}

TEST("states that were owed and messages stay used as well") {
    begin();
    cairn_client_budget budget = {0};
    assert_true(cairn_byte_budget_spend_state(&budget.bytes, NOW_NS, 1u << 20));
    assert_true(cairn_message_budget_spend(&budget.messages, NOW_NS, 4000));
    cairn_budget_ledger_put(&ledger, 7, &budget, NOW_NS);
    budget = cairn_budget_ledger_take(&ledger, 7, NOW_NS + 1);
    assert_false(cairn_byte_budget_spend_state(&budget.bytes, NOW_NS + 1, 1u << 20));
    assert_false(cairn_message_budget_spend(&budget.messages, NOW_NS + 1, 4000));
    budget = (cairn_client_budget){0};
    assert_true(cairn_message_budget_spend(&budget.messages, NOW_NS, 2048 - 32));
    cairn_budget_ledger_put(&ledger, 8, &budget, NOW_NS);
    budget = cairn_budget_ledger_take(&ledger, 8, NOW_NS + CAIRN_NS_PER_S);
    assert_true(cairn_message_budget_spend(&budget.messages, NOW_NS + CAIRN_NS_PER_S, 4064));
}

TEST("a full ledger keeps what it has, and who comes without a record is owed one world at once") {
    begin();
    for (uint32_t i = 0; i < RECORDS; ++i) {
        put_joined(100 + i, 4, NOW_NS);
    }
    put_joined(7, 4, NOW_NS);
    const uint64_t over_ns = NOW_NS + 4 * CAIRN_BYTE_BUDGET_JOIN_NS;
    assert_int_equal(ledger.lost_until_ns, over_ns);
    for (uint32_t i = 0; i < RECORDS; ++i) {
        assert_int_equal(owed(100 + i, NOW_NS), 0);
    }
    cairn_client_budget budget = cairn_budget_ledger_take(&ledger, 7, over_ns - 1);
    assert_false(cairn_byte_budget_spend_state(&budget.bytes, over_ns - 1, 1u << 20));
    assert_true(cairn_byte_budget_spend_join(&budget.bytes, over_ns - 1, 1u << 20));
    assert_false(cairn_byte_budget_spend_join(&budget.bytes, over_ns - 1, 1u << 20));
    assert_int_equal(owed(7, over_ns), 4);
}
