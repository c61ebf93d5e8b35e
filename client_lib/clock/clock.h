// SPDX-License-Identifier: MIT
#pragma once

// Which server tick is being received now: the tick whose message would arrive at this moment over
// the fastest path seen. No half round trip is estimated, so no symmetric path is assumed: showing
// the world subtracts a delay from this clock, making inputs adds a lead to it.

#include <stdbool.h>
#include <stdint.h>

// A message that is further off than this moves the clock at once, so that a stall of either side,
// however long, is over with the first message after it.
#define CAIRN_CLOCK_SNAP_NS 250000000
// Thousandths of a room's tick rate.
#define CAIRN_CLOCK_SPEED_NORMAL 1000
#define CAIRN_CLOCK_SPEED_MAX 1000000

typedef struct cairn_clock {
    double tick_ns;       // nanoseconds per tick; 0 before start
    bool running;         // a message was received
    bool paused;          // the server's time is paused or uneven
    uint64_t newest_tick; // of all messages received
    uint64_t base_tick;   // received at base_ns
    uint64_t base_ns;
    double newest_ns;      // correction that the newest message indicates
    double target_ns;      // the same of many messages
    double correction_ns;  // added to the local clock now; follows target_ns smoothly
    uint64_t corrected_ns; // when correction_ns was last moved
    double jitter_ns;      // mean deviation of arrivals (RFC 3550, section 6.4.1)
    uint64_t snaps;        // how often it moved at once
} cairn_clock;

void cairn_clock_start(cairn_clock *clock, uint32_t tick_rate_hz);
// A message that the server wrote at `tick` arrived. Only messages newer than all before count: one
// that was overtaken shows how long it was delayed, not what time it is.
void cairn_clock_observe(cairn_clock *clock, uint64_t now_ns, uint64_t tick);
// Lets the correction follow its target, with a time constant of half a second.
void cairn_clock_advance(cairn_clock *clock, uint64_t now_ns);
// How far the clock is ahead of the newest message: far and for long after the server's schedule
// has moved. It goes back by this unless earlier messages follow. Never negative.
double cairn_clock_ahead_ns(const cairn_clock *clock);
// The server's time is paused or runs unevenly: the tick received now is the newest one.
void cairn_clock_pause(cairn_clock *clock);
// The server's time runs at `speed` thousandths of its rate (not 0); the next message sets the
// tick.
void cairn_clock_resume(cairn_clock *clock, uint32_t tick_rate_hz, uint32_t speed);

// The tick received now, with its fraction; 0 before the first message. Never negative.
double cairn_clock_tick(const cairn_clock *clock, uint64_t now_ns);
