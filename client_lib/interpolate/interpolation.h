// SPDX-License-Identifier: MIT
#pragma once

// What is shown: the world a little in the past, between two snapshots. The delay is what the
// snapshots' spacing and jitter ask for, so that the next snapshot is nearly always there in time.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/clock/clock.h"
#include "client_lib/interpolate/snapshots.h"
#include <cairn/client.h>

typedef struct cairn_interpolation {
    uint64_t delay_fixed_ns; // 0: measured
    uint64_t extrapolation_ns_max;
    double delay_ns;      // behind the heard tick
    double spacing_ticks; // between snapshots, smoothed
    uint64_t newest_tick; // of the snapshots observed
    uint64_t at_ns;       // when delay_ns was last moved
    bool running;         // a snapshot was observed
} cairn_interpolation;

void cairn_interpolation_start(
    cairn_interpolation *interpolation, uint32_t delay_ms, uint32_t extrapolation_ms_max);
void cairn_interpolation_observe(cairn_interpolation *interpolation, uint64_t tick);
// Lets the delay follow what spacing and jitter ask for, by at most a twentieth of the time
// passed: motion is shown at most that much faster or slower than it was.
void cairn_interpolation_advance(
    cairn_interpolation *interpolation, const cairn_clock *clock, uint64_t now_ns);
// The tick to be shown now; never negative.
double cairn_interpolation_tick(
    const cairn_interpolation *interpolation, const cairn_clock *clock, uint64_t now_ns);

// The world at `tick`, bodies in order of id index; at most `capacity` are written.
// Between two snapshots positions and velocities are mixed linearly, rotations by the shorter way
// and made unit again. A body is shown from the first to the last snapshot that holds it; one about
// to vanish rests where it was last seen. Past the newest snapshot bodies go on by their velocities
// for `extrapolation_ticks_max`, then hold. Before the oldest the oldest is shown. False when there
// is no snapshot.
bool cairn_interpolate(const cairn_snapshots *snapshots, double tick, double tick_ns,
    double extrapolation_ticks_max, cairn_client_body *bodies, uint32_t capacity,
    cairn_client_sample *out);
