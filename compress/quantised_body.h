// SPDX-License-Identifier: MIT
#pragma once

// The pose of a body in whole steps, as snapshots carry it. A rotation is written as the smallest
// three components of its quaternion; the fourth follows from the unit length. (Fiedler, "Snapshot
// compression", 2015.)

#include <stdint.h>

#include <cairn/math.h>

// How fine poses are, and how closely they are coded. Both ends have the same.
typedef struct cairn_quantisation {
    float position_step_m;  // CAIRN_POSITION_STEP_MIN .. 1
    uint32_t rotation_bits; // of each component; CAIRN_ROTATION_BITS_MIN .. MAX
    // A snapshot in which more bodies changed codes each of them alone: 0 .. CAIRN_BODIES_MAX.
    uint32_t coded_together_max;
} cairn_quantisation;

#define CAIRN_POSITION_STEP_MIN 1e-4f
#define CAIRN_CODED_TOGETHER_DEFAULT 256

// 2 mm (a 512th of a metre) and 9 bits: what is seen does not differ (the challenge of 2015). At
// most CAIRN_CODED_TOGETHER_DEFAULT bodies are coded together, which takes some 60 us.
cairn_quantisation cairn_quantisation_default(void);

typedef struct cairn_quantised_body {
    int32_t position[3];  // steps
    uint16_t rotation[3]; // components without the largest, in order; 0 is -sqrt(1/2), and
                          // 2^(rotation_bits - 1) is 0
    uint16_t largest;     // which component of x, y, z, w is left out: 0 .. 3
} cairn_quantised_body;

// The furthest that can be coded, in steps: CAIRN_DISTANCE_MAX in the finest ones.
#define CAIRN_QUANTISED_MAX 1000000000
// The pose must be finite, the rotation of unit length.
cairn_quantised_body cairn_quantise(const cairn_quantisation *quantisation, cairn_pose pose);
cairn_pose cairn_dequantise(
    const cairn_quantisation *quantisation, const cairn_quantised_body *body);
// The rotation alone.
cairn_quat cairn_dequantise_rotation(
    const cairn_quantisation *quantisation, const cairn_quantised_body *body);

// No component but the largest is longer than the square root of a half.
#define CAIRN_COMPONENT_MAX 0.70710678f
float cairn_rotation_step(const cairn_quantisation *quantisation);
// The component that is 0, so that what stands upright stays so.
float cairn_rotation_middle(const cairn_quantisation *quantisation);
