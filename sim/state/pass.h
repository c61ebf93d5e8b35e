// SPDX-License-Identifier: MIT
#pragma once

// Parts of a substep.
typedef enum cairn_pass {
    CAIRN_PASS_NONE = 0,             // not within the solver
    CAIRN_PASS_INTEGRATE_VELOCITIES, // forces and damping, in the first substep the last step's
                                     // impulses, too
    CAIRN_PASS_SOLVE_BIASED,         // position error is removed
    CAIRN_PASS_INTEGRATE_POSITIONS,  // velocities carry the bodies
    CAIRN_PASS_RELAX,                // the speed that pushing gave is taken away
    CAIRN_PASS_RESTITUTION,          // after the last substep
    CAIRN_PASS_SWEEP, // a sweep of the PGS solver over all rows; sweep 0 is the warm start
    CAIRN_PASS_COUNT
} cairn_pass;
