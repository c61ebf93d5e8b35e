// SPDX-License-Identifier: MIT
#pragma once

// The contact list gone through once in its order, while contacts end and begin; what stays is
// moved afterwards, and only if there is a reason.

#include "sim/state/state.h"

typedef struct cairn_passage {
    uint32_t old;   // next contact of the list as it was
    uint32_t count; // contacts by now: those that were, less the ended, and the begun
    uint32_t begun;
    uint32_t stretches; // of the scratch; the last one is still open
} cairn_passage;

cairn_passage cairn_passage_begin(cairn_world *world);
// The next contact ends.
void cairn_passage_end_next(cairn_world *world, cairn_passage *at);
// A contact begins before the next one; where its words are to be written, or NULL when the list is
// full.
cairn_born *cairn_passage_begin_here(cairn_world *world, cairn_passage *at);
// Moves what stays, puts in what begins, and tells both in events.
void cairn_passage_finish(cairn_world *world, cairn_passage *at);
