// SPDX-License-Identifier: MIT
#include "server/room/time_control.h"

cairn_pace cairn_pace_usual(void) {
    return (cairn_pace){.speed = CAIRN_PACE_SPEED_USUAL, .stop_tick = UINT64_MAX};
}

static uint32_t at_most(uint64_t ticks, uint32_t most) {
    return ticks < most ? (uint32_t)ticks : most;
}

bool cairn_pace_scheduled(const cairn_pace *pace, uint64_t tick) {
    return !pace->paused && pace->speed != CAIRN_PACE_SPEED_FREE && tick >= pace->burst_tick;
}

uint32_t cairn_pace_ticks(const cairn_pace *pace, uint64_t tick, uint32_t due, uint32_t ticks_max) {
    if (tick < pace->burst_tick) {
        return at_most(pace->burst_tick - tick, ticks_max);
    }
    if (pace->paused) {
        return 0;
    }
    return at_most(pace->stop_tick - tick, pace->speed == CAIRN_PACE_SPEED_FREE ? ticks_max : due);
}

bool cairn_pace_arrive(cairn_pace *pace, uint64_t tick) {
    if (pace->paused || tick < pace->stop_tick) {
        return false;
    }
    pace->paused = true;
    pace->stop_tick = UINT64_MAX;
    return true;
}

uint64_t cairn_pace_due_ns(const cairn_pace *pace, const cairn_pacing *pacing) {
    if (pacing->tick < pace->burst_tick) {
        return 0;
    }
    if (pace->paused) {
        return pace->serve_ns;
    }
    return pace->speed == CAIRN_PACE_SPEED_FREE ? 0 : cairn_pacing_due_ns(pacing, pacing->tick);
}

void cairn_pace_pause(cairn_pace *pace, uint64_t now_ns) {
    pace->paused = true;
    pace->burst_tick = 0;
    pace->stop_tick = UINT64_MAX;
    pace->serve_ns = now_ns;
}

void cairn_pace_run(cairn_pace *pace, cairn_pacing *pacing, uint32_t speed, uint64_t now_ns) {
    pace->paused = false;
    pace->speed = speed;
    cairn_pacing_restart(pacing, now_ns, speed == CAIRN_PACE_SPEED_FREE ? 1000 : speed);
}
