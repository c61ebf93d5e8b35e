// SPDX-License-Identifier: MIT
#pragma once

// A checksum of bytes in files, against damage and not against forgery: XXH3, 64 bits. It stands
// in a library of its own (cairn_checksum), so that the simulation needs no outside one.

#include <stddef.h>
#include <stdint.h>

// The value depends on the bytes alone. `bytes` may be NULL when `size` is 0.
uint64_t cairn_checksum(const void *bytes, size_t size);
