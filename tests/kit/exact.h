// SPDX-License-Identifier: MIT
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// A copy that is exactly as large, so that a sanitizer sees a read beyond it. To be freed.
static inline uint8_t *kit_exact_copy(const void *bytes, size_t size) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    CAIRN_ASSERT(copy != NULL);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}
