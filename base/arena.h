// SPDX-License-Identifier: MIT
#pragma once

// Hands out pieces of one allocation, each on a cache line of its own. Without memory yet it only
// adds up how much is needed: the same function then serves for measuring and for dealing out.

#include <stddef.h>

#define CAIRN_CACHE_LINE 64

typedef struct cairn_carver {
    unsigned char *memory; // NULL: only add up
    size_t at;             // bytes handed out
} cairn_carver;

static inline void *cairn_carve(cairn_carver *from, size_t count, size_t size) {
    void *piece = from->memory == NULL ? NULL : from->memory + from->at;
    from->at += (count * size + CAIRN_CACHE_LINE - 1) / CAIRN_CACHE_LINE * CAIRN_CACHE_LINE;
    return piece;
}
