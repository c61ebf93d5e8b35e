// SPDX-License-Identifier: MIT
#pragma once

// When ticks are due. Scheduled tick i is due at start_ns + floor(i * 1e9 / rate), exactly, so 60
// and 128 Hz do not drift however long the server runs. Under overload, or while the room waits for
// inputs, scheduled times pass without a tick; all later ticks move back by as many.

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"

typedef struct cairn_tick_scheduler {
    uint64_t start_ns;
    uint32_t rate_hz;
    uint64_t ticks_per_period; // a period has 1000 seconds
    uint32_t catch_up_ticks_max;
    uint64_t tick;                // the next to run
    uint64_t next_ns;             // when it is due
    uint64_t offset;              // tick k is scheduled tick k + offset, modulo 2^64
    uint64_t ticks_skipped;       // scheduled times that passed by overload
    uint64_t ticks_waited;        // scheduled times that passed while waiting for inputs
    uint64_t advances_overloaded; // how often scheduled times had to be skipped
    cairn_histogram lateness_ns;  // of the first tick of each batch
} cairn_tick_scheduler;

// When a room that is created now starts, at or after `now_ns`: rooms of one rate start at so many
// phases of their period, counted from the server's start, that one wake-up serves several.
#define CAIRN_TICK_PHASES 16
uint64_t cairn_tick_scheduler_start_ns(uint64_t server_start_ns, uint64_t now_ns, uint32_t rate_hz);

// `rate_hz` in [CAIRN_TICK_RATE_HZ_MIN, _MAX], `catch_up_ticks_max` at least 1. The first tick is
// `tick`, due at once.
cairn_tick_scheduler cairn_tick_scheduler_of(
    uint64_t start_ns, uint32_t rate_hz, uint32_t catch_up_ticks_max, uint64_t tick);

// From now on the schedule runs at `speed` thousandths of its rate (1 .. 64000); its next tick is
// due at once.
void cairn_tick_scheduler_restart(cairn_tick_scheduler *scheduler, uint64_t now_ns, uint32_t speed);

// When `tick` is due by the present schedule, also for ticks that already ran.
uint64_t cairn_tick_scheduler_due_ns(const cairn_tick_scheduler *scheduler, uint64_t tick);

// How many ticks are due, at most catch_up_ticks_max. Changes nothing.
uint32_t cairn_tick_scheduler_due_count(const cairn_tick_scheduler *scheduler, uint64_t now_ns);

// The next tick was held back until now: it takes the last of the scheduled times that passed, so
// that the tick after it is due one period later and not at once.
void cairn_tick_scheduler_slip(cairn_tick_scheduler *scheduler, uint64_t now_ns);

// How many ticks to run now: those due, at most catch_up_ticks_max. What is due beyond is skipped
// here. After a clock stopped or ran backwards no tick is due.
uint32_t cairn_tick_scheduler_take(cairn_tick_scheduler *scheduler, uint64_t now_ns);

// One tick ran.
void cairn_tick_scheduler_step(cairn_tick_scheduler *scheduler);

// By how much an input for `tick` that arrives now is late (> 0) or early (< 0), microseconds.
int32_t cairn_tick_scheduler_lateness_us(
    const cairn_tick_scheduler *scheduler, uint64_t tick, uint64_t now_ns);
