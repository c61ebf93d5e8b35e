// SPDX-License-Identifier: MIT
#pragma once

// Codes a frame (compress/frame.h) as the difference to three that the receiver holds, or, as a
// keyframe, to nothing. In one stream of the range coder come: gravity if it changed; the bodies
// removed and added; what changed of the others besides their poses; their poses
// (compress/snapshot_codec.h); which of those in motion are awake; and velocities, if the frame has
// them (compress/velocity.h). What has no constant table is coded with probabilities that start
// alike in every frame and follow what was coded. The layout is in docs/PROTOCOL.md, "Snapshot
// payload".

#include <stddef.h>
#include <stdint.h>

#include "compress/frame.h"

typedef struct cairn_frame_codec cairn_frame_codec;

// Newest first; each is older than the one before. A server that does not know that a client holds
// so many repeats the oldest it knows of. A keyframe has none: NULL.
typedef struct cairn_frame_bases {
    const cairn_snapshot_frame *baseline, *earlier, *earliest;
} cairn_frame_bases;

// For frames of at most `capacity` bodies. CAIRN_INVALID_ARGUMENT: 0, or more than
// CAIRN_BODIES_MAX; CAIRN_OUT_OF_MEMORY.
cairn_status cairn_frame_codec_create(uint32_t capacity, cairn_frame_codec **out);
void cairn_frame_codec_destroy(cairn_frame_codec *codec);       // NULL is allowed
size_t cairn_frame_codec_bytes(const cairn_frame_codec *codec); // of memory; NULL: 0

// The frame has the tick rate and the quantisation of its baseline. Returns the size, at least 1;
// 0: `bytes` is too small.
size_t cairn_frame_encode(cairn_frame_codec *codec, const cairn_frame_bases *bases,
    const cairn_snapshot_frame *frame, uint8_t *bytes, size_t size);

// out->tick is set before; out->velocities if the encoder's frame had velocities. Every input is
// bounded in time. CAIRN_CAPACITY: `out` has room for fewer bodies; CAIRN_MALFORMED: no frame, or
// one that does not fit its bases; out->count is 0 then. Flags are not checked. Damage may give
// another frame: see cairn_snapshot_frame_check.
cairn_status cairn_frame_decode(cairn_frame_codec *codec, const cairn_frame_bases *bases,
    const uint8_t *bytes, size_t size, cairn_snapshot_frame *out);
