// SPDX-License-Identifier: MIT
#include "server/room/tick_scheduler.h"

#include "base/assert.h"
#include "base/limits.h"
#include <cairn/types.h>

// The schedule counts ticks per thousand seconds, so that speeds in thousandths are exact.
#define NS_PER_PERIOD UINT64_C(1000000000000)
#define SPEED_REAL 1000
#define SPEED_MAX 64000
_Static_assert(UINT64_MAX / NS_PER_PERIOD > (uint64_t)CAIRN_TICK_RATE_HZ_MAX * SPEED_MAX + 1,
    "no product overflows");

// Whole periods and the rest are separate, so that no product overflows.
static uint64_t scheduled_ns(const cairn_tick_scheduler *scheduler, uint64_t index) {
    CAIRN_ASSERT(scheduler->ticks_per_period > 0);
    return scheduler->start_ns + index / scheduler->ticks_per_period * NS_PER_PERIOD +
           index % scheduler->ticks_per_period * NS_PER_PERIOD / scheduler->ticks_per_period;
}

// Called after every change: a server with many rooms reads next_ns of all at every advance.
static void update_next(cairn_tick_scheduler *scheduler) {
    scheduler->next_ns = scheduled_ns(scheduler, scheduler->tick + scheduler->offset);
}

uint64_t cairn_tick_scheduler_start_ns(
    uint64_t server_start_ns, uint64_t now_ns, uint32_t rate_hz) {
    CAIRN_ASSERT(now_ns >= server_start_ns && rate_hz >= 1);
    const uint64_t phases_per_s = (uint64_t)rate_hz * CAIRN_TICK_PHASES;
    const uint64_t rest_ns = (now_ns - server_start_ns) % CAIRN_NS_PER_S;
    const uint64_t phase = (rest_ns * phases_per_s + CAIRN_NS_PER_S - 1) / CAIRN_NS_PER_S;
    return now_ns - rest_ns + phase * CAIRN_NS_PER_S / phases_per_s;
}

cairn_tick_scheduler cairn_tick_scheduler_of(
    uint64_t start_ns, uint32_t rate_hz, uint32_t catch_up_ticks_max, uint64_t tick) {
    CAIRN_ASSERT(rate_hz >= CAIRN_TICK_RATE_HZ_MIN && rate_hz <= CAIRN_TICK_RATE_HZ_MAX);
    CAIRN_ASSERT(catch_up_ticks_max >= 1);
    cairn_tick_scheduler scheduler = {
        .start_ns = start_ns,
        .rate_hz = rate_hz,
        .ticks_per_period = (uint64_t)rate_hz * SPEED_REAL,
        .catch_up_ticks_max = catch_up_ticks_max,
        .tick = tick,
        .offset = 0 - tick,
    };
    update_next(&scheduler);
    return scheduler;
}

void cairn_tick_scheduler_restart(
    cairn_tick_scheduler *scheduler, uint64_t now_ns, uint32_t speed) {
    CAIRN_ASSERT(speed >= 1 && speed <= SPEED_MAX);
    scheduler->start_ns = now_ns;
    scheduler->offset = 0 - scheduler->tick;
    scheduler->ticks_per_period = (uint64_t)scheduler->rate_hz * speed;
    update_next(scheduler);
}

// How many ticks are scheduled up to now. Tick i is when floor(i * period / ticks) <= elapsed,
// which is i * period < (elapsed + 1) * ticks.
static uint64_t scheduled_count(const cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    if (now_ns < scheduler->start_ns) {
        return 0;
    }
    uint64_t elapsed = now_ns - scheduler->start_ns;
    uint64_t periods = elapsed / NS_PER_PERIOD;
    uint64_t rest = elapsed % NS_PER_PERIOD + 1;
    return periods * scheduler->ticks_per_period +
           (rest * scheduler->ticks_per_period + NS_PER_PERIOD - 1) / NS_PER_PERIOD;
}

uint64_t cairn_tick_scheduler_due_ns(const cairn_tick_scheduler *scheduler, uint64_t tick) {
    return tick == scheduler->tick ? scheduler->next_ns
                                   : scheduled_ns(scheduler, tick + scheduler->offset);
}

static uint64_t count_due(const cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    if (now_ns < scheduler->next_ns) {
        return 0;
    }
    const uint64_t index = scheduler->tick + scheduler->offset;
    const uint64_t due = scheduled_count(scheduler, now_ns);
    return due > index ? due - index : 0;
}

uint32_t cairn_tick_scheduler_due_count(const cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    const uint64_t behind = count_due(scheduler, now_ns);
    return behind < scheduler->catch_up_ticks_max ? (uint32_t)behind
                                                  : scheduler->catch_up_ticks_max;
}

void cairn_tick_scheduler_slip(cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    const uint64_t behind = count_due(scheduler, now_ns);
    if (behind > 1) {
        scheduler->offset += behind - 1;
        scheduler->ticks_waited += behind - 1;
        update_next(scheduler);
    }
}

uint32_t cairn_tick_scheduler_take(cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    const uint64_t behind = count_due(scheduler, now_ns);
    if (behind == 0) {
        return 0;
    }
    CAIRN_ASSERT(now_ns >= scheduler->next_ns);
    cairn_histogram_add(
        &scheduler->lateness_ns, now_ns - cairn_tick_scheduler_due_ns(scheduler, scheduler->tick));
    if (behind <= scheduler->catch_up_ticks_max) {
        return (uint32_t)behind;
    }
    scheduler->ticks_skipped += behind - scheduler->catch_up_ticks_max;
    scheduler->offset += behind - scheduler->catch_up_ticks_max;
    scheduler->advances_overloaded += 1;
    update_next(scheduler);
    CAIRN_ASSERT(count_due(scheduler, now_ns) == scheduler->catch_up_ticks_max);
    return scheduler->catch_up_ticks_max;
}

void cairn_tick_scheduler_step(cairn_tick_scheduler *scheduler) {
    scheduler->tick += 1;
    CAIRN_ASSERT(scheduler->tick != 0);
    update_next(scheduler);
}

int32_t cairn_tick_scheduler_lateness_us(
    const cairn_tick_scheduler *scheduler, uint64_t tick, uint64_t now_ns) {
    uint64_t due_ns = cairn_tick_scheduler_due_ns(scheduler, tick);
    bool late = now_ns > due_ns;
    uint64_t us = (late ? now_ns - due_ns : due_ns - now_ns) / 1000;
    int32_t magnitude = us > INT32_MAX ? INT32_MAX : (int32_t)us;
    return late ? magnitude : -magnitude;
}
