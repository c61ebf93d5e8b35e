// SPDX-License-Identifier: MIT
#include "compress/friction_code.h"

#include "compress/state_words.h"
#include <cairn/math.h>

// In steps. If the prediction of a normal misses by more, that is not the normal.
#define MISS_MAX 64

// As sim/math/packed_rotation.h unpacks, but without making the length exactly 1.
typedef struct rotation {
    float parts[4];
} rotation;

static rotation unpack(uint32_t a, uint32_t b) {
    const uint32_t digits[3] = {(a >> 16 << 4) | (b >> 12 & 15),
        ((a & 0xffff) << 4) | (b >> 8 & 15), (b >> 16 << 4) | (b >> 4 & 15)};
    const uint32_t largest = b >> 2 & 3;
    rotation out;
    float square = 0.0f;
    for (uint32_t i = 0; i < 3; ++i) {
        const float part = ((float)digits[i] - 524288.0f) * (0.7072f / 524272.0f);
        out.parts[(largest + 1 + i) % 4] = part;
        square += part * part;
    }
    out.parts[largest] = cairn_float_sqrt(square < 1.0f ? 1.0f - square : 0.0f);
    return out;
}

static void axis_of(const rotation *q, uint32_t axis, float out[3]) {
    const float x = q->parts[0];
    const float y = q->parts[1];
    const float z = q->parts[2];
    const float w = q->parts[3];
    const float axes[3][3] = {
        {1.0f - 2.0f * (y * y + z * z), 2.0f * (x * y + w * z), 2.0f * (x * z - w * y)},
        {2.0f * (x * y - w * z), 1.0f - 2.0f * (x * x + z * z), 2.0f * (y * z + w * x)},
        {2.0f * (x * z + w * y), 2.0f * (y * z - w * x), 1.0f - 2.0f * (x * x + y * y)}};
    for (uint32_t i = 0; i < 3; ++i) {
        out[i] = axes[axis][i];
    }
}

static uint32_t word_at(const uint8_t *friction, int32_t offset) {
    return cairn_word_load(friction + offset * (int32_t)sizeof(uint32_t));
}

static void find_normal(const uint8_t *friction, uint32_t normal, float out[3]) {
    if (normal == CAIRN_NORMAL_BETWEEN) {
        for (uint32_t i = 0; i < 3; ++i) {
            const int32_t at = CAIRN_FRICTION_DISPLACEMENT + (int32_t)i;
            out[i] = cairn_float_of_word(word_at(friction, at));
        }
        return;
    }
    const int32_t at = normal <= 3 ? CAIRN_FRICTION_ROTATION_A : CAIRN_FRICTION_ROTATION_B;
    const rotation q = unpack(word_at(friction, at), word_at(friction, at + 1));
    axis_of(&q, (normal - 1) % 3, out);
}

// The last digit of 64 times the sum of the normal impulses.
static void find_step(const uint8_t *friction, cairn_friction_frame *out) {
    float sum = 0.0f;
    for (int32_t i = 0; i < 4; ++i) {
        sum += cairn_float_of_word(word_at(friction, CAIRN_FRICTION_IMPULSE + 2 * i));
    }
    const uint32_t exponent = cairn_word_of_float(64.0f * sum) >> 23;
    // With its sign bit, the exponent of a negative number is above 254.
    out->step = exponent > 23 && exponent < 255 ? cairn_float_of_word((exponent - 23) << 23) : 0.0f;
}

cairn_friction_frame cairn_friction_frame_of(const uint8_t *friction, uint32_t normal) {
    cairn_friction_frame out = {.order = {0, 1, 2}};
    find_step(friction, &out);
    if (normal == CAIRN_NORMAL_UNKNOWN || out.step == 0.0f) {
        return out;
    }
    find_normal(friction, normal, out.normal);
    uint32_t last = 0;
    for (uint32_t i = 1; i < 3; ++i) {
        last = cairn_float_abs(out.normal[i]) > cairn_float_abs(out.normal[last]) ? i : last;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        out.order[i] = (last + 1 + i) % 3;
    }
    out.has_normal = true;
    return out;
}

// Rounds; 0 for what is too large, and for a NaN.
static int32_t whole(float value) {
    if (!(value > -1e9f && value < 1e9f)) {
        return 0;
    }
    return (int32_t)(value + (value < 0.0f ? -0.5f : 0.5f));
}

int32_t cairn_friction_steps(const cairn_friction_frame *frame, uint32_t word) {
    return frame->step > 0.0f ? whole(cairn_float_of_word(word) / frame->step) : 0;
}

uint32_t cairn_friction_word(const cairn_friction_frame *frame, int32_t steps) {
    return cairn_word_of_float((float)steps * frame->step);
}

int32_t cairn_friction_expected(const cairn_friction_frame *frame, const uint32_t words[3]) {
    if (!frame->has_normal) {
        return 0;
    }
    const uint32_t i = frame->order[0];
    const uint32_t k = frame->order[1];
    const float along = frame->normal[i] * cairn_float_of_word(words[i]) +
                        frame->normal[k] * cairn_float_of_word(words[k]);
    return whole((0.0f - along) / frame->normal[frame->order[2]] / frame->step);
}

uint32_t cairn_friction_normal_of(const uint8_t *friction) {
    const uint32_t words[3] = {word_at(friction, 0), word_at(friction, 1), word_at(friction, 2)};
    uint32_t best = CAIRN_NORMAL_UNKNOWN;
    uint32_t least = MISS_MAX;
    for (uint32_t normal = 1; normal <= CAIRN_NORMAL_BETWEEN && (words[0] | words[1] | words[2]);
         ++normal) {
        const cairn_friction_frame frame = cairn_friction_frame_of(friction, normal);
        const int32_t steps = cairn_friction_steps(&frame, words[frame.order[2]]);
        const int64_t miss = (int64_t)steps - cairn_friction_expected(&frame, words);
        const uint32_t size = (uint32_t)(miss < 0 ? -miss : miss);
        best = frame.has_normal && size < least ? normal : best;
        least = frame.has_normal && size < least ? size : least;
    }
    return best;
}
