// SPDX-License-Identifier: MIT
#pragma once

// When the ticks of one room were seen first, by any client, and how late that was. A server's
// schedule is not known from outside. It is taken from the earliest ticks of each second: a server
// that is in time now and then is measured against itself, and clocks that drift do not matter.

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"

typedef struct load_ticks {
    uint32_t tick_rate_hz;
    uint64_t first; // the tick of stamps_ns[0]
    uint64_t count;
    uint64_t capacity;
    uint64_t *stamps_ns; // owned; of the first datagram about each tick; 0: not seen
} load_ticks;

void load_ticks_destroy(load_ticks *ticks);
// Notes that a datagram about `tick` arrived. Returns how long after the first one about the same
// tick; 0 for that one itself. When memory runs out, later ticks are not noted.
uint64_t load_ticks_note(
    load_ticks *ticks, uint32_t tick_rate_hz, uint64_t tick, uint64_t stamp_ns);
// Adds the lateness of the ticks that arrived in [from_ns, to_ns), ns, to `lateness`. Returns how
// many ticks the schedule lost: those that the server skipped by overload, a pause included.
uint64_t load_ticks_lateness(
    const load_ticks *ticks, uint64_t from_ns, uint64_t to_ns, cairn_histogram *lateness);
