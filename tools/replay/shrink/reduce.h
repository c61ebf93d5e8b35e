// SPDX-License-Identifier: MIT
#pragma once

// Makes a reproduction smaller while it still fails: bodies, joints, commands, ticks, then values.

#include "tools/replay/shrink/find.h"

// Until nothing more can be left out alone, or the time is over (shrink->stopped).
void cairn_shrink_reduce(cairn_shrink *shrink);
// Rounds and drops numbers of a scene.
void cairn_shrink_simplify(cairn_shrink *shrink);

// Asks candidates in children. Returns the index of the first that fails, or `count`; *answer is
// its answer.
uint32_t cairn_shrink_ask(cairn_shrink *shrink, cairn_children_task *task, void *context,
    uint32_t count, cairn_answer *answer);
// Whether a reproduction fails; *answer may be NULL.
bool cairn_shrink_fails(cairn_shrink *shrink, const cairn_repro *repro, cairn_answer *answer);
