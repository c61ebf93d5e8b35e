// SPDX-License-Identifier: MIT
#pragma once

// A checksum of bytes in files: XXH3, 64 bits. It detects damage, not forgery. It is a library of
// its own (cairn_checksum), so that the simulation depends on no outside library.

#include <stddef.h>
#include <stdint.h>

// The value depends on the bytes alone. `bytes` may be NULL when `size` is 0.
uint64_t cairn_checksum(const void *bytes, size_t size);
