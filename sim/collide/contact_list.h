// SPDX-License-Identifier: MIT
#pragma once

// The contact list gone through once in its order, while contacts end and begin; what stays is
// moved afterwards, and only if there is a reason.

#include "sim/collide/manifold_pool.h"

// A contact that begins, and where it belongs.
typedef struct cairn_born {
    cairn_contact contact;
    uint32_t index;
    cairn_patch_link link;
} cairn_born;

// Contacts begin .. end - 1 of the list, which lie `shift` farther up when it has changed.
typedef struct cairn_stretch {
    uint32_t begin;
    uint32_t end;
    int32_t shift;
} cairn_stretch;

struct cairn_contact_edits {
    cairn_born *born;
    cairn_stretch *stretches;
};

void cairn_contact_edits_carve(
    cairn_contact_edits *edits, cairn_carver *from, const cairn_world_def *def);

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
