// SPDX-License-Identifier: MIT
#include "server/session/rollback_report.h"

#include <cairn/types.h>

#include "base/assert.h"

// The growth of a sum, at most `most`.
static uint64_t growth(uint64_t before, uint64_t now, uint64_t most, bool *bounded) {
    const uint64_t grown = now > before ? now - before : 0;
    *bounded = *bounded || grown > most;
    return grown < most ? grown : most;
}

cairn_rollback_counts cairn_rollback_report_take(cairn_rollback_report *report, uint64_t now_ns,
    const cairn_rollback_counts *sums, bool *bounded) {
    CAIRN_ASSERT(now_ns >= report->taken_ns);
    const cairn_rollback_counts before = report->last;
    const uint64_t since_ms = (now_ns - report->taken_ns) / (CAIRN_NS_PER_S / 1000);
    cairn_rollback_counts added = {0};
    *bounded = false;
    if (sums->rollbacks < before.rollbacks || sums->ticks < before.ticks) {
        return added;
    }
    const bool adopted = report->adopted;
    *report = (cairn_rollback_report){.last = *sums, .taken_ns = now_ns};
    if (!adopted) {
        added.rollbacks = growth(before.rollbacks, sums->rollbacks,
            since_ms * CAIRN_ROLLBACK_REPORT_PER_S / 1000, bounded);
        added.ticks = growth(
            before.ticks, sums->ticks, added.rollbacks * CAIRN_ROLLBACK_REPORT_TICKS_EACH, bounded);
    }
    return added;
}
