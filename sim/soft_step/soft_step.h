// SPDX-License-Identifier: MIT
#pragma once

#include "sim/soft_step/workspace.h"

// Takes the arrays from the arena. Both kernels must be set before.
void cairn_soft_step_allocate(
    cairn_soft_step *soft_step, cairn_arena *from, const cairn_world_def *def);

// The parts of a step: velocities and constraints, then impulses and new poses.
void cairn_soft_step_prepare(cairn_world *world);
void cairn_soft_step_solve(cairn_world *world);
