// SPDX-License-Identifier: MIT
#include "base/checksum.h"

// All of it is compiled into this file, so programs that link cairn need no libxxhash.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/assert.h"

uint64_t cairn_checksum(const void *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    return XXH3_64bits(bytes, size);
}
