// SPDX-License-Identifier: MIT
#pragma once

// The stages of a step, in the order in which sim/step.c calls them. Each reads the block and what
// the stages before left in the scratch.

#include "sim/debug/trace_hook.h"
#include "sim/state/state.h"

// Tells the probe and the trace, where there are any.
static inline void cairn_stage_done(const cairn_world *world, cairn_stage stage) {
    if (world->stage_probe != NULL) {
        world->stage_probe(world->stage_context, stage);
    }
    if (cairn_traced(world)) {
        cairn_trace_show(world, stage, 0, CAIRN_PASS_NONE);
    }
}

// Whether this step would change nothing but the tick, and the rest of it may be left out.
bool cairn_step_idle(const cairn_world *world);
// Anchors what has gone too far, and the pairs that are near enough to meet.
void cairn_step_find_pairs(cairn_world *world);
// The contact list brought up to date where a body was anchored anew, impulses matched by feature;
// events of what ends, then of what begins.
void cairn_step_collide(cairn_world *world);
// Islands of dynamic bodies over contacts and joints; whole islands wake when something stirs.
void cairn_step_build_islands(cairn_world *world);
// Velocities from forces; fills the solver's bodies.
void cairn_step_integrate_forces(cairn_world *world);
// Bodies that move by themselves, when the solver moves the others.
void cairn_step_integrate_kinematic(cairn_world *world);
// Contacts with a moving body, and their patches.
void cairn_step_gather_touches(cairn_world *world);
// CAIRN_SOLVER_SUBSTEPS: velocities, impulses, then poses of all that impulses move.
void cairn_substeps_prepare(cairn_world *world);
void cairn_substeps_solve(cairn_world *world);
// Colours and constraints, then impulses; writes velocities and accumulated impulses back.
void cairn_step_solve(cairn_world *world);
// Poses from velocities; what has become unsound is quarantined where it last was sound.
void cairn_step_integrate_positions(cairn_world *world);
// Tells the hash (sim/state/hash_cache.h) what the stages so far may have written of bodies and
// joints.
void cairn_step_touch(cairn_world *world);
// Still islands fall asleep.
void cairn_step_rest(cairn_world *world);

// Parts of cairn_step_solve.
void cairn_joints_prepare(cairn_world *world);
void cairn_joints_warm_start(cairn_world *world);
void cairn_joints_iterate(cairn_world *world);
void cairn_joints_store(cairn_world *world);
void cairn_contacts_prepare(cairn_world *world);
void cairn_contacts_warm_start(cairn_world *world);
void cairn_contacts_iterate(cairn_world *world);
void cairn_contacts_store(cairn_world *world);

// Whether anything in the contact or joint moves, so that it needs a constraint.
bool cairn_pair_solved(const cairn_world *world, uint32_t body_a, uint32_t body_b);

// Greedy colouring in the order of calls.
void cairn_batches_begin(cairn_world *world);
// The batch of the next constraint between two body slots.
uint32_t cairn_batches_assign(cairn_world *world, uint32_t body_a, uint32_t body_b);
// From how many each batch has (in start[batch + 1]) to where each begins, and from the batch of
// each element (CAIRN_BATCHES: none) to its place.
void cairn_batches_place(
    cairn_batches *batches, const uint32_t *batch_of, uint32_t *place_of, uint32_t count);

// The value if it is finite, +0 otherwise and for -0: what may be stored as an impulse.
static inline float impulse_kept(float impulse) {
    return float_finite(impulse) ? impulse + 0.0f : 0.0f;
}
