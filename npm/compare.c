// SPDX-License-Identifier: MIT

// memcmp, four words at a time. The C library of WebAssembly compares bytes one by one, and a
// restore compares the whole state to copy only what differs. Compiled with -fno-builtin, so that
// the compiler does not make a call of memcmp of it.

#include <stdint.h>
#include <string.h>

#define WORDS 4

static uint64_t words_differ(const unsigned char *a, const unsigned char *b) {
    uint64_t difference = 0;
    for (size_t i = 0; i < WORDS; ++i) {
        uint64_t word_a;
        uint64_t word_b;
        __builtin_memcpy(&word_a, a + 8 * i, 8);
        __builtin_memcpy(&word_b, b + 8 * i, 8);
        difference |= word_a ^ word_b;
    }
    return difference;
}

int memcmp(const void *a, const void *b, size_t size) {
    const unsigned char *at_a = a;
    const unsigned char *at_b = b;
    while (size >= 8 * WORDS && words_differ(at_a, at_b) == 0) {
        at_a += 8 * WORDS;
        at_b += 8 * WORDS;
        size -= 8 * WORDS;
    }
    for (; size > 0; --size, ++at_a, ++at_b) {
        if (*at_a != *at_b) {
            return *at_a < *at_b ? -1 : 1;
        }
    }
    return 0;
}
