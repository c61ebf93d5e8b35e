// SPDX-License-Identifier: MIT
#pragma once

#include <cairn/sim.h>

// Whether a step would change nothing but the tick, so that the rest of it may be left out: no body
// is in the awake set, and no contact can end.
bool cairn_step_is_idle(const cairn_world *world);
