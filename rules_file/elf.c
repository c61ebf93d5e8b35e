// SPDX-License-Identifier: MIT
#include "rules_file/elf.h"

#include <stdbool.h>
#include <string.h>

enum { CLASS_AT = 4, ORDER_AT = 5, TYPE_AT = 16, MACHINE_AT = 18, HEADER_SIZE = 20 };
enum { CLASS_64 = 2, LITTLE_ENDIAN_FIRST = 1, TYPE_SHARED = 3 };

#if defined(__x86_64__)
#define OWN_MACHINE 62
#elif defined(__aarch64__)
#define OWN_MACHINE 183
#elif defined(__riscv)
#define OWN_MACHINE 243
#elif defined(__s390x__)
#define OWN_MACHINE 22
#elif defined(__powerpc64__)
#define OWN_MACHINE 21
#else
#define OWN_MACHINE 0 // the loader of the system decides
#endif

static uint32_t read_u16(const uint8_t *at, bool little) {
    return little ? at[0] | (uint32_t)at[1] << 8 : at[1] | (uint32_t)at[0] << 8;
}

const char *cairn_elf_refusal(const uint8_t *bytes, size_t size) {
    static const struct {
        uint32_t machine;
        const char *text;
    } others[] = {{62, "it is built for x86-64 processors, not for this one"},
        {183, "it is built for aarch64 processors, not for this one"},
        {243, "it is built for RISC-V processors, not for this one"},
        {22, "it is built for s390 processors, not for this one"},
        {21, "it is built for POWER processors, not for this one"}};
    if (size < HEADER_SIZE || memcmp(bytes, "\177ELF", 4) != 0) {
        return "it is not a shared object (ELF)";
    }
    const bool little = bytes[ORDER_AT] == LITTLE_ENDIAN_FIRST;
    const uint32_t machine = read_u16(bytes + MACHINE_AT, little);
    if (OWN_MACHINE != 0 && machine != OWN_MACHINE) {
        for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
            if (others[i].machine == machine) {
                return others[i].text;
            }
        }
        return "it is built for another kind of processor";
    }
    if (bytes[CLASS_AT] != (sizeof(void *) == 8 ? CLASS_64 : 1)) {
        return "it is built for another size of addresses (32 or 64 bits)";
    }
    return read_u16(bytes + TYPE_AT, little) == TYPE_SHARED
               ? NULL
               : "it is not a shared object: link it with -shared";
}
