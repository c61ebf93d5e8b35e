// SPDX-License-Identifier: MIT
#pragma once

// The pose of one body, coded alone as the difference to up to three samples of it: a quarter of
// the time that snapshot_codec.h takes with the body's companions, and more bytes. Places are
// expected from the motion between the samples, and in the air from gravity; how many bits a
// difference takes follows from how far off the expectation mostly is.

#include <stdbool.h>
#include <stdint.h>

#include "compress/bits.h"
#include "compress/quantised_body.h"
#include <cairn/types.h>

// What follows from the times of samples alone: many bodies have the same.
typedef struct cairn_pose_spans {
    float now;                 // ticks from the first sample to what is coded
    float ratio, ratio_before; // of `now` to the times between samples; 0: not known
    float bend[4], drop[4];    // what a fall changes a motion by, and adds to it, in steps
} cairn_pose_spans;

// Ticks from one sample to the next; 0: the earlier one is missing. `gravity` in m/s^2.
cairn_pose_spans cairn_pose_spans_of(float now, float before, float first, uint32_t tick_rate_hz,
    float position_step_m, cairn_vec3 gravity);

// `samples`: newest first; one that is missing repeats the one before, and its ratio is 0.
void cairn_pose_put(cairn_bits *bits, const cairn_pose_spans *spans, uint32_t rotation_bits,
    const cairn_quantised_body *const samples[3], const cairn_quantised_body *pose);
// Fails if a component is out of range; of the position the caller finds out.
cairn_quantised_body cairn_pose_read(cairn_bits *bits, const cairn_pose_spans *spans,
    uint32_t rotation_bits, const cairn_quantised_body *const samples[3]);
// At most so many bits.
#define CAIRN_POSE_BITS_MAX (6 * (65 + 20) + 1)

// The rotation as it is, in either direction.
void cairn_pose_code_rotation(cairn_bits *bits, uint32_t rotation_bits, cairn_quantised_body *pose);
bool cairn_pose_in_range(const cairn_quantised_body *pose);
// Of a code for numbers that are off by this much: how often it is halved until it is below 1, at
// most 20 times.
uint32_t cairn_order_of_error(float error);
