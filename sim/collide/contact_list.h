// SPDX-License-Identifier: MIT
#pragma once

// Edits of the contact list: one traversal in order removes contacts and inserts new ones. The
// contacts that stay are moved afterwards, and only if something was removed or inserted.

#include "sim/collide/manifold_pool.h"

// A contact to insert, and the index it will have.
typedef struct cairn_new_contact {
    cairn_contact contact;
    uint32_t index;
    cairn_patch_link link;
} cairn_new_contact;

// Contacts begin .. end - 1 of the list, which move up by `shift` places.
typedef struct cairn_contact_span {
    uint32_t begin;
    uint32_t end;
    int32_t shift;
} cairn_contact_span;

struct cairn_contact_edit_buffer {
    cairn_new_contact *new_contacts;
    cairn_contact_span *spans;
};

void cairn_contact_edit_buffer_carve(
    cairn_contact_edit_buffer *buffer, cairn_carver *from, const cairn_world_def *def);

// The state of one traversal.
typedef struct cairn_contact_edit {
    uint32_t old;   // index of the next contact in the list as it was
    uint32_t count; // contacts the list will have: kept so far and to come, and inserted
    uint32_t added;
    uint32_t spans; // in the buffer; the last one is still open
} cairn_contact_edit;

cairn_contact_edit cairn_contact_edit_begin(cairn_world *world);
// The next contact ends.
void cairn_contact_edit_remove_next(cairn_world *world, cairn_contact_edit *at);
// Inserts a contact before the next one: the caller fills everything but the index. NULL when the
// list is full.
cairn_new_contact *cairn_contact_edit_insert(cairn_world *world, cairn_contact_edit *at);
// Moves what stays, writes what was inserted, and reports both as events.
void cairn_contact_edit_finish(cairn_world *world, cairn_contact_edit *at);
