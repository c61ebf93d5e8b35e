// SPDX-License-Identifier: MIT
#pragma once

// What is shown: the world a little in the past, between two snapshots. The delay follows the
// spacing and the jitter of the snapshots, and how long it takes until the next one arrives where
// some are lost, so that it has nearly always arrived in time.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/clock/clock.h"
#include "client_lib/interpolate/snapshots.h"
#include <cairn/client.h>

typedef struct cairn_interpolation {
    uint64_t delay_fixed_ns; // 0: measured
    uint64_t extrapolation_ns_max;
    double delay_ns;      // behind the received tick
    double spacing_ticks; // between snapshots, smoothed
    double wait_ticks;    // from a snapshot to the arrival of the next one: 98 % wait less
    uint64_t newest_tick; // of the snapshots observed
    uint64_t moved_ns;    // when delay_ns was last moved
    bool running;         // a snapshot was observed
} cairn_interpolation;

void cairn_interpolation_start(
    cairn_interpolation *interpolation, uint32_t delay_ms, uint32_t extrapolation_ms_max);
// `clock` has observed it, too.
void cairn_interpolation_observe(
    cairn_interpolation *interpolation, const cairn_clock *clock, uint64_t now_ns, uint64_t tick);
// Lets the delay follow spacing and jitter, by at most a twentieth of the time passed, so that
// motion is shown at most a twentieth faster or slower than it was.
void cairn_interpolation_advance(
    cairn_interpolation *interpolation, const cairn_clock *clock, uint64_t now_ns);
// The tick to be shown now; never negative.
double cairn_interpolation_tick(
    const cairn_interpolation *interpolation, const cairn_clock *clock, uint64_t now_ns);

// The world at `tick`, bodies in order of id index; at most `capacity` are written.
// Between two snapshots that are more than a tick apart positions follow cubic Hermite curves. The
// velocities at their ends are derived from the snapshots before and after. A body that was hit
// moves on a straight line. Velocities are interpolated linearly, rotations the shorter way and
// normalised. A body is shown from the first to the last snapshot that holds it; one that the next
// snapshot lacks, or shows elsewhere after a teleport, stands still until then. After the newest
// snapshot bodies keep their acceleration, or their velocity if they were hit, for
// `extrapolation_ticks_max`, then stand still. A tick before the oldest snapshot shows the oldest.
// False without a snapshot.
bool cairn_interpolate(const cairn_snapshots *snapshots, double tick, double tick_ns,
    double extrapolation_ticks_max, bool curved, cairn_client_body *bodies, uint32_t capacity,
    cairn_client_sample *out);
