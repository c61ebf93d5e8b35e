// SPDX-License-Identifier: MIT
#pragma once

#include "sim/soft_step/solver.h"
#include "sim/state/world.h"

// What the substep solver works on.
struct cairn_soft_step {
    cairn_kernel wide;
    cairn_kernel single;        // of width 1, for what found no colour
    cairn_solver_body *bodies;  // dense
    cairn_solver_drive *drives; // of those that impulses move
    uint32_t *solver_of;        // by body slot
    unsigned char *lost;        // by solver body: it has become unsound
    uint32_t *slot_of;          // by solver body, of those that impulses move
    uint32_t moving_count;      // how many these are
    uint32_t body_count;
    cairn_plan touches;
    cairn_plan joints;
    void *contact_groups;
    void *single_contact_groups;
    void *joint_groups;
    void *single_joint_groups;
    cairn_solve wide_solve;
    cairn_solve single_solve;
};

// Needs `wide` and `single`.
void cairn_soft_step_carve(
    cairn_soft_step *soft_step, cairn_carver *from, const cairn_world_def *def);
