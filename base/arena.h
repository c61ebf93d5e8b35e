// SPDX-License-Identifier: MIT
#pragma once

// Hands out pieces of one allocation, each on a cache line of its own. Without memory it only adds
// up the size: one function lays out the pieces, first to measure and then to assign them.

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

#define CAIRN_CACHE_LINE 64

typedef struct cairn_arena {
    unsigned char *memory; // NULL: measure only
    size_t at;             // bytes handed out
} cairn_arena;

// The first cache line that begins in the memory, of which as many bytes must be left.
static inline void *cairn_cache_line_in(void *memory) {
    const uintptr_t past = (uintptr_t)memory % CAIRN_CACHE_LINE;
    return (unsigned char *)memory + (past == 0 ? 0 : CAIRN_CACHE_LINE - past);
}

static inline void *cairn_arena_take(cairn_arena *arena, size_t count, size_t size) {
    CAIRN_ASSERT(size > 0 && count <= (SIZE_MAX - arena->at - CAIRN_CACHE_LINE) / size);
    void *piece = arena->memory == NULL ? NULL : arena->memory + arena->at;
    arena->at += (count * size + CAIRN_CACHE_LINE - 1) / CAIRN_CACHE_LINE * CAIRN_CACHE_LINE;
    return piece;
}
