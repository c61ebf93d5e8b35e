// SPDX-License-Identifier: MIT
#include "base/random.h"

#include "base/assert.h"

static const uint64_t golden_gamma = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t cairn_random_at(uint64_t seed, uint64_t tick, uint64_t entity, uint64_t stream) {
    uint64_t value = mix(seed + golden_gamma);
    value = mix(value + golden_gamma + tick);
    value = mix(value + golden_gamma + entity);
    return mix(value + golden_gamma + stream);
}

cairn_random cairn_random_of(uint64_t seed) {
    return (cairn_random){.state = seed};
}

uint64_t cairn_random_next(cairn_random *random) {
    CAIRN_ASSERT(random != NULL);
    random->state += golden_gamma;
    return mix(random->state);
}

void cairn_random_fill(cairn_random *random, uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)cairn_random_next(random);
    }
}

uint64_t cairn_random_below(cairn_random *random, uint64_t bound) {
    CAIRN_ASSERT(bound > 0);
    // The first (2^64 mod bound) values would make small results too likely.
    const uint64_t skipped = (0 - bound) % bound;
    uint64_t value = cairn_random_next(random);
    while (value < skipped) {
        value = cairn_random_next(random);
    }
    CAIRN_ASSERT(value >= skipped);
    return value % bound;
}

float cairn_random_unit(cairn_random *random) {
    const float unit = (float)(cairn_random_next(random) >> 40) * (1.0f / 16777216.0f);
    CAIRN_ASSERT(unit < 1.0f);
    return unit;
}
