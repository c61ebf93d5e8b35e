// SPDX-License-Identifier: MIT
#pragma once

// What the soft-step solver works on.

#include "sim/soft_step/solver.h"
#include "sim/state/world.h"

struct cairn_soft_step {
    cairn_kernel wide_kernel;
    cairn_kernel overflow_kernel;          // one lane wide, for constraints without a colour
    cairn_solver_body *bodies;             // dense
    cairn_solver_integration *integration; // by solver body, of those that impulses move
    uint32_t *solver_body_of;              // by body slot
    unsigned char *invalid;                // by solver body: 1 if its next state is out of range
    uint32_t *slot_of;                     // by solver body, of those that impulses move
    uint32_t moving_count;                 // solver bodies that impulses move; they come first
    uint32_t body_count;
    cairn_constraint_graph contact_graph;
    cairn_constraint_graph joint_graph;
    void *wide_contacts; // constraints in the layout of the kernel
    void *overflow_contacts;
    void *wide_joints;
    void *overflow_joints;
    cairn_solver_context wide_context;
    cairn_solver_context overflow_context;
};
