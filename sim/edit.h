// SPDX-License-Identifier: MIT
#pragma once

// Private to the room: what an operator's commands do to a world.

#include "sim/state.h"

// Of a tick's sorted commands those of the operator, which come last; returns how many come before
// them.
uint32_t cairn_edits_begin(const cairn_command *commands, uint32_t count);
// Does them one after the other. What cannot be done is left out and counted.
void cairn_edits_apply(cairn_world *world, const cairn_command *edits, uint32_t count);
