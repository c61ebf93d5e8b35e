// SPDX-License-Identifier: MIT
#include "sim/collide/contact_list.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/state/hash_cache.h"

void cairn_contact_edit_buffer_carve(
    cairn_contact_edit_buffer *buffer, cairn_carver *from, const cairn_world_def *def) {
    const size_t contacts = def->contact_capacity;
    buffer->new_contacts = cairn_carve(from, contacts, sizeof *buffer->new_contacts);
    buffer->spans = cairn_carve(from, 2 * contacts + 1, sizeof *buffer->spans);
}

cairn_contact_edit cairn_contact_edit_begin(cairn_world *world) {
    world->event_count = 0;
    world->contact_edit_buffer->spans[0] = (cairn_contact_span){.begin = 0};
    return (cairn_contact_edit){.count = world->state.settings->contact_count, .spans = 1};
}

static void append_event(cairn_world *world, uint32_t kind, const cairn_contact *contact) {
    CAIRN_ASSERT(world->event_count < 2 * world->def.contact_capacity);
    world->events[world->event_count++] = (cairn_contact_event){.kind = kind,
        .shape_a = contact->shape_a,
        .shape_b = contact->shape_b,
        .body_a = contact->body_a,
        .body_b = contact->body_b};
}

// Ends the open span before `end` and opens one at `begin`, moved by `shift` more.
static void split_span(
    cairn_world *world, cairn_contact_edit *at, uint32_t end, uint32_t begin, int32_t shift) {
    cairn_contact_span *open = &world->contact_edit_buffer->spans[at->spans - 1];
    open->end = end;
    open[1] = (cairn_contact_span){.begin = begin, .shift = open->shift + shift};
    at->spans += 1;
}

void cairn_contact_edit_remove_next(cairn_world *world, cairn_contact_edit *at) {
    cairn_patches *patches = world->manifold_pool;
    append_event(world, CAIRN_CONTACT_END, &world->state.contacts[at->old]);
    cairn_patch_release(patches, patches->links[at->old].patch);
    split_span(world, at, at->old, at->old + 1, -1);
    at->old += 1;
    at->count -= 1;
}

cairn_new_contact *cairn_contact_edit_insert(cairn_world *world, cairn_contact_edit *at) {
    if (at->count == world->def.contact_capacity) {
        return NULL;
    }
    cairn_contact_span *open = &world->contact_edit_buffer->spans[at->spans - 1];
    cairn_new_contact *added = &world->contact_edit_buffer->new_contacts[at->added];
    added->index = (uint32_t)((int32_t)at->old + open->shift);
    split_span(world, at, at->old, at->old, 1);
    at->count += 1;
    at->added += 1;
    return added;
}

static void move_span(cairn_world *world, const cairn_contact_span *span) {
    cairn_contact *contacts = &world->state.contacts[span->begin];
    cairn_patch_link *links = &world->manifold_pool->links[span->begin];
    const size_t count = span->end - span->begin;
    memmove(contacts + span->shift, contacts, count * sizeof *contacts);
    memmove(links + span->shift, links, count * sizeof *links);
}

// Spans that move down go first, from the lowest; then those that move up, from the highest. So no
// contact is overwritten before it has moved, because contacts keep their order.
static void move_spans(cairn_world *world, uint32_t count) {
    const cairn_contact_span *spans = world->contact_edit_buffer->spans;
    for (uint32_t i = 0; i < count; ++i) {
        if (spans[i].shift < 0 && spans[i].begin < spans[i].end) {
            move_span(world, &spans[i]);
        }
    }
    for (uint32_t i = count; i > 0; --i) {
        if (spans[i - 1].shift > 0 && spans[i - 1].begin < spans[i - 1].end) {
            move_span(world, &spans[i - 1]);
        }
    }
}

void cairn_contact_edit_finish(cairn_world *world, cairn_contact_edit *at) {
    CAIRN_ASSERT(at->old == world->state.settings->contact_count);
    if (at->spans == 1) {
        return;
    }
    world->contact_edit_buffer->spans[at->spans - 1].end = at->old;
    move_spans(world, at->spans);
    for (uint32_t i = 0; i < at->added; ++i) {
        const cairn_new_contact *added = &world->contact_edit_buffer->new_contacts[i];
        world->state.contacts[added->index] = added->contact;
        world->manifold_pool->links[added->index] = added->link;
        append_event(world, CAIRN_CONTACT_BEGIN, &added->contact);
    }
    world->state.settings->contact_count = at->count;
    cairn_hash_cache_mark_from(
        world, CAIRN_ARRAY_CONTACTS, world->contact_edit_buffer->spans[0].end);
}
