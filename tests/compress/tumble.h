// SPDX-License-Identifier: MIT
#pragma once

// Motion for the codec that needs no simulation and has the same bits on every target: bodies that
// fall, bounce and tumble, some that ride on the first one, and some that rest. Only + - * / and
// square roots.

#include "base/random.h"
#include "compress/snapshot_codec.h"

enum {
    TUMBLE_COUNT = 150,
    TUMBLE_FRAMES = 4, // kept: the newest last
    TUMBLE_AGE = 6,    // ticks between two frames
};

typedef struct tumble {
    cairn_codec_settings settings;
    cairn_random random;
    cairn_codec_body bodies[TUMBLE_COUNT];
    cairn_pose poses[TUMBLE_COUNT];
    cairn_vec3 velocities[TUMBLE_COUNT]; // steps of a tick, m
    cairn_vec3 spins[TUMBLE_COUNT];      // half the turn of a tick
    cairn_quantised_body frames[TUMBLE_FRAMES][TUMBLE_COUNT];
} tumble;

// From coarse to fine, with each axis as the vertical one.
enum { TUMBLE_KINDS = 3 };
void tumble_start(tumble *t, uint32_t kind, uint64_t seed);
// The next frame.
void tumble_step(tumble *t);
// What both ends hold when the newest frame is coded.
cairn_codec_frames tumble_frames(const tumble *t);
// Whether the poses are what a decoder may give.
bool tumble_in_range(const tumble *t, const cairn_quantised_body poses[TUMBLE_COUNT]);
