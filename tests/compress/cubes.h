// SPDX-License-Identifier: MIT
#pragma once

// Motion to measure the snapshot codec with, like that of the snapshot challenge of 2015 (Fiedler,
// "Snapshot compression"): 901 cubes on a floor, z up, a player that is a cube of 1.5 m and rolls
// among 900 of 0.4 m. It pulls them into a ball, hovers and pushes them away, or only rolls.

#include <stdint.h>

#include "compress/snapshot_codec.h"

enum {
    CUBES_COUNT = 901,
    CUBES_RATE_HZ = 60,
    CUBES_AGE = 6, // ticks from a baseline to its snapshot: 100 ms
};

typedef enum cubes_kind {
    CUBES_MODERATE, // the player walks, pulls, hovers and rolls
    CUBES_HEAVY,    // blasts as well: every fifth of a second
    CUBES_REST,     // the player is pushed now and then
} cubes_kind;

typedef struct cubes_set {
    uint32_t frame_count;
    cairn_quantised_body *frames; // CUBES_COUNT each
    cairn_codec_body bodies[CUBES_COUNT];
    cairn_codec_settings settings; // of a codec for them
    uint32_t bodies_disabled; // by the simulation: a set of bodies that stand still is no measure
} cubes_set;

// Ticks after which a scene is as it goes on.
uint32_t cubes_warm_up(cubes_kind kind);
// Simulates `frame_count` ticks, after `warm_up`, from a seed. Fails the program on errors.
cubes_set cubes_simulate(cubes_kind kind, uint64_t seed, uint32_t warm_up, uint32_t frame_count);
// The same with poses rounded as the challenge did.
cubes_set cubes_simulate_challenge(
    cubes_kind kind, uint64_t seed, uint32_t warm_up, uint32_t frame_count);
// Reads a file in the format of the challenge: frames of 901 records of eight little-endian int32,
// that is, largest, three components, x, y, z in 512ths of a metre, and a flag, which is ignored.
// The components have no exact 0 there: it is between 255 and 256.
cubes_set cubes_read(const char *path);
void cubes_free(cubes_set *set);
// How many bodies differ from the baseline, on average over the frames.
double cubes_changed(const cubes_set *set);
// In the moderate set of the challenge some 90 do.
#define CUBES_MODERATE_CHANGED_MIN 60.0
#define CUBES_MODERATE_CHANGED_MAX 130.0

cairn_codec_settings cubes_settings(void); // of simulated sets
// The first frame for which cubes_frames has all it needs.
#define CUBES_FIRST (3 * CUBES_AGE)
// What both ends hold when frame `at` is coded: the frames 6, 12 and 18 ticks before.
cairn_codec_frames cubes_frames(const cubes_set *set, uint32_t at);
const cairn_quantised_body *cubes_frame(const cubes_set *set, uint32_t at);
