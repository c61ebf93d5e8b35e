// SPDX-License-Identifier: MIT
#pragma once

// What a vector of commands must keep, in TICKS and in recordings. A part of
// schema/message_check.h.

#include "schema/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

// Each for itself: first all floats, then kinds, slots and ranges.
cairn_decode_refusal cairn_wire_commands_check(const cairn_wire_command *commands, uint32_t count);
// Whether `a` may stand before `b` in a tick.
bool cairn_wire_commands_in_order(const cairn_wire_command *a, const cairn_wire_command *b);

#ifdef __cplusplus
}
#endif
