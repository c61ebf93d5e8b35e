// SPDX-License-Identifier: MIT
#pragma once

// How an operator controls a room's time: paused, slower, faster, a number of ticks at once, up to
// a tick. The schedule itself is in tick_scheduler.h.

#include <stdbool.h>
#include <stdint.h>

#include "server/room/tick_scheduler.h"

// Speeds are thousandths of real time.
#define CAIRN_TIME_SPEED_REAL 1000
#define CAIRN_TIME_SPEED_MAX 64000
// As many ticks as each batch may run.
#define CAIRN_TIME_SPEED_UNLIMITED 0

typedef struct cairn_time_control {
    bool paused;
    uint32_t speed;      // 1 .. CAIRN_TIME_SPEED_MAX, or CAIRN_TIME_SPEED_UNLIMITED
    uint64_t burst_tick; // ticks before it run at once, paused or not
    uint64_t stop_tick;  // the room pauses there; UINT64_MAX: never
    uint64_t serve_ns;   // paused: when its clients are served next
} cairn_time_control;

// The request of an operator that ends, and is answered, when the room pauses.
typedef struct cairn_control_wait {
    bool waits;
    uint32_t client;
    uint64_t client_id;
    uint32_t number; // of the request
    uint32_t verb;
    uint64_t from_tick; // the room's tick when the request was carried out
    uint32_t fields;    // of an act, as of its request
    uint32_t watched_count;
    uint32_t *watched; // [watched_count], owned; NULL: all bodies, or none are observed
} cairn_control_wait;

cairn_time_control cairn_time_control_default(void);

// Whether the schedule alone decides what is due at `tick`.
bool cairn_time_control_is_scheduled(const cairn_time_control *control, uint64_t tick);
// How many ticks to run now, from `tick` on. `due` is the schedule's count; where it does not
// decide, at most `ticks_max` ticks run.
uint32_t cairn_time_control_tick_count(
    const cairn_time_control *control, uint64_t tick, uint32_t due, uint32_t ticks_max);
// After a batch. True: the room reached stop_tick and is paused from now on.
bool cairn_time_control_reach_stop(cairn_time_control *control, uint64_t tick);
// When the next batch is due.
uint64_t cairn_time_control_due_ns(
    const cairn_time_control *control, const cairn_tick_scheduler *scheduler);

void cairn_time_control_pause(cairn_time_control *control, uint64_t now_ns);
// Runs at this speed from now on.
void cairn_time_control_run(
    cairn_time_control *control, cairn_tick_scheduler *scheduler, uint32_t speed, uint64_t now_ns);
