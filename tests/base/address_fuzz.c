// SPDX-License-Identifier: MIT
// Any text: refused, or printed and parsed to the same address again.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/types.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    cairn_address address;
    const bool accepted = cairn_address_parse(text, &address);
    free(text);
    if (!accepted && address.family != CAIRN_ADDRESS_NONE) {
        abort();
    }
    if (!accepted) {
        return 0;
    }
    cairn_address again;
    char printed[CAIRN_ADDRESS_TEXT_SIZE];
    if (!cairn_address_parse(cairn_address_print(&address, printed), &again) ||
        !cairn_address_equal(&address, &again)) {
        abort();
    }
    return 0;
}
