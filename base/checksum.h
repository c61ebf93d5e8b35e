// SPDX-License-Identifier: MIT
#pragma once

// XXH3, 64 bits: finds damage in files, resists nobody. Its own library (cairn_checksum), so that
// the simulation, which links base, needs nothing from outside.

#include <stddef.h>
#include <stdint.h>

// Checksum of `size` bytes under `seed`; equal on every machine.
uint64_t cairn_checksum(const void *bytes, size_t size, uint64_t seed);
