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

static uint64_t read_word(const uint8_t *at, uint32_t size, bool little) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; ++i) {
        value |= (uint64_t)at[i] << 8 * (little ? i : size - 1 - i);
    }
    return value;
}

// Offsets in a header of 64 bytes, a section header of 64 and a symbol of 24.
enum { SECTIONS_AT = 40, SECTION_SIZE_AT = 58, SECTION_COUNT_AT = 60, FILE_HEADER_SIZE = 64 };
enum { KIND_AT = 4, OFFSET_AT = 24, SIZE_AT = 32, LINK_AT = 40, SECTION_HEADER_SIZE = 64 };
enum { SYMBOL_SECTION_AT = 6, SYMBOL_SIZE = 24, KIND_DYNAMIC_SYMBOLS = 11, BINDING_WEAK = 2 };

typedef struct section {
    const uint8_t *at; // NULL: it is not in the file
    size_t size;
    uint32_t kind;
    uint32_t link;
} section;

// How many headers of sections the file holds, whatever it says.
static uint64_t section_count(const uint8_t *bytes, size_t size) {
    const bool little = bytes[ORDER_AT] == LITTLE_ENDIAN_FIRST;
    const uint64_t table = read_word(bytes + SECTIONS_AT, 8, little);
    const uint64_t count = read_word(bytes + SECTION_COUNT_AT, 2, little);
    if (read_word(bytes + SECTION_SIZE_AT, 2, little) != SECTION_HEADER_SIZE || table > size) {
        return 0;
    }
    const uint64_t whole = (size - table) / SECTION_HEADER_SIZE;
    return count < whole ? count : whole;
}

static section section_of(const uint8_t *bytes, size_t size, uint64_t index) {
    if (index >= section_count(bytes, size)) {
        return (section){.at = NULL};
    }
    const bool little = bytes[ORDER_AT] == LITTLE_ENDIAN_FIRST;
    const uint64_t table = read_word(bytes + SECTIONS_AT, 8, little);
    const uint8_t *header = bytes + table + index * SECTION_HEADER_SIZE;
    const uint64_t offset = read_word(header + OFFSET_AT, 8, little);
    const uint64_t length = read_word(header + SIZE_AT, 8, little);
    const bool inside = offset <= size && length <= size - offset;
    return (section){.at = inside ? bytes + offset : NULL,
        .size = inside ? (size_t)length : 0,
        .kind = (uint32_t)read_word(header + KIND_AT, 4, little),
        .link = (uint32_t)read_word(header + LINK_AT, 4, little)};
}

static section dynamic_symbols(const uint8_t *bytes, size_t size) {
    const uint64_t count = section_count(bytes, size);
    for (uint64_t i = 0; i < count; ++i) {
        const section found = section_of(bytes, size, i);
        if (found.kind == KIND_DYNAMIC_SYMBOLS && found.at != NULL) {
            return found;
        }
    }
    return (section){.at = NULL};
}

const char *cairn_elf_import(const uint8_t *bytes, size_t size, uint32_t index) {
    if (size < FILE_HEADER_SIZE || bytes[CLASS_AT] != CLASS_64) {
        return NULL;
    }
    const bool little = bytes[ORDER_AT] == LITTLE_ENDIAN_FIRST;
    const section symbols = dynamic_symbols(bytes, size);
    const section names = section_of(bytes, size, symbols.link);
    uint32_t found = 0;
    // The first symbol is none. Weak ones may stay without an address.
    for (size_t i = 1; symbols.at != NULL && i < symbols.size / SYMBOL_SIZE; ++i) {
        const uint8_t *symbol = symbols.at + i * SYMBOL_SIZE;
        const size_t name = (size_t)read_word(symbol, 4, little);
        const bool needed = read_word(symbol + SYMBOL_SECTION_AT, 2, little) == 0 &&
                            symbol[KIND_AT] >> 4 != BINDING_WEAK;
        if (needed && found++ == index) {
            const bool whole = names.at != NULL && name < names.size &&
                               memchr(names.at + name, '\0', names.size - name) != NULL;
            return whole ? (const char *)names.at + name : NULL;
        }
    }
    return NULL;
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
