// SPDX-License-Identifier: MIT
#pragma once

// A view into a client for tests, storms, demonstrations and load: what an oracle compares, what a
// negative control spoils, and what a load program leaves out. A library of its own
// (cairn_client_probe), so that no game links it.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/connection.h"
#include "client_lib/interpolate/snapshots.h"
#include "client_lib/resync/resync.h"
#include "client_lib/simulate/lockstep.h"
#include "client_lib/simulate/predict.h"
#include "sim/debug/passport.h"
#include <cairn/client.h>

// Borrowed from the client; valid as long as it is.
typedef struct cairn_client_probe {
    cairn_connection *connection;
    cairn_lockstep *lockstep;
    cairn_timeline *timeline; // lockstep's
    cairn_predict *predict;
    cairn_client_resync *resync;
    cairn_snapshots *snapshots;     // received
    cairn_passport *passport;       // sent in the next HELLO
    const uint64_t *snapshot_drops; // by cairn_snapshot_refusal
    uint32_t world_epoch;
    bool welcomed;
    bool simulates;
} cairn_client_probe;
cairn_client_probe cairn_client_probe_of(cairn_client *client);

// Spoils the world as a step that was computed wrongly would: a body is pushed in the client's own
// world, and no older state is left to go back to; so a client that predicts must not mispredict
// until it is repaired. False: the client has no world of its own, or no such body.
bool cairn_client_probe_damage(cairn_client *client, uint32_t body);

// Before connect, in mode interpolate or lockstep: the client plays and acknowledges, but takes the
// server's word for the world. It checks the heads of snapshots and decodes no body; it confirms
// ticks, steps none, and reports the server's roots as its own. It has nothing to show: do not
// sample it. bodies_max and shapes_max may be 1.
void cairn_client_probe_ignore_world(cairn_client *client);
// The tick and the rate of the world as of the newest snapshot or ticks message; 0 before these.
uint64_t cairn_client_probe_tick(const cairn_client *client);
uint32_t cairn_client_probe_tick_rate_hz(const cairn_client *client);
