// SPDX-License-Identifier: MIT
#pragma once

// Codes the commands of a tick as the difference to those of the tick before: a player that holds
// what it held costs a twentieth of a bit, a player that is absent nothing. All probabilities are
// constant, so a stream needs no more than the commands before it. docs/PROTOCOL.md, "Commands of a
// tick", has the layout.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compress/range_coder.h"
#include <cairn/types.h>

// A stream of ticks, one after the other. Encoder and decoder run the same code.
typedef struct cairn_command_coder {
    cairn_range_coder range;
    bool ok; // false: the bytes are no commands
} cairn_command_coder;

// No tick needs more bytes.
#define CAIRN_TICK_COMMANDS_SIZE_MAX (48 * (CAIRN_COMMANDS_PER_TICK_MAX + 1))

cairn_command_coder cairn_command_encoder(uint8_t *bytes, size_t size);
cairn_command_coder cairn_command_decoder(const uint8_t *bytes, size_t size);

// The sorted commands of a tick, at most CAIRN_COMMANDS_PER_TICK_MAX.
typedef struct cairn_tick_commands {
    const cairn_command *commands; // NULL is allowed if `count` is 0
    uint32_t count;
} cairn_tick_commands;

// `before`: the tick before; without commands: the tick is coded by itself.
void cairn_commands_encode(
    cairn_command_coder *coder, cairn_tick_commands before, cairn_tick_commands tick);
// Fills `out` with sorted commands and returns how many: at most `most`, which is at least
// before.count. Ranges are not checked. If `ok` is false afterwards, the answer is 0.
uint32_t cairn_commands_decode(
    cairn_command_coder *coder, cairn_tick_commands before, cairn_command *out, uint32_t most);
// The bytes written, 0 are possible; SIZE_MAX: there was no room.
size_t cairn_command_encoder_finish(cairn_command_coder *coder);

// The input of a player in a tick: its INPUT and further parts. `count` 0: it has none.
cairn_tick_commands cairn_input_of_slot(cairn_tick_commands tick, uint32_t slot);
