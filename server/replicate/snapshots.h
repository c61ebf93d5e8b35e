// SPDX-License-Identifier: MIT
#pragma once

// The snapshots that clients interpolate between: the last ones as frames (compress/frame.h), which
// are also what deltas of the newest one are the difference to. A delta is encoded once for all
// clients that hold the same three frames. A client is sent a keyframe, then deltas against
// snapshots that it acknowledged.

#include <stddef.h>
#include <stdint.h>

#include "compress/frame.h"
#include "schema/snapshot_head.h"
#include "server/replicate/game_messages.h"
#include "server/replicate/shapes.h"
#include "server/session/context.h"
#include "server/session/session.h"
#include <cairn/sim.h>
#include <cairn/status.h>
#include <cairn/watch.h>

typedef struct cairn_baselines cairn_baselines;

typedef struct cairn_baseline {
    cairn_snapshot_frame frame;
    uint32_t *shared; // the rules' shared part
} cairn_baseline;

// Room for `count` snapshots of a world with these settings, poses rounded to `quantisation`.
// CAIRN_OUT_OF_MEMORY leaves *out NULL.
cairn_status cairn_baselines_create(uint32_t count, const cairn_world_def *def,
    const cairn_quantisation *quantisation, cairn_baselines **out);
void cairn_baselines_destroy(cairn_baselines *baselines); // NULL is allowed

// Takes a snapshot of the world, which becomes the newest one. Its tick is larger than that of the
// last one (asserted). Clients cannot acknowledge a snapshot of tick 0, so it is never used as a
// base. `shapes` are those of the world. `watch` watches the world, and no other code lists bodies
// by it: only the changed bodies are read. If it is NULL, all bodies are read. Returns false if
// memory is short; no snapshot was taken then.
bool cairn_baselines_take(cairn_baselines *baselines, const cairn_world *world,
    const cairn_room_shapes *shapes, cairn_watch *watch);

// The memory that its frames and their codec take: it grows up to what the world's bodies need.
size_t cairn_baselines_bytes(const cairn_baselines *baselines);

// Drops every snapshot; the next one may be of any tick.
void cairn_baselines_forget(cairn_baselines *baselines);

const cairn_baseline *cairn_baselines_newest(const cairn_baselines *baselines); // NULL: none yet
// NULL: no snapshot of that tick is held.
const cairn_baseline *cairn_baselines_find(const cairn_baselines *baselines, uint64_t tick);
// The same; NULL, too, if so many newer ones were taken that a client may have dropped it.
const cairn_baseline *cairn_baselines_find_recent(const cairn_baselines *baselines, uint64_t tick);
// The one before the newest; NULL: none.
const cairn_baseline *cairn_baselines_before_newest(const cairn_baselines *baselines);
// Words of the rules' shared part.
uint32_t cairn_baselines_shared_words(const cairn_baselines *baselines);
// The snapshots around a point in time: the newest at or before `tick` and the oldest after it;
// NULL: none is held.
void cairn_baselines_around(const cairn_baselines *baselines, double tick,
    const cairn_baseline **before, const cairn_baseline **after);

// The velocities of the newest snapshot, in the order of its bodies; NULL: they were not taken.
// From now on they are, as long as somebody asks for those of each snapshot.
cairn_quantised_velocity *cairn_baselines_velocities(cairn_baselines *baselines);

// The newest snapshot as the difference to three held ones that are older (asserted), newest first,
// or to nothing: all NULL. With these velocities, if they are not NULL. NULL: it is longer than a
// message. The bytes last until the next call of take or delta; before them is room for
// CAIRN_SNAPSHOT_HEAD_SIZE_MAX others.
const uint8_t *cairn_baselines_delta(cairn_baselines *baselines,
    const cairn_baseline *const bases[3], cairn_quantised_velocity *velocities, size_t *size);

// How many differences of the newest snapshot were encoded.
uint32_t cairn_baselines_encoded(const cairn_baselines *baselines);

// Of one client. Snapshots that it acknowledged are the bases of its next ones.
#define CAIRN_SNAPSHOTS_ACKNOWLEDGED_MAX 32

typedef struct cairn_snapshots_sent {
    uint64_t acknowledged; // tick of the newest snapshot that the client holds; 0: none
    uint64_t acknowledged_before[CAIRN_SNAPSHOTS_ACKNOWLEDGED_MAX]; // newest first; 0: none
    uint64_t keyframe_tick;                // sent reliably and not yet acknowledged; 0: none
    bool start_sent;                       // the snapshot of tick 0, in a room that stands there
    uint64_t keyframes_from, keyframes_to; // ticks of the first and the last one of those that were
                                           // sent since the last delta; 0: none
} cairn_snapshots_sent;

// The client holds the snapshot of `tick`, which is newer than all that it acknowledged before.
void cairn_snapshots_acknowledge(cairn_snapshots_sent *sent, uint64_t tick);

// The bases of its next snapshot: the newest that the client acknowledged, and two as far before it
// as it is before the newest snapshot, because the motion in between says how bodies go on. If the
// client missed one of these and many others asked for other bases already, three that others have,
// too. False: the client holds none.
bool cairn_baselines_choose(const cairn_baselines *baselines, const cairn_snapshots_sent *sent,
    bool velocities, const cairn_baseline *bases[3]);

// Sends the newest snapshot of the baselines, with the events of the rules since the last one.
// False: it is longer than a message, or longer than `bytes_per_second` allow: the client needs a
// view.
bool cairn_snapshot_send(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, uint64_t bytes_per_second, cairn_snapshots_sent *sent,
    cairn_game_sent *game);
