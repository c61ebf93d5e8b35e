// SPDX-License-Identifier: MIT
#pragma once

// The bytes that the process has allocated, for cairn_storm_config.memory_bytes; NULL if the C
// library does not count them.

#include <stddef.h>
#include <stdint.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
static uint64_t allocated_bytes(void *user) {
    (void)user;
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#else
#define allocated_bytes NULL
#endif
