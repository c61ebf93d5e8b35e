// SPDX-License-Identifier: MIT
#pragma once

// How often a client that predicts rolled back, as it says itself: a sum that grows, so a lost
// report costs nothing. What it says is bounded by the time that has passed.

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

// Takes a report of the sums since the client connected. Returns what it adds; nothing if it was
// overtaken by a later one. *bounded: it says more than can be true, and what is too much is left
// out.
cairn_rollback_counts cairn_rollback_report_take(cairn_rollback_report *report, uint64_t now_ns,
    const cairn_rollback_counts *sums, bool *bounded);
