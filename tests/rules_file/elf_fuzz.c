// SPDX-License-Identifier: MIT
// Shared objects that somebody hands to a program: their tables may say anything.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "rules_file/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    (void)cairn_elf_refusal(bytes, size);
    for (uint32_t i = 0; i < 64; ++i) {
        const char *name = cairn_elf_import(bytes, size, i);
        if (name == NULL) {
            break;
        }
        CAIRN_ASSERT(strlen(name) < size);
    }
    return 0;
}
