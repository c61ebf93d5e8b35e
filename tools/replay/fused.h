// SPDX-License-Identifier: MIT
#pragma once

// The simulation once more, as a compiler makes it that fuses products into sums: what a client
// that was built without -ffp-contract=off computes. Worlds are those of the other build; only
// steps differ.

#include <stdbool.h>

#include "sim/debug/trace.h"

// Whether this machine has the instructions and this program was built with them.
bool cairn_fused_available(void);
// As the functions of include/cairn/sim.h and sim/debug/trace.h. Not to be called where it is not
// available.
void cairn_fused_step(cairn_world *world, const cairn_command *commands, uint32_t count);
void cairn_fused_step_traced(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace *out);
cairn_frame *cairn_fused_step_frozen(
    cairn_world *world, const cairn_command *commands, uint32_t count, uint32_t point);
