// SPDX-License-Identifier: MIT
#pragma once

// Frames that every target computes: bodies that move in their own ways, and what a client that
// holds the older frames is sent of the newest.

#include "compress/part_codec.h"

// A frame for fuzzers, `age` snapshots old, with ids that are `id_step` apart.
void frames_fill(
    cairn_snapshot_frame *frame, uint32_t body_capacity, uint32_t id_step, uint32_t age);

enum { FRAMES_BODIES = 60, FRAMES_COUNT = 4, FRAMES_BYTES = 8192 };

// Newest first. Some bodies are static, some change in every way.
typedef struct frames_story {
    cairn_snapshot_frame frames[FRAMES_COUNT];
} frames_story;

// May be called again for the same story.
void frames_make(frames_story *story, uint64_t seed);
// The sample of a body in one of `held` frames, without the newest.
cairn_body_sample frames_find(
    const frames_story *story, uint32_t held, uint32_t index, uint64_t tick);
// Body i enters (i % 6 is 0), goes on from one to three samples (1 to 3), leaves (4) or is not
// named. With the velocities of the newest frame, if it has them. Returns the size.
size_t frames_write_part(const frames_story *story, uint8_t bytes[FRAMES_BYTES], uint32_t *check);
