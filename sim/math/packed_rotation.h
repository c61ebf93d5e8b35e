// SPDX-License-Identifier: MIT
#pragma once

// A rotation in two words ("smallest three"): the index of the largest component of the quaternion,
// whose sign is made positive, and the other three, which are within 1/sqrt(2), with 20 bits each.
// The largest component follows from these with full precision, so the error is below 6e-6 rad.
// Both words are zero when there is no rotation at all.

#include "sim/math/vec.h"

typedef struct cairn_packed_rotation {
    uint32_t words[2];
} cairn_packed_rotation;

#define CAIRN_PACKED_ROTATION_BITS 20
#define CAIRN_PACKED_ROTATION_HALF 524288.0f // of the range of 20 bits
#define CAIRN_PACKED_ROTATION_MAX 0.7072f

static inline bool packed_rotation_is_none(cairn_packed_rotation packed) {
    return packed.words[0] == 0 && packed.words[1] == 0;
}

// Of a unit quaternion; both signs of it give the same words.
static inline cairn_packed_rotation packed_rotation_pack(cairn_quat q) {
    const float parts[4] = {q.x, q.y, q.z, q.w};
    uint32_t largest = 3;
    for (uint32_t i = 0; i < 3; ++i) {
        largest = float_abs(parts[i]) > float_abs(parts[largest]) ? i : largest;
    }
    const bool negative = parts[largest] < 0.0f;
    uint64_t bits = largest;
    for (uint32_t i = 1; i < 4; ++i) {
        const float part = parts[(largest + i) % 4];
        const float value = (negative ? 0.0f - part : part) / CAIRN_PACKED_ROTATION_MAX;
        const uint32_t digits =
            (uint32_t)(float_clamp(value, -1.0f, 1.0f) * (CAIRN_PACKED_ROTATION_HALF - 1.0f) +
                       (CAIRN_PACKED_ROTATION_HALF + 0.5f));
        bits = bits << CAIRN_PACKED_ROTATION_BITS | digits;
    }
    return (cairn_packed_rotation){.words = {(uint32_t)bits, (uint32_t)(bits >> 32)}};
}

// Unit length for all words.
static inline cairn_quat packed_rotation_unpack(cairn_packed_rotation packed) {
    const uint32_t mask = (1u << CAIRN_PACKED_ROTATION_BITS) - 1;
    uint64_t bits = (uint64_t)packed.words[1] << 32 | packed.words[0];
    const uint32_t largest = (uint32_t)(bits >> 3 * CAIRN_PACKED_ROTATION_BITS) % 4;
    float parts[4];
    float square = 0.0f;
    for (uint32_t i = 3; i > 0; --i) {
        const float value = (float)((uint32_t)bits & mask) - CAIRN_PACKED_ROTATION_HALF;
        const float part =
            value * (CAIRN_PACKED_ROTATION_MAX / (CAIRN_PACKED_ROTATION_HALF - 1.0f));
        parts[(largest + i) % 4] = part;
        square += part * part;
        bits >>= CAIRN_PACKED_ROTATION_BITS;
    }
    parts[largest] = float_sqrt(float_max(1.0f - square, 0.0f));
    return quat_normalize((cairn_quat){.x = parts[0], .y = parts[1], .z = parts[2], .w = parts[3]});
}
