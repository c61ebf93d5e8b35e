// SPDX-License-Identifier: MIT
#pragma once

// A made-up state for the packer: bodies with free slots between them, and contacts that name them.

#include <stddef.h>
#include <stdint.h>

#include "base/word_group.h"

enum { WORDS_BODIES = 60, WORDS_CONTACTS = 90, WORDS_GROUPS = 7, WORDS_SIZE_MAX = 32 * 1024 };

typedef struct words_state {
    cairn_word_group groups[WORDS_GROUPS];
    uint8_t bytes[WORDS_SIZE_MAX];
    size_t size;
} words_state;

// Only integers, and floats of operations that are exactly rounded: every machine makes the same.
void words_make(words_state *out, uint64_t seed);
