// SPDX-License-Identifier: MIT
#pragma once

// Structs and numbers of a message are little-endian. A little-endian machine reads and writes
// vectors of them in place; a big-endian one reverses the bytes of their words. Every struct of
// the schema is some words of 8 bytes, then some of 4, then some bytes.

#include <stddef.h>
#include <stdint.h>

typedef struct cairn_byte_order_layout {
    size_t words_8;
    size_t words_4;
    size_t bytes;
} cairn_byte_order_layout;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
// Reverses the bytes of each word of `count` structs in place.
void cairn_byte_order_turn(void *structs, uint32_t count, cairn_byte_order_layout layout);
// Makes room for the copies of a message or chunk of `size` bytes that is about to be decoded.
void cairn_byte_order_begin(size_t size);
// A copy of these structs with the bytes of their words reversed. NULL if there is no memory. It
// lasts while the same thread decodes the next CAIRN_TURNED_HELD - 1 messages or chunks.
#define CAIRN_TURNED_HELD 4
const void *cairn_byte_order_copy(
    const void *structs, uint32_t count, cairn_byte_order_layout layout);
#else
static inline void cairn_byte_order_turn(
    void *structs, uint32_t count, cairn_byte_order_layout layout) {
    (void)structs, (void)count, (void)layout;
}
static inline void cairn_byte_order_begin(size_t size) {
    (void)size;
}
static inline const void *cairn_byte_order_copy(
    const void *structs, uint32_t count, cairn_byte_order_layout layout) {
    (void)count, (void)layout;
    return structs;
}
#endif
