// SPDX-License-Identifier: MIT
#pragma once

#include <cairn/sim.h>

// Whether a step would change nothing but the tick, so that the rest of it may be left out: no body
// is in the awake set, and no contact can end.
bool cairn_step_is_idle(const cairn_world *world);

// The first part of a step, for a copy of a world that is then thrown away: up to the rows of the
// PGS solver, whichever solver the world has. False: idle, and there are no rows.
bool cairn_step_prepare_rows(
    cairn_world *world, const cairn_command *commands, uint32_t command_count);
