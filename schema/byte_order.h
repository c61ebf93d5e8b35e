// SPDX-License-Identifier: MIT
#pragma once

// Structs and numbers of a message are little-endian. A little-endian machine reads and writes
// vectors of them in place; a big-endian one reverses the bytes of their words. Every struct of
// schema/types.fbs is some words of 8 bytes, then some of 4.

#include <stddef.h>
#include <stdint.h>

// Two places for turned copies, so that a message and a chunk can be held side by side. They are
// the thread's own.
typedef enum cairn_turned {
    CAIRN_TURNED_MESSAGE = 0,
    CAIRN_TURNED_CHUNK = 1,
    CAIRN_TURNED_COUNT
} cairn_turned;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
// Reverses the bytes of each word of `count` structs in place.
void cairn_byte_order_turn(void *structs, uint32_t count, size_t words_8, size_t words_4);
// Forgets the copies in this place and makes room for those of a message of `size` bytes; the
// copies that follow go there.
void cairn_byte_order_begin(cairn_turned place, size_t size);
// A copy of these structs with their words turned; it lasts until the next begin. NULL if there is
// no memory.
const void *cairn_byte_order_copy(
    const void *structs, uint32_t count, size_t words_8, size_t words_4);
#else
static inline void cairn_byte_order_turn(
    void *structs, uint32_t count, size_t words_8, size_t words_4) {
    (void)structs, (void)count, (void)words_8, (void)words_4;
}
static inline void cairn_byte_order_begin(cairn_turned place, size_t size) {
    (void)place, (void)size;
}
static inline const void *cairn_byte_order_copy(
    const void *structs, uint32_t count, size_t words_8, size_t words_4) {
    (void)count, (void)words_8, (void)words_4;
    return structs;
}
#endif
