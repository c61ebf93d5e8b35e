// SPDX-License-Identifier: MIT
#pragma once

// A second build of the simulation, compiled with contraction (fused multiply-add): it computes the
// results of a client that was compiled without -ffp-contract=off. Worlds belong to the first
// build; only the step differs.

#include <stdbool.h>

#include "sim/debug/trace.h"

// Whether this CPU has the instructions and this program was built with them.
bool cairn_fused_available(void);
// As the functions of cairn/sim.h and sim/debug/trace.h. Only if available. The first also steps a
// world that is already traced: the tests of broken clients do so.
void cairn_fused_step(cairn_world *world, const cairn_command *commands, uint32_t count);
void cairn_fused_step_traced(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace *out);
cairn_frame *cairn_fused_step_frozen(
    cairn_world *world, const cairn_command *commands, uint32_t count, uint32_t point);
