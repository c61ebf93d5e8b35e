// SPDX-License-Identifier: MIT
#pragma once

// The inputs of an INPUT, after the head of its payload: each is coded like a tick of commands
// (compress/command_coder.h) in slot 0, against the one before.

#include "compress/command_coder.h"
#include "schema/input_payload.h"

// Room for any payload of an INPUT.
#define CAIRN_INPUT_PAYLOAD_SIZE_MAX                                                               \
    (CAIRN_INPUT_HEAD_SIZE_MAX + 48 * CAIRN_INPUT_COMMANDS_MAX * CAIRN_INPUTS_PER_MESSAGE_MAX)

// Writes a payload. `inputs` has head->parts structs for each of head->input_count inputs, of
// consecutive ticks from head->first_tick on. `base`: the player's confirmed input if head->based,
// in any slot. Returns its size.
size_t cairn_input_payload_write(const cairn_input_head *head, const cairn_wire_input *inputs,
    cairn_tick_commands base, uint8_t bytes[CAIRN_INPUT_PAYLOAD_SIZE_MAX]);
// Reads the inputs that follow the head of a payload. False: the bytes are malformed, or a value of
// an input is out of range; `out` is undefined then.
bool cairn_input_payload_read(const cairn_input_head *head, const uint8_t *bytes, size_t size,
    cairn_tick_commands base,
    cairn_wire_input out[CAIRN_INPUTS_PER_MESSAGE_MAX * CAIRN_INPUT_COMMANDS_MAX]);
