// SPDX-License-Identifier: MIT
#pragma once

// What a recording's chunks hold, as plain structs; schema/recording.fbs is normative. The file
// format around them (magic, lengths, checksums, cutting anywhere) is recording/file.h.

#include <stddef.h>
#include <stdint.h>

#include "schema/messages.h"
#include <cairn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cairn_chunk_kind {
    CAIRN_CHUNK_NONE = 0,
    CAIRN_CHUNK_START = 1,    // first: versions and the full start state
    CAIRN_CHUNK_TICKS = 2,    // consecutive ticks with commands and roots
    CAIRN_CHUNK_END = 3,      // last, when the recording was closed properly
    CAIRN_CHUNK_KEYFRAME = 4, // at intervals between ticks: the full state, so that a player of the
                              // recording can name section, body and field of a difference
    CAIRN_CHUNK_REPLACE = 5,  // between ticks: an operator replaced the world by this state
    CAIRN_CHUNK_DESYNC = 6,   // of a desync report: a step that two peers computed differently
    CAIRN_CHUNK_KIND_COUNT
} cairn_chunk_kind;

typedef struct cairn_chunk_start {
    uint32_t sim_version;
    uint32_t rules_version;
    uint64_t rules_digest; // cairn_rules_digest; 0: unknown, not compared
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
    const cairn_command *commands;
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
    uint64_t tick;       // of the world after the last tick
    uint64_t tick_count; // of the recording
    cairn_wire_seal seal;
} cairn_chunk_end;

typedef struct cairn_chunk_keyframe {
    uint64_t tick;        // of the state
    const uint8_t *state; // cairn_world_encode's bytes
    uint32_t state_size;
} cairn_chunk_keyframe;

typedef struct cairn_chunk_replace {
    uint64_t tick;        // of the state; ticks continue from it and may repeat earlier ones
    const uint8_t *state; // cairn_world_encode's bytes
    uint32_t state_size;
} cairn_chunk_replace;

// A word that differs between two worlds (sim/debug/trace.h numbers arrays and words).
typedef struct cairn_wire_difference {
    uint32_t array;
    uint32_t element;
    uint32_t word;
    uint32_t bits_client;
    uint32_t bits_server;
} cairn_wire_difference;
_Static_assert(sizeof(cairn_wire_difference) == 20, "wire layout");

#define CAIRN_DESYNC_DIFFERENCES_MAX 1024
// 16 bytes for each traced point of a step.
#define CAIRN_DESYNC_STAGES_SIZE_MAX (272 * 16)

// An unknown value is zero, "" or empty.
typedef struct cairn_wire_desync {
    uint64_t tick;             // of the worlds that differ, after the step
    cairn_hash128 root_before; // on which both agreed
    cairn_hash128 root_client; // as reported
    cairn_hash128 root_again;  // the client's result when it repeated the step
    cairn_hash128 root_server;
    uint64_t float_mode_client; // the control word of the thread that steps
    uint64_t float_mode_server;
    uint32_t passport_client; // faults, cairn_passport_fault
    uint32_t passport_server;
    uint32_t difference_count; // how many words differ in all, at least those held
    uint32_t reserved;         // 0
} cairn_wire_desync;
_Static_assert(sizeof(cairn_wire_desync) == 104, "wire layout");

typedef struct cairn_chunk_desync {
    cairn_wire_desync head;
    const char *build_client;
    const char *build_server;
    const uint8_t *stages_client; // of the repeated step; at most
                                  // CAIRN_DESYNC_STAGES_SIZE_MAX, a multiple of 16
    uint32_t stages_client_size;
    const uint8_t *stages_server; // of the server's step
    uint32_t stages_server_size;
    const cairn_wire_difference *differences; // in order of array, element and word
    uint32_t difference_count;                // how many are held here
} cairn_chunk_desync;

typedef struct cairn_chunk {
    cairn_chunk_kind kind;
    union {
        cairn_chunk_start start;
        cairn_chunk_ticks ticks;
        cairn_chunk_end end;
        cairn_chunk_keyframe keyframe;
        cairn_chunk_replace replace;
        cairn_chunk_desync desync;
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
