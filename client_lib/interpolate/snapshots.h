// SPDX-License-Identifier: MIT
#pragma once

// The newest snapshots, in order of tick. What a server sends is decoded here with the help of
// those that are held; the client acknowledges the newest tick.

#include <stdint.h>

#include "client_lib/interpolate/snapshot_parts.h"
#include "compress/frame_codec.h"
#include "schema/snapshot_head.h"
#include <cairn/status.h>

#define CAIRN_SNAPSHOTS_MAX 32

typedef struct cairn_snapshot {
    uint64_t tick;
    cairn_snapshot_body *bodies; // in cairn_snapshots.memory, in order of id index
    uint32_t body_count;
    cairn_snapshot_frame frame; // as it was received; empty if it was not
    uint32_t *shared;           // the rules' shared part; NULL: not received
    uint32_t shared_words;
    bool velocities; // the server sent them; else they are derived
} cairn_snapshot;

typedef struct cairn_snapshots {
    // Oldest first: list[0 .. count). list[count] is where the next one is written, so a delta's
    // baseline is never overwritten by its result.
    cairn_snapshot list[CAIRN_SNAPSHOTS_MAX + 1];
    uint32_t count;
    uint32_t capacity;                    // at most CAIRN_SNAPSHOTS_MAX
    uint32_t bodies_max;                  // of one snapshot
    cairn_snapshot_body *memory;          // all bodies
    uint32_t *shared_memory;              // all shared parts; NULL: snapshots are not received
    cairn_frame_codec *codec;             // of those received
    cairn_quantised_velocity *velocities; // of the one that is decoded; NULL until some are sent
    cairn_snapshot_parts *parts;          // owned; NULL until a part is received
} cairn_snapshots;

typedef enum cairn_snapshot_refusal {
    CAIRN_SNAPSHOT_TAKEN = 0,
    CAIRN_SNAPSHOT_DUPLICATE,     // a snapshot of that tick is held already
    CAIRN_SNAPSHOT_STALE,         // older than all snapshots held
    CAIRN_SNAPSHOT_BASELINE_LOST, // it needs a snapshot that the client dropped
    CAIRN_SNAPSHOT_MALFORMED,     // the payload does not fit the snapshots that it names
    CAIRN_SNAPSHOT_DIFFERS,       // it was decoded to another snapshot than the server's
    CAIRN_SNAPSHOT_BODIES_MAX,    // more bodies than the client was created for
    CAIRN_SNAPSHOT_MEMORY,        // out of memory; the next one may do
    CAIRN_SNAPSHOT_OVERTAKEN,     // a part that a newer one overtook
    CAIRN_SNAPSHOT_REFUSAL_COUNT
} cairn_snapshot_refusal;
const char *cairn_snapshot_refusal_text(cairn_snapshot_refusal refusal);

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_snapshots_create(
    cairn_snapshots *snapshots, uint32_t capacity, uint32_t bodies_max);
void cairn_snapshots_destroy(cairn_snapshots *snapshots);
void cairn_snapshots_clear(cairn_snapshots *snapshots);

// From now on snapshots can be received. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_snapshots_create_received(cairn_snapshots *snapshots);

// A snapshot from the server; `head` and its size as they were read from the payload. Positions and
// rotations are those of the frame; velocities, if the message has none, are derived from the
// snapshot before it. A part is
// taken only if it is newer than all that are held; what it does not name is where it was. Where a
// body was not sampled for some snapshots, these are corrected when its next sample comes.
cairn_snapshot_refusal cairn_snapshots_receive(cairn_snapshots *snapshots,
    const cairn_snapshot_message *message, const cairn_snapshot_head *head, size_t head_size);
// The same for a client that ignores the world: notes the tick, and decodes no body. TAKEN,
// DUPLICATE, STALE or BASELINE_LOST.
cairn_snapshot_refusal cairn_snapshots_note(
    cairn_snapshots *snapshots, const cairn_snapshot_head *head);
// `bodies` in order of id index; copied.
cairn_snapshot_refusal cairn_snapshots_take(cairn_snapshots *snapshots, uint64_t tick,
    const cairn_snapshot_body *bodies, uint32_t body_count);
// To write bodies in place: reserve returns room for bodies_max of them, commit makes the first
// `body_count` the snapshot of `tick`.
cairn_snapshot_body *cairn_snapshots_reserve(cairn_snapshots *snapshots);
cairn_snapshot_refusal cairn_snapshots_commit(
    cairn_snapshots *snapshots, uint64_t tick, uint32_t body_count);
// Returns NULL if no snapshot is stored.
const cairn_snapshot *cairn_snapshots_newest(const cairn_snapshots *snapshots);
