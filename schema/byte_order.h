// SPDX-License-Identifier: MIT
#pragma once

// Structs and numbers of a message are little-endian. A little-endian machine reads and writes
// vectors of them in place; a big-endian one reverses the bytes of their words. Every struct of
// schema/types.fbs is some words of 8 bytes, then some of 4.

#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
// Reverses the bytes of each word of `count` structs in place.
void cairn_byte_order_turn(void *structs, uint32_t count, size_t words_8, size_t words_4);
// Makes room for the copies of a message or chunk of `size` bytes that is about to be decoded.
void cairn_byte_order_begin(size_t size);
// A copy of these structs with their words turned. NULL if there is no memory. It lasts while the
// same thread decodes the next CAIRN_TURNED_HELD - 1 messages or chunks.
#define CAIRN_TURNED_HELD 4
const void *cairn_byte_order_copy(
    const void *structs, uint32_t count, size_t words_8, size_t words_4);
#else
static inline void cairn_byte_order_turn(
    void *structs, uint32_t count, size_t words_8, size_t words_4) {
    (void)structs, (void)count, (void)words_8, (void)words_4;
}
static inline void cairn_byte_order_begin(size_t size) {
    (void)size;
}
static inline const void *cairn_byte_order_copy(
    const void *structs, uint32_t count, size_t words_8, size_t words_4) {
    (void)count, (void)words_8, (void)words_4;
    return structs;
}
#endif
