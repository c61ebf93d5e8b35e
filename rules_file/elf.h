// SPDX-License-Identifier: MIT
#pragma once

// Shared objects in the ELF format (System V ABI, chapter 4): what can be said of a file without
// loading it.

#include <stddef.h>
#include <stdint.h>

// NULL if this program can load the shared object that begins with `bytes`; otherwise why it
// cannot, static.
const char *cairn_elf_refusal(const uint8_t *bytes, size_t size);

// Number `index` of the names that the shared object needs of others, from its table of dynamic
// symbols. NULL: there are not as many, or the file ends before what its tables say. The bytes are
// checked; the text lies in them. Only of 64-bit files of this machine (cairn_elf_refusal).
const char *cairn_elf_import(const uint8_t *bytes, size_t size, uint32_t index);
