// SPDX-License-Identifier: MIT
#pragma once

// Private to the room: what an operator's commands do to a world.

#include "sim/state/world.h"

// Does those of a tick's sorted commands that are the operator's, which come last, one after the
// other; what cannot be done is left out and counted. Returns how many come before them.
uint32_t cairn_edits_apply(cairn_world *world, const cairn_command *commands, uint32_t count);
