// SPDX-License-Identifier: MIT
#include "base/checksum.h"

#include <xxhash.h>

uint64_t cairn_checksum(const void *bytes, size_t size, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, size, seed);
}
