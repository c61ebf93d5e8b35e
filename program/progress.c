// SPDX-License-Identifier: MIT
#include "program/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "program/system.h"
#include <cairn/types.h>

void cairn_progress_begin(cairn_progress *p, const char *what, uint64_t total) {
    *p = (cairn_progress){.what = what,
        .total = total,
        .begin_ns = cairn_monotonic_ns(),
        .terminal = isatty(STDERR_FILENO) != 0};
}

void cairn_progress_text(const cairn_progress *p, uint64_t now_ns, char text[80]) {
    const double seconds = (double)(now_ns - p->begin_ns) * 1e-9;
    const double rate = seconds > 0 ? (double)p->done / seconds : 0;
    if (p->total == 0 || p->done > p->total || !(rate > 0)) {
        snprintf(text, 80, "%" PRIu64 " %.16s, %.0f %.16s/s", p->done, p->what, rate, p->what);
        return;
    }
    const uint64_t left_s = (uint64_t)((double)(p->total - p->done) / rate + 0.5);
    const uint64_t minutes = left_s / 60;
    int used = snprintf(
        text, 80, "%" PRIu64 " %%, %.0f %.16s/s, ", 100 * p->done / p->total, rate, p->what);
    if (minutes > 0) {
        used += snprintf(text + used, 80 - (size_t)used, "%" PRIu64 " min ", minutes);
    }
    snprintf(text + used, 80 - (size_t)used, "%" PRIu64 " s left", left_s % 60);
}

void cairn_progress_step(cairn_progress *p, uint64_t more) {
    p->done += more;
    if (!p->terminal) {
        return;
    }
    const uint64_t now_ns = cairn_monotonic_ns();
    const uint64_t last_ns = p->shown_ns == 0 ? p->begin_ns + CAIRN_NS_PER_S * 9 / 10 : p->shown_ns;
    if (now_ns > last_ns + CAIRN_NS_PER_S / 10) {
        char text[80];
        cairn_progress_text(p, now_ns, text);
        fprintf(stderr, "\r%-70s", text);
        p->shown_ns = now_ns;
    }
}

void cairn_progress_end(cairn_progress *p) {
    if (p->shown_ns != 0) {
        fprintf(stderr, "\r%70s\r", "");
    }
}
