// SPDX-License-Identifier: MIT
#include "schema/byte_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__

typedef struct turned_arena {
    uint8_t *bytes;
    size_t capacity;
    size_t used;
} turned_arena;

static _Thread_local turned_arena arenas[CAIRN_TURNED_HELD];
static _Thread_local uint32_t current;

void cairn_byte_order_turn(void *structs, uint32_t count, cairn_byte_order_layout layout) {
    uint8_t *at = structs;
    for (uint32_t i = 0; i < count; ++i) {
        for (size_t w = 0; w < layout.words_8; ++w, at += 8) {
            uint64_t word;
            memcpy(&word, at, 8);
            word = __builtin_bswap64(word);
            memcpy(at, &word, 8);
        }
        for (size_t w = 0; w < layout.words_4; ++w, at += 4) {
            uint32_t word;
            memcpy(&word, at, 4);
            word = __builtin_bswap32(word);
            memcpy(at, &word, 4);
        }
        at += layout.bytes;
    }
}

void cairn_byte_order_begin(size_t size) {
    current = (current + 1) % CAIRN_TURNED_HELD;
    turned_arena *arena = &arenas[current];
    // Each vector aligned to 8 bytes, and a message has no more than a few.
    const size_t capacity = size + 256;
    if (arena->capacity < capacity) {
        free(arena->bytes);
        arena->bytes = malloc(capacity);
        arena->capacity = arena->bytes != NULL ? capacity : 0;
    }
    arena->used = 0;
}

const void *cairn_byte_order_copy(
    const void *structs, uint32_t count, cairn_byte_order_layout layout) {
    turned_arena *arena = &arenas[current];
    if (layout.words_8 + layout.words_4 == 0) {
        return structs;
    }
    const size_t size = count * (8 * layout.words_8 + 4 * layout.words_4 + layout.bytes);
    const size_t begin = (arena->used + 7) & ~(size_t)7;
    if (begin + size > arena->capacity) {
        return NULL;
    }
    uint8_t *copy = arena->bytes + begin;
    memcpy(copy, structs, size);
    cairn_byte_order_turn(copy, count, layout);
    arena->used = begin + size;
    CAIRN_ASSERT(arena->used <= arena->capacity);
    return copy;
}

#else
// Nothing to reverse. A translation unit must not be empty.
typedef int cairn_byte_order_is_that_of_the_wire;
#endif
