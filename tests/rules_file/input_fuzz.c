// SPDX-License-Identifier: MIT
// Declared inputs: a layout and commands that say anything.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/game_input.h"

// A layout from a server is refused, or every input that it takes is packed as it came.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    cairn_input_field fields[CAIRN_INPUT_FIELDS_MAX + 1];
    cairn_command commands[CAIRN_INPUT_COMMANDS_MAX];
    if (size < 1 + sizeof commands) {
        return 0;
    }
    const uint32_t count = bytes[0] % (CAIRN_INPUT_FIELDS_MAX + 2);
    memcpy(commands, bytes + 1, sizeof commands);
    bytes += 1 + sizeof commands;
    size -= 1 + sizeof commands;
    if (size < count * sizeof *fields) {
        return 0;
    }
    memcpy(fields, bytes, count * sizeof *fields);
    if (cairn_input_layout_refusal(fields, count) != NULL) {
        return 0;
    }
    uint32_t input[CAIRN_INPUT_FIELDS_MAX] = {0};
    const uint32_t parts = cairn_input_parts(fields, count);
    CAIRN_ASSERT(parts >= 1 && parts <= CAIRN_INPUT_COMMANDS_MAX);
    const cairn_input_refusal why = cairn_input_unpack(fields, count, commands, parts, input);
    CAIRN_ASSERT(cairn_input_refusal_text(why)[0] != '\0' || why == CAIRN_INPUT_TAKEN);
    if (why == CAIRN_INPUT_TAKEN && count > 0) {
        uint32_t again[CAIRN_INPUT_FIELDS_MAX];
        cairn_command packed[CAIRN_INPUT_COMMANDS_MAX];
        memcpy(packed, commands, sizeof packed);
        CAIRN_ASSERT(cairn_input_pack(fields, count, input, packed) == CAIRN_INPUT_TAKEN);
        // A bound far from the width of its range leaves several steps with one value.
        CAIRN_ASSERT(cairn_input_unpack(fields, count, packed, parts, again) == CAIRN_INPUT_TAKEN);
        CAIRN_ASSERT(memcmp(input, again, 4 * (size_t)count) == 0);
    }
    return 0;
}
