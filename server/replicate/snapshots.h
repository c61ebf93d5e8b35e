// SPDX-License-Identifier: MIT
#pragma once

// The snapshots that clients interpolate between: the bodies at the last snapshot ticks, kept as
// baselines, and deltas of the newest one. A delta is encoded once for each baseline, however many
// clients hold it. A client is sent a keyframe, then deltas against the newest snapshot that it
// acknowledged.

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "schema/messages.h"
#include "server/replicate/game_messages.h"
#include "server/session/context.h"
#include "server/session/session.h"
#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_baselines cairn_baselines;

typedef struct cairn_baseline {
    uint64_t tick;
    cairn_hash128 visible_root;
    cairn_hash128 full_root;
    uint32_t body_count;
    cairn_snapshot_body *bodies; // in order of id index
    uint32_t *shared;            // the rules' shared part
} cairn_baseline;

// Room for `count` snapshots of a world with these settings. CAIRN_OUT_OF_MEMORY leaves *out NULL.
cairn_status cairn_baselines_create(
    uint32_t count, const cairn_world_def *def, cairn_baselines **out);
void cairn_baselines_destroy(cairn_baselines *baselines); // NULL is allowed

// The world as it is becomes the newest snapshot. Its tick is larger than that of the last one, and
// not 0 (asserted).
void cairn_baselines_take(
    cairn_baselines *baselines, const cairn_world *world, const cairn_world_hash *hash);

// Drops every snapshot; the next one may be of any tick.
void cairn_baselines_forget(cairn_baselines *baselines);

const cairn_baseline *cairn_baselines_newest(const cairn_baselines *baselines); // NULL: none yet
// NULL: no snapshot of that tick is held.
const cairn_baseline *cairn_baselines_find(const cairn_baselines *baselines, uint64_t tick);
// The snapshots around a point in time: the newest at or before `tick` and the oldest after it;
// NULL: none is held.
void cairn_baselines_around(const cairn_baselines *baselines, double tick,
    const cairn_baseline **before, const cairn_baseline **after);

// The newest snapshot as a delta against `baseline`, which is held and older (asserted). NULL: it
// is longer than a message. The bytes last until the next call of take or delta.
const uint8_t *cairn_baselines_delta(
    cairn_baselines *baselines, const cairn_baseline *baseline, size_t *size);

typedef struct cairn_snapshots_sent {
    uint64_t acknowledged;  // tick of the newest snapshot that the client holds; 0: none
    uint64_t keyframe_tick; // sent reliably and not yet acknowledged; 0: none
} cairn_snapshots_sent;

// Sends the newest snapshot of the baselines, with the events of the rules since the last one.
void cairn_snapshot_send(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, cairn_snapshots_sent *sent, cairn_game_sent *game);
