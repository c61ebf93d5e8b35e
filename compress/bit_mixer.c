// SPDX-License-Identifier: MIT
#include "compress/bit_mixer.h"

#include <string.h>

#include "base/assert.h"

// A third of 65536 and three tenths more: counters estimate too carefully.
#define WEIGHT_FIRST 28400

// Interpolates linearly between points half a unit apart. x: from -2047 to 2047.
static cairn_probability squash(int32_t x) {
    static const uint16_t points[33] = {22, 36, 60, 98, 162, 267, 439, 720, 1179, 1921, 3108, 4971,
        7812, 11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565, 62428, 63615, 64357,
        64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514};
    CAIRN_ASSERT(x >= -CAIRN_MIXER_STRETCH_MAX && x <= CAIRN_MIXER_STRETCH_MAX);
    const uint32_t from_first = (uint32_t)(x + 2048);
    const uint32_t i = from_first >> 7;
    const uint32_t part = from_first & 127;
    const uint32_t p = (points[i] * (128 - part) + points[i + 1] * part + 64) >> 7;
    const uint32_t least = p < CAIRN_MIXER_LIKELY_MIN ? CAIRN_MIXER_LIKELY_MIN : p;
    const uint32_t most = 65536 - CAIRN_MIXER_LIKELY_MIN;
    return (cairn_probability)(least > most ? most : least);
}

void cairn_bit_mixer_init(cairn_bit_mixer *mixer) {
    for (int32_t x = -CAIRN_MIXER_STRETCH_MAX; x <= CAIRN_MIXER_STRETCH_MAX; ++x) {
        mixer->squashed[x + 2048] = squash(x);
    }
    // For each probability the least x whose squashed value reaches it.
    int32_t x = -CAIRN_MIXER_STRETCH_MAX;
    for (uint32_t i = 0; i < 4096; ++i) {
        while (x < CAIRN_MIXER_STRETCH_MAX && mixer->squashed[x + 2048] < i << 4) {
            x += 1;
        }
        mixer->stretched[i] = (int16_t)x;
    }
    for (uint32_t i = 0; i < 256; ++i) {
        mixer->gains[i] = (uint16_t)(65536 / (i + 2));
    }
    mixer->epoch = UINT8_MAX;
    cairn_bit_mixer_reset(mixer);
}

void cairn_bit_mixer_reset(cairn_bit_mixer *mixer) {
    if (mixer->epoch == UINT8_MAX) {
        memset(mixer->counters, 0, sizeof mixer->counters);
        mixer->epoch = 0;
    }
    mixer->epoch += 1;
    for (uint32_t i = 0; i < CAIRN_MIXER_SETS; ++i) {
        for (uint32_t k = 0; k < CAIRN_MIXER_INPUTS; ++k) {
            mixer->weights[i][k] = WEIGHT_FIRST;
        }
    }
}
