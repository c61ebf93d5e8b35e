// SPDX-License-Identifier: MIT
#pragma once

// Private to the room: the substep solver. Contacts and joints become constraints on a dense array
// of solver bodies, in groups of as many as the CPU has lanes; groups of one colour share no moving
// body, so their order, and whose hands they are in, changes no bit.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/constraint/graph.h"
#include "sim/constraint/solver_manifold.h"
#include <cairn/sim.h>

typedef struct cairn_motion cairn_motion;
typedef struct cairn_body cairn_body;
typedef struct cairn_contact cairn_contact;
typedef struct cairn_joint cairn_joint;

// What a constraint reads and writes of a body: rows of eight floats (sim/math/lanes.h).
typedef struct cairn_solver_body {
    float linear_velocity[3];
    float inverse_mass;
    float angular_velocity[3];
    float zero;
    float moved[3]; // m, since the step began
    float zero_moved;
    float turned[3]; // rad, likewise, as a rotation vector
    float zero_turned;
    float inverse_inertia[6]; // world axes at the step's start: xx, yy, zz, xy, xz, yz
    float zero_inertia[2];
} cairn_solver_body;

// What drives a body through the substeps; only loops over bodies read it.
// Rows like those of a solver body, linear part first; at the inverse mass's place a gain of 0 and
// a factor of 1.
typedef struct cairn_solver_drive {
    float gain[8]; // m/s and rad/s, of forces and gravity in one substep
    float kept[8]; // factors of damping
    float free[8]; // m/s and rad/s, the velocity of this substep before any impulse
} cairn_solver_drive;

// A soft constraint (Catto, "Soft Constraints", GDC 2011): a spring and damper given by frequency
// and damping ratio, integrated implicitly. A velocity row asks for -rate * position error and gets
// mass_scale of the impulse that would be exact, less impulse_scale of what it has.
typedef struct cairn_softness {
    float rate; // 1/s
    float mass_scale;
    float impulse_scale;
} cairn_softness;

// All that the kernels read: arrays of the scratch, and the numbers of this step.
typedef struct cairn_solve {
    cairn_motion *motions;     // by body slot; only `finish` writes
    const cairn_body *cold;    // by body slot
    cairn_solver_body *bodies; // dense; those from moving_count on are read only
    uint32_t moving_count;
    cairn_solver_drive *drives; // of those that impulses move
    const uint32_t *slot_of;    // by solver body, likewise
    unsigned char *lost;        // by solver body: 1 where it is or would be unsound
    uint32_t substeps;
    cairn_vec3 gravity; // m/s^2
    uint32_t warm;      // 0 or 1: start from the impulses of the last step
    const cairn_link *touches;
    const uint32_t *touch_order;
    const cairn_patch *patches;    // by link.patch
    cairn_contact *contacts;       // by link.element
    void *contact_groups;          // the kernel's own
    const cairn_link *joint_links; // joints of every kind
    const uint32_t *joint_order;
    cairn_joint *joints; // by link.element
    void *joint_groups;
    float h; // s, of a substep
    float inverse_h;
    cairn_softness soft;       // contacts between moving bodies
    cairn_softness soft_fixed; // contacts with one that nothing moves
    cairn_softness soft_joint;
    float restitution_threshold; // m/s
} cairn_solve;

// Works on groups begin .. end - 1.
typedef void cairn_kernel_pass(const cairn_solve *solve, uint32_t begin, uint32_t end);

// What is done with the groups of contacts, or of joints, in the order of a step.
typedef struct cairn_passes {
    size_t group_size; // bytes
    cairn_kernel_pass *prepare;
    cairn_kernel_pass *warm_start; // gives the impulses of the last step
    cairn_kernel_pass *push;       // removes position error
    cairn_kernel_pass *relax;      // takes away the speed that pushing gave
    cairn_kernel_pass *bounce;     // NULL where nothing bounces
    cairn_kernel_pass *store;
} cairn_passes;

// What is done with solver bodies begin .. end - 1, in the order of a step.
typedef struct cairn_body_passes {
    cairn_kernel_pass *fill;        // from the block; marks as lost what forces would make unsound
    cairn_kernel_pass *speed_first; // forces and damping of the first substep
    cairn_kernel_pass *speed_again; // of a later one, and the impulses of the last one again
    cairn_kernel_pass *shift;       // how far the velocities carry the bodies in a substep
    cairn_kernel_pass *finish;      // new poses into the block, but for what has become lost
} cairn_body_passes;

// One width.
typedef struct cairn_kernel {
    uint32_t lanes;
    const cairn_body_passes *bodies;
    const cairn_passes *contacts;
    const cairn_passes *joints;
} cairn_kernel;

// The kernel of a width, as fast as this CPU allows; 0: the width that suits it best. False for a
// width that there is not.
bool cairn_kernel_of(uint32_t lanes, cairn_kernel *out);
