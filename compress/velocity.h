// SPDX-License-Identifier: MIT
#pragma once

// Velocities of bodies in whole steps, for clients that ask for them: what a client derives from
// poses is the mean since the snapshot before. They are coded as differences to what the poses lead
// both ends to expect.

#include "compress/frame.h"

// m/s and rad/s: what is derived from poses of the default steps is ten times coarser.
#define CAIRN_LINEAR_STEP (1.0f / 128.0f)
#define CAIRN_ANGULAR_STEP (1.0f / 64.0f)
// In steps of either kind: more than CAIRN_SPEED_MAX.
#define CAIRN_QUANTISED_SPEED_MAX (1 << 21)

// The nearest step, of the centre of mass.
cairn_quantised_velocity cairn_quantise_velocity(cairn_vec3 linear, cairn_vec3 angular);
// Of a body that was decoded.
void cairn_dequantise_velocity(const cairn_quantised_velocity *velocity, cairn_snapshot_body *body);
bool cairn_velocity_in_range(const cairn_quantised_velocity *velocity);

// Whether the velocity of a body with these flags is coded. That of any other one is 0.
bool cairn_velocity_is_coded(uint32_t flags);

// Where a body is and was, newest first, and the ticks in between; 0: the older pose is not known.
typedef struct cairn_velocity_path {
    const cairn_quantised_body *poses[3];
    uint32_t ticks, ticks_before;
} cairn_velocity_path;

typedef struct cairn_velocity_expectation {
    cairn_quantised_velocity velocity;
    float error; // in steps, of each component, about
} cairn_velocity_expectation;

cairn_velocity_expectation cairn_velocity_expect(
    const cairn_snapshot_frame *frame, const cairn_velocity_path *path);
