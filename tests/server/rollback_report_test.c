// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "server/session/rollback_report.h"
#include <cairn/types.h>

#define SECOND CAIRN_NS_PER_S

static cairn_rollback_report report;
static bool bounded;

BEFORE_EACH {
    report = (cairn_rollback_report){.taken_ns = SECOND};
}

static cairn_rollback_counts take(uint64_t now_ns, uint64_t rollbacks, uint64_t ticks) {
    return cairn_rollback_report_take(&report, now_ns,
        &(cairn_rollback_counts){.rollbacks = rollbacks, .ticks = ticks}, &bounded);
}

static void expect(cairn_rollback_counts added, uint64_t rollbacks, uint64_t ticks, bool cut) {
    assert_int_equal(added.rollbacks, rollbacks);
    assert_int_equal(added.ticks, ticks);
    assert_int_equal(bounded, cut);
}

TEST("what a sum grew by is counted once, also if reports were lost") {
    expect(take(2 * SECOND, 5, 20), 5, 20, false);
    expect(take(3 * SECOND, 5, 20), 0, 0, false);
    expect(take(9 * SECOND, 45, 300), 40, 280, false);
}

TEST("a report that a later one overtook is left out") {
    (void)take(2 * SECOND, 50, 200);
    expect(take(3 * SECOND, 40, 160), 0, 0, false);
    expect(take(3 * SECOND, 60, 100), 0, 0, false);
    expect(take(3 * SECOND, 51, 204), 1, 4, false);
}

TEST("a client can report no more than there is time for, and nothing of it later") {
    const uint64_t most = CAIRN_ROLLBACK_REPORT_PER_S;
    expect(take(2 * SECOND, UINT64_MAX - 1, UINT64_MAX - 1), most,
        most * CAIRN_ROLLBACK_REPORT_TICKS_EACH, true);
    expect(take(2 * SECOND, UINT64_MAX, UINT64_MAX), 0, 0, true);
    expect(take(9 * SECOND, UINT64_MAX, UINT64_MAX), 0, 0, false);
}

TEST("ticks without rollbacks are not counted") {
    expect(take(2 * SECOND, 0, 7), 0, 0, true);
    expect(take(3 * SECOND, 1, 7 + CAIRN_ROLLBACK_REPORT_TICKS_EACH + 1), 1,
        CAIRN_ROLLBACK_REPORT_TICKS_EACH, true);
}

TEST("counting goes on from the first report after another process had the client") {
    report.adopted = true;
    expect(take(2 * SECOND, 5000, 20000), 0, 0, false);
    expect(take(3 * SECOND, 5003, 20009), 3, 9, false);
}
