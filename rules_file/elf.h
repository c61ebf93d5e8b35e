// SPDX-License-Identifier: MIT
#pragma once

// Shared objects in the ELF format (System V ABI, chapter 4): what can be said of a file without
// loading it.

#include <stddef.h>
#include <stdint.h>

// NULL if this program can load the shared object that begins with `bytes`; otherwise why it
// cannot, static.
const char *cairn_elf_refusal(const uint8_t *bytes, size_t size);
