// SPDX-License-Identifier: MIT
#include "base/checksum.h"

#include <xxhash.h>

uint64_t cairn_checksum(const void *bytes, size_t size) {
    return XXH3_64bits(bytes, size);
}
