// SPDX-License-Identifier: MIT
#include "server/room/time_control.h"

cairn_time_control cairn_time_control_default(void) {
    return (cairn_time_control){.speed = CAIRN_TIME_SPEED_REAL, .stop_tick = UINT64_MAX};
}

static uint32_t at_most(uint64_t ticks, uint32_t most) {
    return ticks < most ? (uint32_t)ticks : most;
}

bool cairn_time_control_is_scheduled(const cairn_time_control *pace, uint64_t tick) {
    return !pace->paused && pace->speed != CAIRN_TIME_SPEED_UNLIMITED && tick >= pace->burst_tick;
}

uint32_t cairn_time_control_tick_count(
    const cairn_time_control *pace, uint64_t tick, uint32_t due, uint32_t ticks_max) {
    if (tick < pace->burst_tick) {
        return at_most(pace->burst_tick - tick, ticks_max);
    }
    if (pace->paused) {
        return 0;
    }
    return at_most(
        pace->stop_tick - tick, pace->speed == CAIRN_TIME_SPEED_UNLIMITED ? ticks_max : due);
}

bool cairn_time_control_reach_stop(cairn_time_control *pace, uint64_t tick) {
    if (pace->paused || tick < pace->stop_tick) {
        return false;
    }
    pace->paused = true;
    pace->stop_tick = UINT64_MAX;
    return true;
}

uint64_t cairn_time_control_due_ns(
    const cairn_time_control *pace, const cairn_tick_scheduler *scheduler) {
    if (scheduler->tick < pace->burst_tick) {
        return 0;
    }
    if (pace->paused) {
        return pace->serve_ns;
    }
    return pace->speed == CAIRN_TIME_SPEED_UNLIMITED
               ? 0
               : cairn_tick_scheduler_due_ns(scheduler, scheduler->tick);
}

void cairn_time_control_pause(cairn_time_control *pace, uint64_t now_ns) {
    pace->paused = true;
    pace->burst_tick = 0;
    pace->stop_tick = UINT64_MAX;
    pace->serve_ns = now_ns;
}

void cairn_time_control_run(
    cairn_time_control *pace, cairn_tick_scheduler *scheduler, uint32_t speed, uint64_t now_ns) {
    pace->paused = false;
    pace->speed = speed;
    cairn_tick_scheduler_restart(
        scheduler, now_ns, speed == CAIRN_TIME_SPEED_UNLIMITED ? 1000 : speed);
}
