// SPDX-License-Identifier: MIT
#pragma once

// Codes a part of a snapshot: some bodies of one tick, for one client that is not sent all of them.
// Each body is coded alone, against up to three samples of it that this client holds, so that one
// code serves every client that holds the same three (cairn_part_chunk), and a client needs nothing
// but these samples to read it. A record says that a body enters, is elsewhere now, or leaves; what
// a part does not name stays as it was. The layout is in docs/PROTOCOL.md, "Part of a snapshot".

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compress/bits.h"
#include "compress/frame.h"
#include "compress/pose_code.h"

#define CAIRN_PART_BASES 3

// A body in a frame, as the client was sent it at `tick`; the frame may be of a later tick until
// which nothing changed. frame NULL: none.
typedef struct cairn_body_sample {
    const cairn_snapshot_frame *frame;
    uint32_t place;
    uint64_t tick;
} cairn_body_sample;

// What follows from the ticks of a body's samples and of the part alone: many bodies have the same.
typedef struct cairn_part_spans {
    uint64_t ticks[CAIRN_PART_BASES]; // of the samples; 0: missing
    uint64_t ages; // ticks from the samples to the part, 16 bits each; UINT64_MAX: one has more
    cairn_pose_spans pose;
} cairn_part_spans;

cairn_part_spans cairn_part_spans_of(
    const cairn_snapshot_frame *frame, const cairn_body_sample bases[CAIRN_PART_BASES]);

// Both ends' memory within one part.
typedef struct cairn_part_context {
    uint32_t next_index;                          // records are in order of id index
    uint32_t gap_mean;                            // of gaps, in sixteenths
    uint64_t ticks[4][CAIRN_PART_BASES];          // of the last different bases, newest first
    uint32_t generation, flags, user, extents[3]; // of the body that entered before
    uint32_t step_mean;                           // of coordinates from one to the next
    cairn_quantised_body pose;
    cairn_quat rotation;
} cairn_part_context;

// A record of a body that goes on, but for its index and the ticks of its bases.
typedef struct cairn_part_chunk {
    uint32_t bit_count; // 0: empty
    uint8_t bits[84];   // readers may take eight bytes at once
} cairn_part_chunk;

typedef struct cairn_part_writer {
    const cairn_snapshot_frame *frame; // of the part's tick
    cairn_bits bits;
    uint8_t *start;
    uint32_t count; // records so far
    uint32_t check;
    cairn_part_context context;
} cairn_part_writer;

// `frame` has the settings and the bodies of the part's tick, with their velocities if the client
// asks for them. `settings`: the part contains the
// settings, because a client that reads it may not have them.
cairn_part_writer cairn_part_write(
    const cairn_snapshot_frame *frame, bool settings, uint8_t *bytes, size_t size);
// The body at `place` in the frame, which the client does not hold.
void cairn_part_enter(cairn_part_writer *writer, uint32_t place);
// A body that the client holds, by samples that are older than the frame, newest first; those after
// the first may be missing. `rested`: until the snapshot before this one it was where the client
// has seen it last. `only_moved`: it is known that since the first sample nothing but the pose of a
// body that may move can differ; false makes no other chunk.
void cairn_part_chunk_of(const cairn_snapshot_frame *frame, uint32_t place,
    const cairn_body_sample bases[CAIRN_PART_BASES], const cairn_part_spans *spans, bool rested,
    bool only_moved, cairn_part_chunk *out);
// What a body adds to the check of a part.
uint32_t cairn_part_hash(const cairn_snapshot_frame *frame, uint32_t place);
void cairn_part_go_on(cairn_part_writer *writer, uint32_t place,
    const cairn_body_sample bases[CAIRN_PART_BASES], const cairn_part_spans *spans,
    const cairn_part_chunk *chunk, uint32_t hash);
void cairn_part_leave(cairn_part_writer *writer, uint32_t index);
// Returns the size; 0: there was no room. *check is what cairn_part_read finds.
size_t cairn_part_finish(cairn_part_writer *writer, uint32_t *check);

// A part that was read. Arrays are of `capacity`, in order of id index.
typedef struct cairn_part {
    cairn_snapshot_frame frame; // bodies that entered or went on
    bool *rested;               // by place in the frame
    uint32_t *left;             // indices of those that left
    uint32_t left_count;
} cairn_part;

// CAIRN_OUT_OF_MEMORY: destroy is allowed.
cairn_status cairn_part_create(cairn_part *part, uint32_t capacity);
void cairn_part_destroy(cairn_part *part);

// Where the reader finds samples. frame NULL in the answer: it does not hold it.
typedef struct cairn_part_source {
    void *user;
    cairn_body_sample (*find)(void *user, uint32_t index, uint64_t tick);
} cairn_part_source;

// Settings that the part does not carry are those that out->frame has; its tick is set before, and
// its velocities, of its capacity, if the writer's frame had velocities.
// Every input is bounded in time. CAIRN_NOT_FOUND: a sample is not held, or settings that are not
// there are needed; CAIRN_CAPACITY: `out` has room for fewer bodies; CAIRN_MALFORMED: no part,
// or its steps are not those of a sample.
// The part is empty then. Flags are not checked.
cairn_status cairn_part_read(const uint8_t *bytes, size_t size, const cairn_part_source *source,
    cairn_part *out, uint32_t *check);
