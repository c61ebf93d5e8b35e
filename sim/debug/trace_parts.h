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

// A solver body, and the manifold of an active contact, as words in the order of the state.
#define CAIRN_TRACE_SOLVER_WORDS 12
#define CAIRN_TRACE_MANIFOLD_WORDS 48
// False: impulses do not move the body in that slot. Unused words are zero.
bool cairn_trace_solver_words(
    const cairn_world *world, uint32_t slot, uint32_t words[CAIRN_TRACE_SOLVER_WORDS]);
uint32_t cairn_trace_active_count(const cairn_world *world);
// Of active contact number `active`. Returns its index in the contact list.
uint32_t cairn_trace_manifold_words(
    const cairn_world *world, uint32_t active, uint32_t words[CAIRN_TRACE_MANIFOLD_WORDS]);
