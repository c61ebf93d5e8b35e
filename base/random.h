// SPDX-License-Identifier: MIT
#pragma once

#include <stdint.h>

// Two kinds of randomness, both exact on every machine.

// Counter based, for the simulation: the same four numbers give the same value, however often and
// in whatever order they are asked, so a re-simulated tick draws what it drew before.
// SplitMix64's finaliser (Steele, Lea, Flood 2014) over the mixed counters.
uint64_t cairn_random_at(uint64_t seed, uint64_t tick, uint64_t entity, uint64_t stream);

// A sequence, for tests, storms and the virtual network: SplitMix64.
typedef struct cairn_random {
    uint64_t state;
} cairn_random;

cairn_random cairn_random_of(uint64_t seed);
uint64_t cairn_random_next(cairn_random *random);
// Uniform in [0, bound), bound > 0; unbiased (Lemire's multiplication is not used: no 128-bit
// product on 32-bit targets; rejection instead).
uint64_t cairn_random_below(cairn_random *random, uint64_t bound);
// Uniform in [0, 1), 24 bits.
float cairn_random_unit(cairn_random *random);
