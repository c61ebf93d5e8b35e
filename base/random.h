// SPDX-License-Identifier: MIT
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <cairn/rules.h>

// A sequence of random numbers, equal on every machine, for tests, storms and the virtual network:
// SplitMix64. For rules and the simulation there is cairn_random_at (cairn/rules.h).
typedef struct cairn_random {
    uint64_t state;
} cairn_random;

cairn_random cairn_random_of(uint64_t seed);
uint64_t cairn_random_next(cairn_random *random);
// One number per byte.
void cairn_random_fill(cairn_random *random, uint8_t *bytes, size_t size);
// Uniform in [0, bound), bound > 0; unbiased (Lemire's multiplication is not used: no 128-bit
// product on 32-bit targets; rejection instead).
uint64_t cairn_random_below(cairn_random *random, uint64_t bound);
// Uniform in [0, 1), 24 bits.
float cairn_random_unit(cairn_random *random);
