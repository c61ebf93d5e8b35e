// SPDX-License-Identifier: MIT
#pragma once

// The packed beginning of a snapshot's payload: which frame the rest is (compress/frame_codec.h)
// and which frames it is the difference to, or that the rest is a part (compress/part_codec.h).
// docs/PROTOCOL.md, "Snapshot payload", has the layout.

#include "schema/messages.h"

typedef struct cairn_snapshot_head {
    uint64_t tick;
    uint32_t world_epoch; // as in cairn_input_head
    bool part;            // some bodies, each with bases of its own
    // A part of a room that is paused, over the reliable stream: one of several of its tick
    // perhaps, that needs none before it and is not acknowledged.
    bool standing;
    // Ticks of the three frames that the receiver has, newest first, which may repeat the oldest;
    // 0, 0, 0: a keyframe. Of a part only the first counts: the base of the rules' shared part.
    uint64_t bases[3];
    uint32_t check; // cairn_snapshot_frame_check, or that of a part
    cairn_wire_timing timing;
    uint32_t shared_words; // of the rules' shared part; at most CAIRN_SHARED_WORDS_MAX. Of a part
                           // with a base, and of a delta, 0
} cairn_snapshot_head;

#define CAIRN_SNAPSHOT_HEAD_SIZE_MAX 96

// Returns the bytes written.
size_t cairn_snapshot_head_write(
    const cairn_snapshot_head *head, uint8_t bytes[CAIRN_SNAPSHOT_HEAD_SIZE_MAX]);
// Returns the bytes read; 0: they are no head.
size_t cairn_snapshot_head_read(const uint8_t *bytes, size_t size, cairn_snapshot_head *out);
