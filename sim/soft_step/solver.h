// SPDX-License-Identifier: MIT
#pragma once

// The soft-step solver. Contacts and joints become wide constraints, one of each lane, on a dense
// array of solver bodies. Wide constraints of one colour share no moving body, so neither their
// order nor the thread that solves them changes a bit of the result.

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/constraint/graph.h"
#include "sim/constraint/solver_manifold.h"
#include "sim/state/awake_set.h"
#include <cairn/sim.h>

typedef struct cairn_motion cairn_motion;
typedef struct cairn_body cairn_body;
typedef struct cairn_contact cairn_contact;
typedef struct cairn_joint cairn_joint;

// The part of a body that constraints read and write: rows of eight floats (sim/math/lanes.h).
typedef struct cairn_solver_body {
    float linear_velocity[3];
    float inverse_mass;
    float angular_velocity[3];
    float padding;
    float delta_position[3]; // m, since the step began
    float position_padding;
    float delta_rotation[3]; // rad, since the step began, as a rotation vector
    float rotation_padding;
    float inverse_inertia[6]; // world axes, at the start of the step or of a turning body now: xx,
                              // yy, zz, xy, xz, yz
    uint32_t linear_locks;    // bit set: axes of the world along which the body does not move
    float closing; // s/m: of a link of an articulation, 1 / CAIRN_CLOSING_SPEED_MAX; else 0
} cairn_solver_body;

// The integration parameters of a body, in rows like the velocity row of a solver body: linear part
// first; in the place of the inverse mass a change of 0 and a factor of 1. Only loops over bodies
// read them.
typedef struct cairn_solver_integration {
    float velocity_change[8];        // m/s and rad/s, by forces and gravity in one substep
    float damping_factor[8];         // of the velocity, in one substep
    float unconstrained_velocity[8]; // m/s and rad/s, in this substep before any impulse
    // Where there are joints, m/s and rad/s: while they are relaxed, the velocity before; otherwise
    // the part of what the last relax pass changed with which the next one starts.
    float relax_change[8];
} cairn_solver_integration;

// Like the velocity row of a solver body.
typedef struct cairn_impact_velocity {
    float row[8];
} cairn_impact_velocity;

// What a contact does in a round of impacts (impact_energy.c). Products of impulses and sums of
// velocities, N m: twice an energy.
typedef struct cairn_impact_work {
    uint32_t round;    // it took part in; the rest is of that round
    uint32_t limited;  // 0 or 1: its impacts win energy, together with those that meet them
    float bounced;     // of the normal impulses and the velocities of the bounce
    float gain;        // of Newton's impulse p
    float mixed;       // of p and the reflected impulse, each with the motion of the other
    float reflected;   // of the reflected impulse
    float stop;        // of the impulse that stops the approach, with the motion before it
    float stop_change; // of that impulse and the change that it makes
    float scale;       // of it at most, so that the reflected one wins nothing
    float share;       // of the reflected impulse in the mean
} cairn_impact_work;

// A turning body: its inertia is updated to its pose in every substep (turning_inertia.c). Rows of
// eight floats, in world axes.
typedef struct cairn_turning_body {
    float inverse_inertia0[6]; // at the start of the step
    uint32_t body;             // solver body
    uint32_t unused;
    float inertia0[8];
    float inertia[8]; // now
} cairn_turning_body;

// A soft constraint (Catto, "Soft Constraints", GDC 2011): a spring and damper given by frequency
// and damping ratio, integrated implicitly. A velocity row asks for -rate * position error and gets
// mass_scale of the impulse that would be exact, less impulse_scale of its accumulated impulse.
typedef struct cairn_softness {
    float rate; // 1/s
    float mass_scale;
    float impulse_scale;
} cairn_softness;

// m/s: joints that end at links close gaps so fast at most. What no pose of the links closes would
// otherwise be pulled ever harder.
#define CAIRN_CLOSING_SPEED_MAX 1.0f
// A bit that no set of lanes has.
#define CAIRN_HAS_LOCKS 0x80000000u
// What became of a solver body.
#define CAIRN_OUTCOME_INVALID 1 // its next state is out of range
#define CAIRN_OUTCOME_STRAYED 2 // it may have to be swept, as any bullet may

// Everything that the kernels read: arrays of the scratch, and the parameters of this step.
typedef struct cairn_solver_context {
    cairn_motion *motions;         // by body slot; written by `scatter` alone
    const cairn_body *body_params; // by body slot
    cairn_solver_body *bodies;     // dense; those from moving_count on are read only
    uint32_t moving_count;
    cairn_solver_integration *integration; // by solver body, of those that impulses move
    const uint32_t *slot_of;               // by solver body, of those that impulses move
    const float *half_widths;              // by body slot, of the pair cache
    const float *turn_radii;               // the same
    unsigned char *outcome;                // by solver body: CAIRN_OUTCOME flags
    cairn_body_travel *travels;            // by solver body; written by `scatter`
    // 0, or CAIRN_HAS_LOCKS: some body has linear locks. Found while bodies are gathered.
    uint32_t has_locks;
    _Atomic uint32_t *locks_found;
    const cairn_sleep *sleep;         // by body slot
    _Atomic uint32_t *squeezed_found; // set to 1: the last step left some body squeezed
    uint32_t substeps;
    cairn_vec3 gravity;  // m/s^2
    uint32_t warm_start; // 0 or 1: start from the impulses of the last step
    const cairn_constraint_edge *contact_edges;
    const uint32_t *contact_order;          // indices of edges by lane, CAIRN_EDGE_NONE: empty
    const cairn_solver_manifold *manifolds; // by edge.manifold
    cairn_contact *contacts;                // by edge.element
    void *contact_constraints;              // in the layout of the kernel
    float *contact_impulses; // N s, by edge.element: for hit events; NULL: not wanted
    void *contact_impacts;   // one of each constraint, in the layout of the kernel
    const cairn_constraint_edge *joint_edges;
    const uint32_t *joint_order;
    cairn_turning_body *turning;     // each worker's from the index of its first body on
    _Atomic uint32_t *turning_found; // set to 1: some body is turning
    uint32_t joint_pairs_known;      // 0 or 1: the joint constraints have those of the last step
    uint32_t light_link_count; // the first two, four, ... joint constraints are of light links
    cairn_joint *joints;       // by edge.element
    void *joint_constraints;
    void *joint_angular; // the angular part of each, in the layout of the kernel
    float h;             // s, of a substep
    float inverse_h;
    cairn_softness contact_softness; // between two moving bodies
    cairn_softness static_softness;  // contacts with a body that impulses do not move
    cairn_softness joint_softness;
    float restitution_threshold;   // m/s
    float limit_damping;           // of joints with limits, in one step: the rate times the time
    _Atomic unsigned char *pushed; // by solver body: 1 if a contact pushes it at the end of a step
    // Impacts, in rounds that are counted from 1 through the step.
    uint32_t impact_round; // this one
    uint32_t impact_after; // the last one of the same substep; 0: this is its first
    // Of each contact constraint, two bit sets of lanes. Bits 0 to 15: the bodies collide. Bits 16
    // to 31: they nearly do, and take part if one of them collides with another body.
    uint32_t *impact_lanes;
    _Atomic uint32_t *met; // by solver body: the last round in which a gap of it closed
    uint32_t *struck;      // by solver body: the round that struck it last
    // By solver body, of those that impulses move: velocities before the round, and of those whose
    // impacts are limited after it.
    cairn_impact_velocity *before_impact;
    cairn_impact_velocity *after_impact;
    cairn_impact_work *impact_work; // by edge
    // By solver body: what the impulses of the last substep give it again, if some contact has
    // restitution. Impacts come first.
    cairn_impact_velocity *waiting_impulses;
    // Set to 1 by any worker: some contact of the step has restitution; in this round some bodies
    // collide.
    _Atomic uint32_t *restitution_found;
    _Atomic uint32_t *impact_found;
    _Atomic uint32_t *impact_gains; // in this round some contact alone wins energy
} cairn_solver_context;

// Works on constraints, or on solver bodies, begin .. end - 1.
typedef void cairn_kernel_pass(const cairn_solver_context *context, uint32_t begin, uint32_t end);

// What is done with contact constraints, or with joint constraints, in the order of a step.
typedef enum cairn_constraint_stage {
    CAIRN_CONSTRAINT_PREPARE,
    CAIRN_CONSTRAINT_WARM_START_RELAX, // joints only: the impulses of the last step's relax pass
    CAIRN_CONSTRAINT_WARM_START,       // applies the (other) impulses of the last step
    CAIRN_CONSTRAINT_FIND_IMPACTS,     // contacts only; begins a round of impacts
    CAIRN_CONSTRAINT_JOIN_IMPACTS,     // contacts only; adds what nearly collides
    CAIRN_CONSTRAINT_SOLVE_IMPACTS,    // contacts only; one sweep of the round
    CAIRN_CONSTRAINT_MEASURE_IMPACTS,  // contacts only; the energy that the round has won
    CAIRN_CONSTRAINT_STOP_IMPACTS,     // contacts only, like the next four: see impact_energy.c
    CAIRN_CONSTRAINT_MEASURE_STOP,
    CAIRN_CONSTRAINT_REFLECT_IMPACTS,
    CAIRN_CONSTRAINT_MEASURE_REFLECTION,
    CAIRN_CONSTRAINT_MIX_IMPACTS,
    CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED, // joints only: the first sweep of the next
    CAIRN_CONSTRAINT_SOLVE_BIASED,       // removes position error by a velocity bias
    CAIRN_CONSTRAINT_BEGIN_RELAX,  // joints only: updates the rows to the new poses, first sweep
    CAIRN_CONSTRAINT_RELAX,        // solves without bias, which removes the velocity it added
    CAIRN_CONSTRAINT_SUM_IMPULSES, // contacts only, after each substep, if impulses are wanted
    CAIRN_CONSTRAINT_MARK_PUSHED,  // contacts only: which bodies they push
    CAIRN_CONSTRAINT_DAMP,         // joints only: takes from the rotation of those with limits
    CAIRN_CONSTRAINT_STORE,        // writes accumulated impulses to the state
    CAIRN_CONSTRAINT_FETCH,        // brings the bodies that they write into this CPU's cache
    CAIRN_CONSTRAINT_STAGE_COUNT
} cairn_constraint_stage;

typedef struct cairn_constraint_kernel {
    size_t constraint_size; // bytes of one wide constraint
    size_t apart_size;      // bytes of what is apart: a contact's impact, a joint's angular rows
    cairn_kernel_pass *stages[CAIRN_CONSTRAINT_STAGE_COUNT]; // NULL: nothing to do
} cairn_constraint_kernel;

// The passes over solver bodies, in the order of a step.
typedef struct cairn_body_passes {
    cairn_kernel_pass *gather; // reads the state; marks bodies that forces would make invalid
    cairn_kernel_pass *integrate_velocities_first; // of the first substep
    cairn_kernel_pass *integrate_velocities;       // of a later one; applies its impulses again
    cairn_kernel_pass *begin_impacts;              // keeps the velocities before a round
    cairn_kernel_pass *end_impacts;                // applies the impulses that waited for them
    cairn_kernel_pass *integrate_positions;
    cairn_kernel_pass *turn_inertia; // of the turning bodies begin .. end - 1
    // Around the relax pass of joints. The first takes the velocity that
    // CAIRN_CONSTRAINT_WARM_START_RELAX has added out again.
    cairn_kernel_pass *hold_relax_change;
    cairn_kernel_pass *begin_relax;
    cairn_kernel_pass *end_relax;
    cairn_kernel_pass *scatter; // writes poses and velocities of valid bodies to the state
} cairn_body_passes;

// The passes compiled for one number of lanes.
typedef struct cairn_kernel {
    uint32_t lanes;
    const cairn_body_passes *bodies;
    const cairn_constraint_kernel *contacts;
    const cairn_constraint_kernel *joints;
    const struct cairn_figure_kernel *figures;
    const struct cairn_figure_kernel *many_figures; // for more than a batch of them
} cairn_kernel;

// The kernel that suits this CPU and a world with room for so many bodies best.
cairn_kernel cairn_kernel_for(uint32_t bodies);
// The kernel for a number of lanes. False for a number that is not supported.
bool cairn_kernel_of(uint32_t lanes, cairn_kernel *out);
