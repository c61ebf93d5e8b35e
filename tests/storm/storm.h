// SPDX-License-Identifier: MIT
#pragma once

// A storm: one seed draws a small world, a server, clients of every kind, their paths, clocks,
// inputs, misfortunes and a stranger, and plays them on virtual time. What must hold is checked at
// every turn:
//
// - every lockstep client's full root equals the server's at that tick, and nobody reports another;
// - every snapshot an interpolating client holds equals the server's bodies at that tick, bit for
//   bit;
// - who connects on a working path plays within a bound, keeps up within a bound, and does so again
//   after the path healed;
// - each datagram handed over is counted as taken or as dropped for a reason, at both ends;
// - nobody asks to be woken at once with nothing to do.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

// Faults planted on purpose: a storm that cannot fail proves nothing.
typedef enum storm_break {
    STORM_BREAK_NOTHING = 0,
    STORM_BREAK_HASH,       // a lockstep client's world is nudged
    STORM_BREAK_SNAPSHOT,   // a bit of a held snapshot is flipped
    STORM_BREAK_DROP_COUNT, // a datagram vanishes without being counted
} storm_break;

typedef struct storm_options {
    uint64_t seconds; // of virtual time per seed
    storm_break broken;
    bool events; // print what happens to whom
} storm_options;

typedef struct storm_report {
    char finding[512];    // "" when everything held
    uint64_t found_ns;    // virtual
    cairn_hash128 digest; // of the whole run: the same seed gives the same
    uint64_t virtual_ns;
    uint64_t ticks;
    uint64_t datagrams;
    uint64_t hostile;
    uint64_t joins;
    uint64_t cuts;
    uint64_t restarts;
    uint64_t roots_compared;
    uint64_t snapshots_compared;
} storm_report;

storm_report storm_run(uint64_t seed, const storm_options *options);
