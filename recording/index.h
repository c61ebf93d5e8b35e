// SPDX-License-Identifier: MIT
#pragma once

// The offsets of a recording's chunks, read from their heads alone. A seek and a
// cut begin with it. The heads of version 1 contain no ticks, so such a recording is decoded.

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
    // Why it stops there; UNFINISHED: a chunk of version 1 that cannot be read.
    cairn_recording_end end;
} cairn_recording_index;

// Builds the index. `bytes` are aligned to 8. Damage is not an error: the index ends before it.
// CAIRN_OUT_OF_MEMORY. Pair with cairn_recording_index_end.
cairn_status cairn_recording_index_of(
    const uint8_t *bytes, size_t size, cairn_recording_index *out);
void cairn_recording_index_end(cairn_recording_index *index);

// Appends an entry. False: out of memory.
bool cairn_recording_index_add(cairn_recording_index *index, const cairn_recording_piece *piece);

// Whether a world can begin with the chunk: a start, a keyframe or a replacement.
bool cairn_recording_is_state(cairn_chunk_kind kind);
// The nearest state from which the world of `tick` can be stepped; NULL if the recording has no
// such tick. If a replacement made the world step a tick twice, the last time counts.
const cairn_recording_entry *cairn_recording_index_find(
    const cairn_recording_index *index, uint64_t tick);
// The ticks that a seek can reach: from the earliest state to the end of the latest tick. False for
// a recording without a start.
bool cairn_recording_index_range(
    const cairn_recording_index *index, uint64_t *first, uint64_t *last);
