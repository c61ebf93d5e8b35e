// SPDX-License-Identifier: MIT
#pragma once

// Where the chunks of a recording lie, made from their heads alone: what a seek, a cut and many
// workers begin with. A recording of version 1 says no ticks in its heads and is decoded for it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/file.h"
#include <cairn/status.h>

typedef struct cairn_recording_entry {
    cairn_chunk_kind kind;
    uint32_t tick_count; // of a ticks chunk
    uint64_t tick;       // first of a ticks chunk, of the state, or of the end
    size_t offset;
} cairn_recording_entry;

typedef struct cairn_recording_index {
    cairn_recording_entry *entries; // owned, in order of the file
    uint32_t count;
    uint32_t capacity;
    cairn_recording_end
        end; // why it stops there; GOES_ON: a chunk of version 1 that cannot be read
} cairn_recording_index;

// `bytes` start on 8 bytes. CAIRN_OUT_OF_MEMORY; damage is no failure, the index ends before it.
// Pair with cairn_recording_index_end.
cairn_status cairn_recording_index_of(
    const uint8_t *bytes, size_t size, cairn_recording_index *out);
void cairn_recording_index_end(cairn_recording_index *index);

// A start, a keyframe or a replacement: a chunk that a world can begin with.
bool cairn_recording_is_state(cairn_chunk_kind kind);
// The state to begin with for the world of `tick`, the nearest before it; NULL when the recording
// has no such tick. Where a replacement made the world live a tick twice, the last time counts.
const cairn_recording_entry *cairn_recording_index_find(
    const cairn_recording_index *index, uint64_t tick);
// The ticks of the worlds that can be had: from the earliest state to behind the latest tick. False
// for a recording without a start.
bool cairn_recording_index_range(
    const cairn_recording_index *index, uint64_t *first, uint64_t *last);
