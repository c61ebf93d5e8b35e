// SPDX-License-Identifier: MIT
#include "server/room/time_control.h"

#include "base/assert.h"

cairn_time_control cairn_time_control_default(void) {
    return (cairn_time_control){.speed = CAIRN_TIME_SPEED_REAL, .stop_tick = UINT64_MAX};
}

static uint32_t at_most(uint64_t ticks, uint32_t most) {
    return ticks < most ? (uint32_t)ticks : most;
}

bool cairn_time_control_is_scheduled(const cairn_time_control *control, uint64_t tick) {
    return !control->paused && control->speed != CAIRN_TIME_SPEED_UNLIMITED &&
           tick >= control->burst_tick;
}

uint32_t cairn_time_control_tick_count(
    const cairn_time_control *control, uint64_t tick, uint32_t due, uint32_t ticks_max) {
    CAIRN_ASSERT(ticks_max > 0 && tick <= control->stop_tick);
    if (tick < control->burst_tick) {
        return at_most(control->burst_tick - tick, ticks_max);
    }
    if (control->paused) {
        return 0;
    }
    return at_most(
        control->stop_tick - tick, control->speed == CAIRN_TIME_SPEED_UNLIMITED ? ticks_max : due);
}

bool cairn_time_control_reach_stop(cairn_time_control *control, uint64_t tick) {
    CAIRN_ASSERT(control->paused || tick <= control->stop_tick);
    if (control->paused || tick < control->stop_tick) {
        return false;
    }
    control->paused = true;
    control->stop_tick = UINT64_MAX;
    return true;
}

uint64_t cairn_time_control_due_ns(
    const cairn_time_control *control, const cairn_tick_scheduler *scheduler) {
    if (scheduler->tick < control->burst_tick) {
        return 0;
    }
    if (control->paused) {
        return control->serve_ns;
    }
    return control->speed == CAIRN_TIME_SPEED_UNLIMITED
               ? 0
               : cairn_tick_scheduler_due_ns(scheduler, scheduler->tick);
}

void cairn_time_control_pause(cairn_time_control *control, uint64_t now_ns) {
    CAIRN_ASSERT(control->speed <= CAIRN_TIME_SPEED_MAX);
    control->paused = true;
    control->burst_tick = 0;
    control->stop_tick = UINT64_MAX;
    control->serve_ns = now_ns;
}

void cairn_time_control_run(
    cairn_time_control *control, cairn_tick_scheduler *scheduler, uint32_t speed, uint64_t now_ns) {
    CAIRN_ASSERT(speed <= CAIRN_TIME_SPEED_MAX);
    control->paused = false;
    control->speed = speed;
    cairn_tick_scheduler_restart(
        scheduler, now_ns, speed == CAIRN_TIME_SPEED_UNLIMITED ? 1000 : speed);
}
