// SPDX-License-Identifier: MIT
#pragma once

// A view into a client for tests, storms and demonstrations: what an oracle compares, and what a
// negative control spoils. A library of its own (cairn_client_probe), so that no game links it.

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
    bool welcomed;
    bool simulates;
} cairn_client_probe;
cairn_client_probe cairn_client_probe_of(cairn_client *client);

// Spoils the world as a step that was computed wrongly would: a body is pushed in the client's own
// world, and no older state is left to go back to; so a client that predicts must not mispredict
// until it is repaired. False: the client has no world of its own, or no such body.
bool cairn_client_probe_damage(cairn_client *client, uint32_t body);
