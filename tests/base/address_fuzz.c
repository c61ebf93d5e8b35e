// SPDX-License-Identifier: MIT
// Any text is refused, or its address prints as a text that parses to the same address.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/types.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1);
    CAIRN_ASSERT(text != NULL);
    memcpy(text, bytes, size);
    text[size] = '\0';
    cairn_address address;
    const bool accepted = cairn_address_parse(text, &address);
    free(text);
    if (!accepted) {
        CAIRN_ASSERT(address.family == CAIRN_ADDRESS_NONE);
        return 0;
    }
    cairn_address again;
    char printed[CAIRN_ADDRESS_TEXT_SIZE];
    CAIRN_ASSERT(cairn_address_parse(cairn_address_print(&address, printed), &again));
    CAIRN_ASSERT(cairn_address_equal(&address, &again));
    return 0;
}
