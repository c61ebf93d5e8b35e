// SPDX-License-Identifier: MIT
#pragma once

// Which server tick is being heard now: the tick whose message would arrive at this moment on the
// fastest path seen. Half a round trip is not guessed, so no symmetric path is assumed; who
// shows the world subtracts a delay from this clock, who sends inputs adds a lead to it.

#include <stdbool.h>
#include <stdint.h>

// A message that is further off than this moves the clock at once: a stall of either side, however
// long, is over with the first message after it.
#define CAIRN_CLOCK_SNAP_NS 250000000

typedef struct cairn_clock {
    double tick_ns;       // nanoseconds per tick; 0 before start
    bool running;         // a message was heard
    bool held;            // the server's time stands still
    uint64_t newest_tick; // of all messages heard
    uint64_t base_tick;   // heard at base_ns
    uint64_t base_ns;
    double wanted_ns;     // what messages say is to be added to the local clock
    double correction_ns; // what is added now; follows wanted_ns smoothly
    uint64_t at_ns;       // when correction_ns was last moved
    double jitter_ns;     // mean deviation of arrivals (RFC 3550, section 6.4.1)
    uint64_t snaps;       // how often it moved at once
} cairn_clock;

void cairn_clock_start(cairn_clock *clock, uint32_t tick_rate_hz);
// A message that the server wrote at `tick` arrived. Only messages newer than all before count: an
// overtaken one says how long it was delayed, not what time it is.
void cairn_clock_observe(cairn_clock *clock, uint64_t now_ns, uint64_t tick);
// Lets the correction follow, with a time constant of half a second.
void cairn_clock_advance(cairn_clock *clock, uint64_t now_ns);
// The server's time stands still, or goes by leaps: what is heard now is the newest tick heard.
void cairn_clock_pause(cairn_clock *clock);
// It goes on, at thousandths of its rate; the next message says where it is.
#define CAIRN_CLOCK_SPEED_NORMAL 1000
#define CAIRN_CLOCK_SPEED_MAX 1000000
void cairn_clock_resume(cairn_clock *clock, uint32_t tick_rate_hz, uint32_t speed);

// The tick heard now, with its fraction; 0 before the first message. Never negative.
double cairn_clock_tick(const cairn_clock *clock, uint64_t now_ns);
