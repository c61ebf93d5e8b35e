// SPDX-License-Identifier: MIT
#pragma once

// What a recording's chunks hold, as plain structs; schema/recording.fbs is normative. The file
// format around them (magic, lengths, checksums, cutting anywhere) is recording/file.h.

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "schema/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cairn_chunk_kind {
    CAIRN_CHUNK_NONE = 0,
    CAIRN_CHUNK_START = 1,    // first: versions and the full start state
    CAIRN_CHUNK_TICKS = 2,    // consecutive ticks with commands and roots
    CAIRN_CHUNK_END = 3,      // last, when the recording was closed in order
    CAIRN_CHUNK_KEYFRAME = 4, // now and then between ticks: the full state, so that who steps the
                              // recording can tell section, body and field of a difference
    CAIRN_CHUNK_REPLACE = 5,  // between ticks: the world becomes this, by an operator's word
    CAIRN_CHUNK_KIND_COUNT
} cairn_chunk_kind;

typedef struct cairn_chunk_start {
    uint32_t sim_version;
    uint32_t rules_version;
    const char *rules_name;
    const char *scene_name;
    const char *build;    // compiler and target, for people
    uint64_t tick;        // of the state
    const uint8_t *state; // cairn_world_encode's bytes
    uint32_t state_size;
} cairn_chunk_start;

typedef struct cairn_chunk_ticks {
    const cairn_wire_tick *ticks;
    uint32_t tick_count;
    const cairn_wire_command *commands;
    uint32_t command_count;
} cairn_chunk_ticks;

// recording/chain.h. All zero in recordings of version 1; unsigned: key and signature are zero.
typedef struct cairn_wire_seal {
    uint8_t chain[32];
    uint8_t public_key[32];
    uint8_t signature[64];
} cairn_wire_seal;
_Static_assert(sizeof(cairn_wire_seal) == 128, "wire layout");

typedef struct cairn_chunk_end {
    uint64_t tick;       // of the world behind the last tick
    uint64_t tick_count; // of the recording
    cairn_wire_seal seal;
} cairn_chunk_end;

typedef struct cairn_chunk_keyframe {
    uint64_t tick;        // of the state
    const uint8_t *state; // cairn_world_encode's bytes
    uint32_t state_size;
} cairn_chunk_keyframe;

typedef struct cairn_chunk_replace {
    uint64_t tick;        // of the state; the next tick's, whatever the last one was
    const uint8_t *state; // cairn_world_encode's bytes
    uint32_t state_size;
} cairn_chunk_replace;

typedef struct cairn_chunk {
    cairn_chunk_kind kind;
    union {
        cairn_chunk_start start;
        cairn_chunk_ticks ticks;
        cairn_chunk_end end;
        cairn_chunk_keyframe keyframe;
        cairn_chunk_replace replace;
    };
} cairn_chunk;

struct cairn_encoder;

// As cairn_message_encode and cairn_message_decode in schema/codec.h; the refusals are the same.
cairn_status cairn_chunk_encode(
    struct cairn_encoder *encoder, const cairn_chunk *chunk, const uint8_t **bytes, size_t *size);
int cairn_chunk_decode(const uint8_t *bytes, size_t size, cairn_chunk *out); // cairn_decode_refusal

#ifdef __cplusplus
}
#endif
