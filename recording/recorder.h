// SPDX-License-Identifier: MIT
#pragma once

// Writes a recording while a world is stepped: start chunk, ticks chunks, keyframes, end chunk,
// passed to a write function piece by piece. A server, a client or a tool can own one.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/packing.h"
#include "schema/recording.h"
#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_recorder cairn_recorder;

typedef struct cairn_recorder_config {
    uint32_t ticks_per_chunk; // > 0: at most this many are lost if the process dies
    uint32_t commands_per_tick_max;
    size_t state_size_max;
    const char *scene_name;
    const cairn_packing_functions *packing; // NULL: payloads are stored as they are
    const uint8_t *signing_seed; // CAIRN_SIGN_SEED_SIZE, copied; NULL: the recording is not signed
    // Writes one or more whole chunks, the first time with the file's head before them; the bytes
    // are valid during the call. False ends the recording.
    bool (*write)(void *user, const uint8_t *bytes, size_t size);
    void *user;
} cairn_recorder_config;

// CAIRN_OUT_OF_MEMORY leaves *out NULL.
cairn_status cairn_recorder_create(const cairn_recorder_config *config, cairn_recorder **out);
void cairn_recorder_destroy(cairn_recorder *recorder); // NULL is allowed; does not end the file

// Writes the file's head and the start chunk with the world's current state. Call it once, before
// all others. False: out of memory, or the state is longer than state_size_max.
bool cairn_recorder_start(cairn_recorder *recorder, const cairn_world *world);
// Call after each step: the world's tick before it, its sorted commands (at most
// commands_per_tick_max) and the full root after it. Ticks must be consecutive (asserted). A chunk
// is written when ticks_per_chunk ticks wait.
void cairn_recorder_tick(cairn_recorder *recorder, uint64_t tick, const cairn_command *commands,
    uint32_t command_count, cairn_hash128 root);
// Writes waiting ticks and then the full state, so that a replay can name the field that differs
// and can begin here. The world has stepped the last recorded tick (asserted). A state longer than
// state_size_max is left out.
void cairn_recorder_keyframe(cairn_recorder *recorder, const cairn_world *world);
// Whether a keyframe is due: 5 s of ticks after the last state, so that a seek steps few ticks;
// later, but after at most 60 s, if states are so large that they would take more than 64 KiB per
// second in the file.
bool cairn_recorder_keyframe_due(const cairn_recorder *recorder);
// After how many ticks a keyframe follows the last state.
uint64_t cairn_recorder_keyframe_ticks(const cairn_recorder *recorder);
// The world was replaced (an operator used load, seek or reset). Writes waiting ticks and the new
// world; the next tick is that of the world. A state longer than state_size_max ends the recording
// (cairn_recorder_failed), because a replay could not continue.
void cairn_recorder_replace(cairn_recorder *recorder, const cairn_world *world);
// Writes waiting ticks and a desync chunk about a step that a client and its server took
// differently (recording/desync_report.h).
void cairn_recorder_desync(cairn_recorder *recorder, const cairn_chunk_desync *desync);
// Writes waiting ticks and the end chunk with the last value of the hash chain, signed if there is
// a key. Nothing is written afterwards.
void cairn_recorder_end(cairn_recorder *recorder);

bool cairn_recorder_failed(const cairn_recorder *recorder); // nothing more is written
uint64_t cairn_recorder_bytes(const cairn_recorder *recorder);
uint64_t cairn_recorder_ticks_written(const cairn_recorder *recorder); // those that were passed on
