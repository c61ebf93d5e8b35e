// SPDX-License-Identifier: MIT
#pragma once

// How often a predicting client rolled back, as it reports. It reports sums, so a lost report costs
// nothing. The server bounds what a report adds by the time since the last one.

#include <stdbool.h>
#include <stdint.h>

#define CAIRN_ROLLBACK_REPORT_PER_S 1000      // rollbacks that a client may report; an advance each
#define CAIRN_ROLLBACK_REPORT_TICKS_EACH 1024 // that one of them may have gone back

typedef struct cairn_rollback_counts {
    uint64_t rollbacks;
    uint64_t ticks; // that they went back, in sum
} cairn_rollback_counts;

// Zero, but for `taken_ns`, when the client joins.
typedef struct cairn_rollback_report {
    cairn_rollback_counts last; // as reported
    uint64_t taken_ns;          // when that was
    bool adopted; // another process took the reports before: the next one is where counting begins
} cairn_rollback_report;

// Takes a report of the sums since the client connected. Returns what it adds to the last report:
// nothing if it is older than that. *bounded: it claimed more than is possible and was cut.
cairn_rollback_counts cairn_rollback_report_take(cairn_rollback_report *report, uint64_t now_ns,
    const cairn_rollback_counts *sums, bool *bounded);
