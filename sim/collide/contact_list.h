// SPDX-License-Identifier: MIT
#pragma once

// Edits the contact list in one pass in its order, while contacts end and begin. The contacts that
// stay are moved at the end of the pass, and only if the list has changed.

#include <stdatomic.h>

#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_contact.h"

// A contact that begins in this step.
typedef struct cairn_new_contact {
    cairn_contact contact;
    uint32_t index; // in the contact list after the edit
    cairn_contact_ref ref;
    cairn_pair pair; // like `found`, of a contact that the workers fill
    uint32_t found;  // index in `found` of the buffer; CAIRN_FOUND_MAX: it is filled
} cairn_new_contact;

// Contacts begin .. end - 1 of the old list keep their order and move by `shift` places.
typedef struct cairn_contact_span {
    uint32_t begin;
    uint32_t end;
    int32_t shift;
} cairn_contact_span;

// Pairs are updated in blocks of this many.
#define CAIRN_PAIR_BLOCK CAIRN_PAIRS_PER_BLOCK
// Room for contacts that begin in one step; of those beyond it, the main thread finds them again.
#define CAIRN_FOUND_MAX 4096u
// Places are taken by several at a time, because all workers write the counter.
#define CAIRN_FOUND_PLACES 8u

typedef enum cairn_pair_outcome {
    CAIRN_PAIR_UNCHANGED = 0,
    CAIRN_PAIR_UPDATED = 1,     // its contact was written
    CAIRN_PAIR_ENDS = 2,        // its contact ends
    CAIRN_PAIR_BEGINS = 3,      // a contact with these points begins
    CAIRN_PAIR_OF_MESH = 4,     // its contacts are updated by the main thread
    CAIRN_PAIR_NO_MANIFOLD = 5, // its contact has none: the main thread updates it
    CAIRN_PAIR_ENDED = 8,       // added to one of these: the contacts that the pair had end
} cairn_pair_outcome;

// A pair that the main thread has to look at after the blocks were updated.
typedef struct cairn_pair_work {
    uint32_t pair;    // index in the pair cache
    uint32_t contact; // index in the old list of its contact, or of the next one if it has none
    uint32_t change;  // CAIRN_REFERENCE flags of both shapes
    uint32_t outcome;
    uint32_t found; // index of the contact that begins; CAIRN_FOUND_MAX: there was no room for it
} cairn_pair_work;

typedef struct cairn_pair_block {
    uint32_t contact; // index in the old list of the first contact of its pairs
    uint32_t changed; // pairs that must be updated
    uint32_t work;    // pairs that the main thread has to look at
} cairn_pair_block;

struct cairn_contact_edit_buffer {
    cairn_new_contact *new_contacts;
    cairn_contact_span *spans;
    cairn_pair_block *blocks;
    cairn_pair_work *work; // that of a block begins at the index of its first pair
    cairn_found_contact *found;
    uint32_t found_capacity; // at most CAIRN_FOUND_MAX, in a small world the pairs that it can have
    atomic_uint found_count;
};

void cairn_contact_edit_buffer_allocate(
    cairn_contact_edit_buffer *edits, cairn_arena *from, const cairn_world_def *def);

typedef struct cairn_contact_edit {
    uint32_t next;  // index in the old list of the first contact that was not visited
    uint32_t count; // contacts of the edited list so far: the old ones, less removed, plus inserted
    uint32_t inserted; // contacts that begin
    uint32_t spans;    // of the scratch; the last one is still open
} cairn_contact_edit;

cairn_contact_edit cairn_contact_edit_begin(cairn_world *world);
// Ends the next contact and passes it.
void cairn_contact_edit_remove_next(cairn_world *world, cairn_contact_edit *edit);
// Begins a contact before the next one. The caller fills the result; NULL if the list is full.
cairn_new_contact *cairn_contact_edit_insert(cairn_world *world, cairn_contact_edit *edit);
// Moves the contacts that stay, copies those that begin, and emits events for both.
void cairn_contact_edit_finish(cairn_world *world, cairn_contact_edit *edit);
