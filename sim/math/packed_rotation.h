// SPDX-License-Identifier: MIT
#pragma once

// A rotation in two words ("smallest three"): the index of the largest component of the quaternion,
// whose sign is made positive, and the other three, which are within 1/sqrt(2), with 20 bits each.
// The largest component follows from these with full precision, so the error is below 6e-6 rad.
// The upper 16 bits of a component fill half a word, so that who compares two rotations by halves
// of words sees how far each component is from the other: from the highest bit, the components
// after the largest one; then the lowest four bits of each; then the index, twice shifted.
// Both words are zero when there is no rotation at all.

#include "sim/math/vec.h"

typedef struct cairn_packed_rotation {
    uint32_t words[2];
} cairn_packed_rotation;

#define CAIRN_PACKED_ROTATION_HALF 524288.0f // of the range of 20 bits
#define CAIRN_PACKED_ROTATION_MAX 0.7072f

// How many of the 20 bits are kept; the others are zero.
typedef enum cairn_packed_precision {
    CAIRN_PACKED_FINE = 0,    // all
    CAIRN_PACKED_COARSE = 15, // 16: the error is below 1e-4 rad
} cairn_packed_precision;

static inline bool packed_rotation_is_none(cairn_packed_rotation packed) {
    return packed.words[0] == 0 && packed.words[1] == 0;
}

// Of a unit quaternion; both signs of it give the same words.
static inline cairn_packed_rotation packed_rotation_pack(
    cairn_quat q, cairn_packed_precision precision) {
    const uint32_t dropped = (uint32_t)precision;
    const float parts[4] = {q.x, q.y, q.z, q.w};
    uint32_t largest = 3;
    for (uint32_t i = 0; i < 3; ++i) {
        largest = float_abs(parts[i]) > float_abs(parts[largest]) ? i : largest;
    }
    const bool negative = parts[largest] < 0.0f;
    uint32_t upper[3];
    uint32_t lower = 0;
    for (uint32_t i = 0; i < 3; ++i) {
        const float part = parts[(largest + 1 + i) % 4];
        const float value = (negative ? 0.0f - part : part) / CAIRN_PACKED_ROTATION_MAX;
        const uint32_t digits =
            (uint32_t)(float_clamp(value, -1.0f, 1.0f) * (CAIRN_PACKED_ROTATION_HALF - 16.0f) +
                       (CAIRN_PACKED_ROTATION_HALF + 0.5f));
        const uint32_t kept = (digits + (dropped + 1) / 2) & ~dropped;
        upper[i] = kept >> 4;
        lower = lower << 4 | (kept & 15);
    }
    return (cairn_packed_rotation){
        .words = {upper[0] << 16 | upper[1], upper[2] << 16 | lower << 4 | largest << 2}};
}

// Unit length for all words.
static inline cairn_quat packed_rotation_unpack(cairn_packed_rotation packed) {
    const uint32_t a = packed.words[0];
    const uint32_t b = packed.words[1];
    const uint32_t digits[3] = {(a >> 16 << 4) | (b >> 12 & 15),
        ((a & 0xffff) << 4) | (b >> 8 & 15), (b >> 16 << 4) | (b >> 4 & 15)};
    const uint32_t largest = b >> 2 & 3;
    float parts[4];
    float square = 0.0f;
    for (uint32_t i = 0; i < 3; ++i) {
        const float value = (float)digits[i] - CAIRN_PACKED_ROTATION_HALF;
        const float part =
            value * (CAIRN_PACKED_ROTATION_MAX / (CAIRN_PACKED_ROTATION_HALF - 16.0f));
        parts[(largest + 1 + i) % 4] = part;
        square += part * part;
    }
    parts[largest] = float_sqrt(float_max(1.0f - square, 0.0f));
    return quat_normalize((cairn_quat){.x = parts[0], .y = parts[1], .z = parts[2], .w = parts[3]});
}
