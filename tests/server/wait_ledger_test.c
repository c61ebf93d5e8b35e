// SPDX-License-Identifier: MIT
// What players that left have used of a room's waits.
#include "tests/kit/test.h"

#include "server/session/wait_ledger.h"

#define NOW_NS (1000 * CAIRN_NS_PER_S)

static const cairn_wait_budget given_up = {.timely_required = 60, .timely_missing = 60};

static cairn_wait_ledger ledger;

static void put(uint64_t client_id, uint32_t offences, uint64_t now_ns) {
    const cairn_wait_budget budget = {.offences = offences};
    cairn_wait_ledger_put(&ledger, client_id, &budget, now_ns);
}

static cairn_wait_budget take(uint64_t client_id, uint64_t now_ns) {
    return cairn_wait_ledger_take(&ledger, client_id, &given_up, now_ns);
}

TEST("a record is its client's for a minute, and is taken once") {
    ledger = (cairn_wait_ledger){0};
    put(0, 1, NOW_NS);
    put(7, 2, NOW_NS);
    put(8, 3, NOW_NS);
    assert_int_equal(take(9, NOW_NS).offences, 0);
    assert_int_equal(take(7, NOW_NS + CAIRN_WAIT_LEDGER_NS - 1).offences, 2);
    assert_int_equal(take(7, NOW_NS + CAIRN_WAIT_LEDGER_NS - 1).offences, 0);
    assert_int_equal(take(0, NOW_NS + CAIRN_WAIT_LEDGER_NS - 1).offences, 1);
    assert_int_equal(take(8, NOW_NS + CAIRN_WAIT_LEDGER_NS).offences, 0);
}

TEST("a client has one record, the last that says anything") {
    ledger = (cairn_wait_ledger){0};
    put(7, 1, NOW_NS);
    put(7, 2, NOW_NS + 1);
    put(7, 0, NOW_NS + 2);
    assert_int_equal(take(7, NOW_NS + CAIRN_WAIT_LEDGER_NS).offences, 2);
    assert_int_equal(take(7, NOW_NS + CAIRN_WAIT_LEDGER_NS).offences, 0);
}

TEST("each part of a budget is worth a record, and nothing used is not") {
    static const cairn_wait_budget rows[] = {{.offences = 1}, {.silent_ns = 1},
        {.times_given_up = 1}, {.timely_required = 1, .timely_missing = 1},
        {.offence_ns = 1, .silent_from_ns = 1, .given_up_ns = 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ledger = (cairn_wait_ledger){0};
        cairn_wait_ledger_put(&ledger, 7, &rows[i], NOW_NS);
        const cairn_wait_budget got = take(7, NOW_NS);
        const cairn_wait_budget wanted = i < 4 ? rows[i] : (cairn_wait_budget){0};
        assert_memory_equal(&got, &wanted, sizeof got);
    }
}

TEST("a record stays until its waits are paid for") {
    ledger = (cairn_wait_ledger){0};
    const uint64_t paid_ns = NOW_NS + 300 * CAIRN_NS_PER_S;
    const cairn_wait_budget budget = {.paid_ns = paid_ns};
    cairn_wait_ledger_put(&ledger, 7, &budget, NOW_NS);
    cairn_wait_ledger_put(&ledger, 8, &budget, NOW_NS);
    assert_int_equal(take(7, paid_ns - 1).paid_ns, paid_ns);
    assert_int_equal(take(8, paid_ns).paid_ns, 0);
}

TEST("a full ledger keeps what it has, and who joins without a record is given up for a minute") {
    ledger = (cairn_wait_ledger){0};
    for (uint32_t i = 0; i < CAIRN_WAIT_LEDGER_MAX; ++i) {
        put(100 + i, 2, NOW_NS);
    }
    assert_int_equal(take(7, NOW_NS).timely_required, 0); // full, but nothing was lost
    put(8, 0, NOW_NS + 1);
    assert_int_equal(take(7, NOW_NS + 1).timely_required, 0);
    put(8, 1, NOW_NS + 1);
    assert_int_equal(take(8, NOW_NS + 1).timely_required, 60);
    for (uint32_t i = 0; i < CAIRN_WAIT_LEDGER_MAX; ++i) {
        const cairn_wait_budget budget = take(100 + i, NOW_NS + 2);
        assert_int_equal(budget.offences, 2);
        assert_int_equal(budget.timely_required, 0);
    }
    assert_int_equal(take(7, NOW_NS + CAIRN_WAIT_LEDGER_NS).timely_required, 60);
    assert_int_equal(take(7, NOW_NS + CAIRN_WAIT_LEDGER_NS + 1).timely_required, 0);
}

TEST("a record that is over makes room") {
    ledger = (cairn_wait_ledger){0};
    for (uint32_t i = 0; i < CAIRN_WAIT_LEDGER_MAX; ++i) {
        put(100 + i, 2, NOW_NS + i);
    }
    put(7, 3, NOW_NS + CAIRN_WAIT_LEDGER_NS);
    assert_int_equal(take(7, NOW_NS + CAIRN_WAIT_LEDGER_NS).offences, 3);
    assert_int_equal(take(100, NOW_NS + CAIRN_WAIT_LEDGER_NS).offences, 0);
    assert_int_equal(take(101, NOW_NS + CAIRN_WAIT_LEDGER_NS).offences, 2);
}
