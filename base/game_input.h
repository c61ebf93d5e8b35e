// SPDX-License-Identifier: MIT
#pragma once

// The declared input of rules (cairn_rules.input) as commands: the fields' bits, one after the
// other, in one to three parts of 22 bytes.

#include <stdbool.h>

#include "base/random.h"
#include <cairn/rules.h>

#define CAIRN_INPUT_PART_SIZE 22

// Why these fields cannot be an input's layout; NULL: they can. No fields: the default layout.
const char *cairn_input_layout_refusal(const cairn_input_field *fields, uint32_t count);

// Commands, and structs of the wire, of an input with these fields: 1 .. CAIRN_INPUT_COMMANDS_MAX.
uint32_t cairn_input_parts(const cairn_input_field *fields, uint32_t count);
// The same of the input of rules, which may be NULL.
uint32_t cairn_input_parts_of(const cairn_rules *rules);

// The kind of part 0, 1 or 2, and whether a command is a part of an input.
cairn_command_kind cairn_input_part_kind(uint32_t part);
bool cairn_command_is_input(const cairn_command *command);

// Writes buttons, move and aim of cairn_input_parts commands; the rest of them is left as it is.
// `input` has 4 bytes for each field. CAIRN_INPUT_TAKEN, or why nothing was written.
cairn_input_refusal cairn_input_pack(const cairn_input_field *fields, uint32_t count,
    const void *input, cairn_command out[CAIRN_INPUT_COMMANDS_MAX]);
// Reads what cairn_input_pack wrote. `out` has 4 bytes for each field and may be NULL. If the
// commands cannot come from cairn_input_pack, the result says why and *out is unchanged.
cairn_input_refusal cairn_input_unpack(const cairn_input_field *fields, uint32_t count,
    const cairn_command *commands, uint32_t command_count, void *out);

// A valid input, uniform in each field: for storms, bots and trials. 4 bytes for each field.
void cairn_input_draw(
    const cairn_input_field *fields, uint32_t count, cairn_random *random, void *out);
