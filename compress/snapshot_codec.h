// SPDX-License-Identifier: MIT
#pragma once

// Codes the poses of a snapshot as the difference to a baseline that the receiver has. What a
// client was sent before does not matter, only which frames it holds: one encoding serves every
// client that holds the same three.
//
// First comes, for each body, whether it changed; then the bodies that changed, leaders first and
// the others from near a leader to far. Each is predicted (body_predictor.h); the rotation before
// the position, since what rolls, rides on others or tumbles on the ground moves as it turns. Of
// each integer the difference to its prediction is coded, with a probability for each decision that
// depends on how good the prediction is expected to be and adapts within the snapshot. Both ends
// compute with + - * / and square roots in one order, so they predict the same to the bit.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compress/model.h"
#include "compress/quantised_body.h"
#include <cairn/status.h>

typedef struct cairn_codec_settings {
    cairn_quantisation quantisation;
    uint32_t tick_rate_hz; // CAIRN_TICK_RATE_HZ_MIN .. MAX
    cairn_vec3 gravity;    // m/s^2
    float rotation_middle; // which component is 0 in poses that were rounded elsewhere; 0: as
                           // cairn_quantise has it
    const cairn_snapshot_model *model; // kept; NULL: cairn_snapshot_model_default
} cairn_codec_settings;

// What both ends know of a body besides its poses.
typedef struct cairn_codec_body {
    cairn_vec3 half_extents; // m, of a box around it in its own frame; 0: unknown
    bool leader;             // moves others along, such as what a player owns
} cairn_codec_body;

// What both ends hold. All arrays have one entry for each body, in one order. A body that an
// earlier frame does not have has the entry of the next later one there.
typedef struct cairn_codec_frames {
    uint32_t count;
    const cairn_codec_body *bodies;
    const cairn_quantised_body *baseline;
    const cairn_quantised_body
        *earlier; // a frame before the baseline, from which velocities follow
    const cairn_quantised_body *earliest; // and one before that
    uint32_t ticks;                       // from the baseline to the snapshot, at least 1
    uint32_t ticks_earlier;               // from the earlier frame to the baseline, at least 1
    uint32_t ticks_earliest;
} cairn_codec_frames;

typedef struct cairn_snapshot_codec cairn_snapshot_codec;

// For snapshots of at most `capacity` bodies, which is at most CAIRN_BODIES_MAX.
// CAIRN_INVALID_ARGUMENT: a setting is out of range; CAIRN_OUT_OF_MEMORY.
cairn_status cairn_snapshot_codec_create(
    const cairn_codec_settings *settings, uint32_t capacity, cairn_snapshot_codec **out);
void cairn_snapshot_codec_destroy(cairn_snapshot_codec *codec); // NULL is allowed
size_t cairn_snapshot_codec_bytes(const cairn_snapshot_codec *codec);

// From now on with these settings. CAIRN_INVALID_ARGUMENT: one is out of range, nothing changed.
cairn_status cairn_snapshot_codec_set(
    cairn_snapshot_codec *codec, const cairn_codec_settings *settings);

// Returns the size, which may be 0; SIZE_MAX: `bytes` is too small.
size_t cairn_snapshot_encode(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const cairn_quantised_body *snapshot, uint8_t *bytes, size_t size);

// Every input is bounded in time; CAIRN_MALFORMED: it leads out of the range of poses, and `out` is
// undefined. Damage elsewhere gives other poses: what comes from a wire is authenticated before.
cairn_status cairn_snapshot_decode(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const uint8_t *bytes, size_t size, cairn_quantised_body *out);

// As encode and decode, among other things in the stream of `coder`, which encodes or decodes.
void cairn_snapshot_encode_poses(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const cairn_quantised_body *snapshot, cairn_range_coder *coder);
cairn_status cairn_snapshot_decode_poses(cairn_snapshot_codec *codec,
    const cairn_codec_frames *frames, cairn_range_coder *coder, cairn_quantised_body *out);

// ---- For the program that makes the model.

typedef enum cairn_codec_table {
    CAIRN_CODEC_TABLE_TURN,  // row: class
    CAIRN_CODEC_TABLE_MOVE,  // row: 2 class + 1 if vertical
    CAIRN_CODEC_TABLE_ERROR, // row: (class CAIRN_COMPONENTS + component) 3 + how many before
} cairn_codec_table;

typedef struct cairn_codec_observer {
    void *user;
    // The weighted features of a row should have been `target`.
    void (*sample)(void *user, cairn_codec_table table, uint32_t row, const float *features,
        uint32_t count, float target);
    uint32_t (*counts)[2]; // of the decisions, one pair for each probability in model.likely
} cairn_codec_observer;

// As encode, but writes nothing: tells the observer what the tables should have been.
void cairn_snapshot_observe(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const cairn_quantised_body *snapshot, const cairn_codec_observer *observer);
