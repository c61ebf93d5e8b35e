// SPDX-License-Identifier: MIT
#pragma once

// Private to the room: where a step lets itself be looked at (sim/debug/trace.h).

#include "sim/debug/trace.h"
#include "sim/state/world.h"

// Called on the thread that steps, while no helper works. Must not write.
struct cairn_trace_hook {
    void (*look)(struct cairn_trace_hook *hook, const cairn_world *world,
        const cairn_trace_point *where); // its hashes are not set
};

static inline bool cairn_traced(const cairn_world *world) {
    return world->trace_hook != NULL;
}

// Steps with the hook in place.
void cairn_world_step_hooked(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace_hook *hook);
void cairn_trace_show(const cairn_world *world, uint32_t stage, uint32_t substep, cairn_pass pass);

// Whether solver bodies and manifolds mean something at that point.
static inline bool cairn_trace_solving(const cairn_trace_point *where) {
    return where->stage == CAIRN_STAGE_PREPARE || where->stage == CAIRN_STAGE_SOLVE;
}

// What the solver knows of a body, and the manifold of a contact, as words in the state's order.
#define CAIRN_TRACE_SOLVER_WORDS 12
#define CAIRN_TRACE_MANIFOLD_WORDS 48
// False: nothing moves the body in that slot, or the contact is not solved. Unused words are zero.
bool cairn_trace_solver_words(
    const cairn_world *world, uint32_t slot, uint32_t words[CAIRN_TRACE_SOLVER_WORDS]);
uint32_t cairn_trace_touch_count(const cairn_world *world);
// Of touch number `touch`; the contact it is of.
uint32_t cairn_trace_manifold_words(
    const cairn_world *world, uint32_t touch, uint32_t words[CAIRN_TRACE_MANIFOLD_WORDS]);
