// SPDX-License-Identifier: MIT
#pragma once

// What a client holds of a room that it is not sent all of: the bodies in its view, and of each the
// tick of its last sample. A part (compress/part_codec.h) brings samples of some; the snapshot that
// follows from it has all of them, those that it does not name where they were.

#include <stdint.h>

#include "compress/part_codec.h"
#include "schema/messages.h"
#include <cairn/status.h>

typedef struct cairn_held_body {
    uint32_t index; // of the id
    uint64_t tick;  // of its last sample
} cairn_held_body;

// Samples that no snapshot in the list has any more, the last of each body: bodies at rest are
// coded against them when they move again.
typedef struct cairn_settled {
    cairn_snapshot_frame frame;
    uint64_t *ticks; // by place; owned
} cairn_settled;

typedef struct cairn_snapshot_parts {
    uint32_t capacity;        // bodies
    cairn_part part;          // that was read last
    cairn_held_body *held;    // owned, in order of index
    cairn_held_body *scratch; // owned
    uint32_t held_count;
    cairn_settled settled[2]; // the one in use, and scratch
    uint32_t settled_now;     // which one is in use
    // What parts that do not carry settings are read with.
    uint32_t tick_rate_hz; // 0: none yet
    cairn_quantisation quantisation;
    cairn_vec3 gravity;
} cairn_snapshot_parts;

// NULL: out of memory.
cairn_snapshot_parts *cairn_snapshot_parts_create(uint32_t capacity);
void cairn_snapshot_parts_destroy(cairn_snapshot_parts *parts); // NULL is allowed
void cairn_snapshot_parts_clear(cairn_snapshot_parts *parts);

// The client was sent all bodies in the snapshot before its first part, which has this frame.
void cairn_snapshot_parts_start(cairn_snapshot_parts *parts, const cairn_snapshot_frame *frame,
    const cairn_snapshot_body *bodies, uint32_t body_count);
// The settled sample of a body. frame NULL: it is of another tick, or missing.
cairn_body_sample cairn_snapshot_parts_settled(
    const cairn_snapshot_parts *parts, uint32_t index, uint64_t tick);
// The samples of this frame, older than those held elsewhere, are about to be dropped.
void cairn_snapshot_parts_settle(cairn_snapshot_parts *parts, const cairn_snapshot_frame *frame);
// The tick of the body's last sample; 0: the body is not held.
uint64_t cairn_snapshot_parts_tick(const cairn_snapshot_parts *parts, uint32_t index);

// The part that was read takes effect: `bodies`, in order of id index, become `out`, which has room
// for `capacity`; those that the part has are at their samples, with no velocities. *count is how
// many. CAIRN_CAPACITY: they are more; nothing changed then.
cairn_status cairn_snapshot_parts_apply(cairn_snapshot_parts *parts,
    const cairn_snapshot_body *bodies, uint32_t body_count, cairn_snapshot_body *out,
    uint32_t *count);
