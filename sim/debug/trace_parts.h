// SPDX-License-Identifier: MIT
#pragma once

// What the files of the trace share.

#include "sim/state/trace_hook.h"

// Steps with the hook in place.
void cairn_world_step_hooked(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace_hook *hook);

// Whether solver bodies and manifolds are valid at that stage.
static inline bool cairn_trace_solving(uint32_t stage) {
    return stage == CAIRN_STAGE_PREPARE || stage == CAIRN_STAGE_SOLVE;
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
