// SPDX-License-Identifier: MIT
#pragma once

// The stages of a step, in the order in which sim/step.c calls them. Each reads the block and what
// the stages before left in the scratch.

#include "sim/constraint/graph.h"
#include "sim/debug/trace_hook.h"
#include "sim/state/world.h"

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
bool cairn_step_is_idle(const cairn_world *world);
// Anchors what has gone too far, and the pairs that are near enough to meet.
void cairn_pair_cache_step(cairn_world *world);
// The contact list brought up to date where a body was anchored anew, impulses matched by feature;
// events of what ends, then of what begins.
void cairn_contact_update(cairn_world *world);
// Islands of dynamic bodies over contacts and joints; whole islands wake when something stirs.
void cairn_islands_wake(cairn_world *world);
// Bodies that move by themselves, when the solver moves the others.
void cairn_kinematic_bodies_integrate(cairn_world *world);
// Contacts with a moving body, with their patches; returns how many.
uint32_t cairn_active_contacts_gather(cairn_world *world, cairn_constraint_edge *edges);
// CAIRN_SOLVER_SOFT_STEP: velocities, impulses, then poses of all that impulses move.
void cairn_soft_step_prepare(cairn_world *world);
void cairn_soft_step_solve(cairn_world *world);
// Still islands fall asleep.
void cairn_islands_sleep(cairn_world *world);
