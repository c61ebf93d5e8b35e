// SPDX-License-Identifier: MIT
#pragma once

// What the commands of an operator do to a world.

#include "sim/state/world.h"

// Applies the operator's commands, which are the last of a tick's sorted commands, in order. A
// command that cannot be applied is skipped and counted. Returns the number of commands before
// them.
uint32_t cairn_edits_apply(cairn_world *world, const cairn_command *commands, uint32_t count);
