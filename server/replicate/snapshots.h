// SPDX-License-Identifier: MIT
#pragma once

// Snapshots for a client that interpolates: a keyframe, then deltas against the newest snapshot
// that it acknowledged.

#include <stdint.h>

#include "server/replicate/baselines.h"
#include "server/session/context.h"
#include "server/session/session.h"

typedef struct cairn_snapshots_sent {
    uint64_t acknowledged;  // tick of the newest snapshot that the client holds; 0: none
    uint64_t keyframe_tick; // sent reliably and not yet acknowledged; 0: none
} cairn_snapshots_sent;

// Sends the newest snapshot of the baselines.
void cairn_snapshot_send(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, cairn_snapshots_sent *sent);
