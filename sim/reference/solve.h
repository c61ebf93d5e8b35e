// SPDX-License-Identifier: MIT
#pragma once

// Solving a system by the method that the options name.

#include "sim/reference/method.h"

// `direct`: also what the direct method needs, 30 MB.
void cairn_solve_allocate(
    cairn_solve_work *work, cairn_arena *from, uint32_t row_capacity, bool direct);

// `x`: impulses by row, to start from and found. The system is prepared.
cairn_solve_report cairn_solve(
    cairn_mlcp *system, const cairn_solve_options *options, cairn_solve_work *work, double *x);
