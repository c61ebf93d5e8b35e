// SPDX-License-Identifier: MIT
#include "server/room/tick_scheduler.h"

#include "base/assert.h"
#include "base/limits.h"

// The schedule counts in beats per thousand seconds, so that a thousandth of a speed is exact.
#define NS_PER_ROUND UINT64_C(1000000000000)
#define SPEED_USUAL 1000
#define SPEED_MAX 64000
_Static_assert(UINT64_MAX / NS_PER_ROUND > (uint64_t)CAIRN_TICK_RATE_HZ_MAX * SPEED_MAX + 1,
    "no product overflows");

// Whole rounds and the rest apart, so that the product never overflows.
static uint64_t beat_ns(const cairn_tick_scheduler *scheduler, uint64_t beat) {
    return scheduler->start_ns + beat / scheduler->beats_per_round * NS_PER_ROUND +
           beat % scheduler->beats_per_round * NS_PER_ROUND / scheduler->beats_per_round;
}

// To be called after every change: who has many rooms asks all of them at every turn.
static void note_next(cairn_tick_scheduler *scheduler) {
    scheduler->next_ns = beat_ns(scheduler, scheduler->tick + scheduler->beat_offset);
}

cairn_tick_scheduler cairn_tick_scheduler_of(
    uint64_t start_ns, uint32_t rate_hz, uint32_t catch_up_ticks_max, uint64_t tick) {
    CAIRN_ASSERT(rate_hz >= CAIRN_TICK_RATE_HZ_MIN && rate_hz <= CAIRN_TICK_RATE_HZ_MAX);
    CAIRN_ASSERT(catch_up_ticks_max >= 1);
    cairn_tick_scheduler scheduler = {
        .start_ns = start_ns,
        .rate_hz = rate_hz,
        .beats_per_round = (uint64_t)rate_hz * SPEED_USUAL,
        .catch_up_ticks_max = catch_up_ticks_max,
        .tick = tick,
        .beat_offset = 0 - tick,
    };
    note_next(&scheduler);
    return scheduler;
}

void cairn_tick_scheduler_restart(
    cairn_tick_scheduler *scheduler, uint64_t now_ns, uint32_t speed) {
    CAIRN_ASSERT(speed >= 1 && speed <= SPEED_MAX);
    scheduler->start_ns = now_ns;
    scheduler->beat_offset = 0 - scheduler->tick;
    scheduler->beats_per_round = (uint64_t)scheduler->rate_hz * speed;
    note_next(scheduler);
}

// How many beats are due: beat i is when floor(i * round / beats) <= elapsed, which is
// i * round < (elapsed + 1) * beats.
static uint64_t beats_due(const cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    if (now_ns < scheduler->start_ns) {
        return 0;
    }
    uint64_t elapsed = now_ns - scheduler->start_ns;
    uint64_t rounds = elapsed / NS_PER_ROUND;
    uint64_t rest = elapsed % NS_PER_ROUND + 1;
    return rounds * scheduler->beats_per_round +
           (rest * scheduler->beats_per_round + NS_PER_ROUND - 1) / NS_PER_ROUND;
}

uint64_t cairn_tick_scheduler_due_ns(const cairn_tick_scheduler *scheduler, uint64_t tick) {
    return tick == scheduler->tick ? scheduler->next_ns
                                   : beat_ns(scheduler, tick + scheduler->beat_offset);
}

static uint64_t beats_behind(const cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    if (now_ns < scheduler->next_ns) {
        return 0;
    }
    uint64_t beat = scheduler->tick + scheduler->beat_offset;
    uint64_t due = beats_due(scheduler, now_ns);
    return due > beat ? due - beat : 0;
}

uint32_t cairn_tick_scheduler_due_count(const cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    uint64_t behind = beats_behind(scheduler, now_ns);
    return behind < scheduler->catch_up_ticks_max ? (uint32_t)behind
                                                  : scheduler->catch_up_ticks_max;
}

void cairn_tick_scheduler_slip(cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    uint64_t behind = beats_behind(scheduler, now_ns);
    if (behind > 1) {
        scheduler->beat_offset += behind - 1;
        scheduler->beats_waited += behind - 1;
        note_next(scheduler);
    }
}

uint32_t cairn_tick_scheduler_take(cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    uint64_t behind = beats_behind(scheduler, now_ns);
    if (behind == 0) {
        return 0;
    }
    cairn_histogram_add(
        &scheduler->lateness_ns, now_ns - cairn_tick_scheduler_due_ns(scheduler, scheduler->tick));
    if (behind <= scheduler->catch_up_ticks_max) {
        return (uint32_t)behind;
    }
    scheduler->beats_skipped += behind - scheduler->catch_up_ticks_max;
    scheduler->beat_offset += behind - scheduler->catch_up_ticks_max;
    scheduler->advances_overloaded += 1;
    note_next(scheduler);
    return scheduler->catch_up_ticks_max;
}

void cairn_tick_scheduler_step(cairn_tick_scheduler *scheduler) {
    scheduler->tick += 1;
    note_next(scheduler);
}

int32_t cairn_tick_scheduler_lateness_us(
    const cairn_tick_scheduler *scheduler, uint64_t tick, uint64_t now_ns) {
    uint64_t due_ns = cairn_tick_scheduler_due_ns(scheduler, tick);
    bool late = now_ns > due_ns;
    uint64_t us = (late ? now_ns - due_ns : due_ns - now_ns) / 1000;
    int32_t magnitude = us > INT32_MAX ? INT32_MAX : (int32_t)us;
    return late ? magnitude : -magnitude;
}
