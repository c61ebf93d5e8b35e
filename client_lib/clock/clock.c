// SPDX-License-Identifier: MIT
#include "client_lib/clock/clock.h"

#include <math.h>

#include "base/assert.h"

static const double TIME_CONSTANT_NS = 5e8;
// Early arrivals are believed sooner than late ones: nothing arrives faster than its path, and
// everything may be delayed.
static const double GAIN_EARLY = 1.0 / 4;
static const double GAIN_LATE = 1.0 / 16;
static const double GAIN_JITTER = 1.0 / 16;
// No server runs for this many ticks. Beyond it a tick and its lead would not fit a uint64_t.
static const uint64_t TICK_MAX = UINT64_C(1) << 62;

void cairn_clock_start(cairn_clock *clock, uint32_t tick_rate_hz) {
    CAIRN_ASSERT(tick_rate_hz > 0);
    *clock = (cairn_clock){.tick_ns = 1e9 / tick_rate_hz};
}

static double elapsed_ns(uint64_t from_ns, uint64_t to_ns) {
    return to_ns >= from_ns ? (double)(to_ns - from_ns) : 0.0;
}

void cairn_clock_observe(cairn_clock *clock, uint64_t now_ns, uint64_t tick) {
    CAIRN_ASSERT(clock->tick_ns > 0);
    const bool overtaken = clock->running && tick <= clock->newest_tick;
    if (overtaken || tick > TICK_MAX) {
        return;
    }
    clock->newest_tick = tick;
    const double message_ns = (double)(tick - clock->base_tick) * clock->tick_ns;
    const double ahead_ns = message_ns - elapsed_ns(clock->base_ns, now_ns);
    clock->newest_ns = ahead_ns;
    // A backlog that arrives in one burst pulls the target along in small steps while the clock
    // itself stays behind, so the message is compared with the clock.
    if (!clock->running || fabs(ahead_ns - clock->correction_ns) > CAIRN_CLOCK_SNAP_NS) {
        clock->running = true;
        clock->base_tick = tick;
        clock->base_ns = now_ns;
        clock->newest_ns = 0;
        clock->target_ns = 0;
        clock->correction_ns = 0;
        clock->corrected_ns = now_ns;
        clock->snaps++;
        return;
    }
    const double error_ns = ahead_ns - clock->target_ns;
    clock->target_ns += error_ns * (error_ns > 0 ? GAIN_EARLY : GAIN_LATE);
    clock->jitter_ns += (fabs(error_ns) - clock->jitter_ns) * GAIN_JITTER;
    CAIRN_ASSERT(clock->newest_tick >= clock->base_tick && clock->jitter_ns >= 0);
}

void cairn_clock_advance(cairn_clock *clock, uint64_t now_ns) {
    CAIRN_ASSERT(clock->tick_ns > 0);
    const double fraction = elapsed_ns(clock->corrected_ns, now_ns) / TIME_CONSTANT_NS;
    clock->correction_ns +=
        (clock->target_ns - clock->correction_ns) * (fraction < 1 ? fraction : 1);
    clock->corrected_ns = now_ns > clock->corrected_ns ? now_ns : clock->corrected_ns;
}

double cairn_clock_ahead_ns(const cairn_clock *clock) {
    const double ahead_ns = clock->correction_ns - clock->newest_ns;
    return clock->running && !clock->paused && ahead_ns > 0 ? ahead_ns : 0;
}

void cairn_clock_pause(cairn_clock *clock) {
    clock->paused = true;
}

void cairn_clock_resume(cairn_clock *clock, uint32_t tick_rate_hz, uint32_t speed) {
    CAIRN_ASSERT(tick_rate_hz > 0 && speed > 0);
    clock->tick_ns = 1e12 / ((double)tick_rate_hz * speed);
    clock->paused = false;
    clock->running = false;
}

double cairn_clock_tick(const cairn_clock *clock, uint64_t now_ns) {
    if (!clock->running || clock->paused) {
        return (double)clock->newest_tick; // 0 before the first message
    }
    CAIRN_ASSERT(clock->tick_ns > 0);
    const double passed_ns = elapsed_ns(clock->base_ns, now_ns) + clock->correction_ns;
    const double tick = (double)clock->base_tick + passed_ns / clock->tick_ns;
    return tick > 0 ? tick : 0;
}
