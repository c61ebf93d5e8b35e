// SPDX-License-Identifier: MIT
#pragma once

// When ticks are due. Beat i of the schedule is at start_ns + floor(i * 1e9 / rate), exactly, so
// 60 and 128 Hz do not drift however long the server runs. A tick is one beat; under overload
// beats are skipped, the ticks behind them come later, and time has slipped for good.

#include <stdbool.h>
#include <stdint.h>

#include "server/room/histogram.h"

typedef struct cairn_tick_scheduler {
    uint64_t start_ns;
    uint32_t rate_hz;
    uint64_t beats_per_round; // in a thousand seconds
    uint32_t catch_up_ticks_max;
    uint64_t tick;                // the next to run
    uint64_t next_ns;             // when it is due
    uint64_t beat_offset;         // tick k is due at beat k + beat_offset, modulo 2^64
    uint64_t beats_skipped;       // by overload, in all
    uint64_t beats_waited;        // by waiting for inputs, in all
    uint64_t advances_overloaded; // how often beats had to be skipped
    cairn_histogram lateness_ns;  // of the first tick of each turn against its beat
} cairn_tick_scheduler;

// `rate_hz` in [CAIRN_TICK_RATE_HZ_MIN, _MAX], `catch_up_ticks_max` at least 1. The first tick is
// `tick`, due at once.
cairn_tick_scheduler cairn_tick_scheduler_of(
    uint64_t start_ns, uint32_t rate_hz, uint32_t catch_up_ticks_max, uint64_t tick);

// From now on the schedule runs at `speed` thousandths of its rate (1 .. 64000), its next tick due
// at once.
void cairn_tick_scheduler_restart(cairn_tick_scheduler *scheduler, uint64_t now_ns, uint32_t speed);

// When `tick` is due as things stand; ticks already run answer for the schedule as it is now.
uint64_t cairn_tick_scheduler_due_ns(const cairn_tick_scheduler *scheduler, uint64_t tick);

// How many ticks are due, at most catch_up_ticks_max; nothing is skipped by asking.
uint32_t cairn_tick_scheduler_due_count(const cairn_tick_scheduler *scheduler, uint64_t now_ns);

// The next tick was held back until now: of the beats that went by it takes the last, so that the
// one after it is due when the clock says so and not at once.
void cairn_tick_scheduler_slip(cairn_tick_scheduler *scheduler, uint64_t now_ns);

// How many ticks to run now: those due, at most catch_up_ticks_max. What is due beyond is skipped
// here. A clock that stands still or runs back makes nothing due.
uint32_t cairn_tick_scheduler_take(cairn_tick_scheduler *scheduler, uint64_t now_ns);

// One tick of the turn was run.
void cairn_tick_scheduler_step(cairn_tick_scheduler *scheduler);

// What an input for `tick` that arrives now is too late (> 0) or early (< 0) by, microseconds.
int32_t cairn_tick_scheduler_lateness_us(
    const cairn_tick_scheduler *scheduler, uint64_t tick, uint64_t now_ns);
